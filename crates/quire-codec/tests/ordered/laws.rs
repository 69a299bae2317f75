//! For any strings and any code: what comes out is what went in, keys are ordered as strings are, the keys of a
//! prefix are those of the strings that have it, the size announced is the size written, and the bytes are those
//! of the naive reading.

use crate::naive::Naive;
use crate::strings::{columns, key, strings, train};
use proptest::prelude::*;
use quire_codec::ordered::OrderedCode;

fn assert_laws(code: &OrderedCode, column: &[Vec<u8>]) {
    let naive = Naive::read(&code.to_bytes());
    let keys: Vec<Vec<u8>> = column.iter().map(|string| key(code, string)).collect();
    for (string, key) in column.iter().zip(&keys) {
        assert_eq!(*key, naive.key(string), "{string:?}");
        assert_eq!(code.encoded_bytes(string), key.len(), "{string:?}");
        let mut back = b"before".to_vec();
        code.decode(key, &mut back).unwrap();
        assert_eq!(back.strip_prefix(b"before"), Some(string.as_slice()));
    }
    for (a, key_a) in column.iter().zip(&keys) {
        for (b, key_b) in column.iter().zip(&keys) {
            assert_eq!(key_a.cmp(key_b), a.cmp(b), "{a:?} and {b:?}");
        }
    }
}

fn assert_prefixes(code: &OrderedCode, column: &[Vec<u8>], prefix: &[u8]) {
    let range = code.prefix_range(prefix);
    for string in column {
        let expected = string.starts_with(prefix);
        assert_eq!(
            range.contains(&key(code, string)),
            expected,
            "{string:?} and {prefix:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn keys_are_ordered_as_strings_are(
        column in columns(),
        repeat in 1usize..40,
        limit in prop::sample::select(vec![0usize, 1, 7, 100, 20_000]),
    ) {
        let code = train(&column, repeat, limit);
        assert_laws(&code, &column);
        let table = code.to_bytes();
        let read = OrderedCode::from_bytes(&table).unwrap();
        prop_assert_eq!(read.to_bytes(), table);
        for string in &column {
            prop_assert_eq!(key(&read, string), key(&code, string));
        }
    }

    #[test]
    fn keys_of_a_prefix_are_those_of_strings_that_have_it(
        column in columns(),
        other in strings(),
        repeat in 1usize..40,
        limit in prop::sample::select(vec![0usize, 50]),
    ) {
        let code = train(&column, repeat, limit);
        assert_prefixes(&code, &column, &other);
        for string in column.iter().take(10) {
            for length in 0..=string.len() {
                assert_prefixes(&code, &column, &string[..length]);
            }
        }
    }
}

/// All strings of up to three of these bytes: zeros, both ends, and neighbours of symbols.
fn all_short_strings(alphabet: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut longest = all.clone();
    for _ in 0..3 {
        let longer = longest.iter().flat_map(|string| {
            let with = |byte: &u8| [string.as_slice(), &[*byte]].concat();
            alphabet.iter().map(with).collect::<Vec<_>>()
        });
        longest = longer.collect();
        all.extend(longest.clone());
    }
    all
}

#[test]
fn short_strings_of_all_kinds_are_ordered() {
    let column = all_short_strings(&[0, 1, b'a', b'b', b'c', 255]);
    for sample in ["aaa", "abcabc", "a\0\0bab", "\0\0\0\0\0\0", "ÿÿÿÿ"] {
        let sample = vec![sample.as_bytes(); 300];
        for limit in [0, 3, 50] {
            assert_laws(&OrderedCode::train(sample.clone(), limit), &column);
        }
    }
}

#[test]
fn a_code_trained_on_nothing_encodes_everything() {
    let code = OrderedCode::train([], 100);
    let column = all_short_strings(&[0, b'x', 255]);
    assert_laws(&code, &column);
}

#[test]
fn frequent_strings_become_symbols() {
    let lines: Vec<String> = (0..2_000)
        .map(|i| format!("http://www.example.org/wiki/{i}"))
        .collect();
    let bytes = |limit| {
        let code = OrderedCode::train(lines.iter().map(|line| line.as_bytes()), limit);
        lines
            .iter()
            .map(|line| code.encoded_bytes(line.as_bytes()))
            .sum::<usize>()
    };
    // 28 bytes of each line are the same: with symbols they are fewer codes.
    let raw: usize = lines.iter().map(String::len).sum();
    assert!(bytes(0) < raw && bytes(500) * 2 < bytes(0));
}

#[test]
fn codes_of_very_uneven_use_are_bounded() {
    // Uses that double from byte to byte would have codes of 40 bits, were these not limited to 24.
    let sample: Vec<Vec<u8>> = (0..22u8).map(|byte| vec![byte + 1; 1 << byte]).collect();
    let code = OrderedCode::train(sample.iter().map(Vec::as_slice), 0);
    assert_laws(&code, &all_short_strings(&[0, 1, 2, 21, 22, 255]));
}
