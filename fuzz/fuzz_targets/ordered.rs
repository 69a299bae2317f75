//! Arbitrary bytes as the table of an ordered code and as keys; a table that can be read must keep order and give
//! strings back.
//!
//! `cargo +nightly fuzz run ordered`
#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use quire_codec::ordered::OrderedCode;

fn check(code: &OrderedCode, a: &[u8], b: &[u8]) {
    let key = |string: &[u8]| {
        let mut key = Vec::new();
        code.encode(string, &mut key);
        assert_eq!(key.len(), code.encoded_bytes(string));
        let mut back = Vec::new();
        code.decode(&key, &mut back)
            .expect("a key that was encoded");
        assert_eq!(back, string);
        key
    };
    let (key_a, key_b) = (key(a), key(b));
    assert_eq!(key_a.cmp(&key_b), a.cmp(b));
    assert_eq!(code.prefix_range(a).contains(&key_b), b.starts_with(a));
    let mut out = Vec::new();
    let _ = code.decode(a, &mut out);
    assert!(out.len() <= 64 * a.len());
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&[mode, length, cut], rest)) = bytes.split_first_chunk() else {
        return;
    };
    let Some((strings, table)) = rest.split_at_checked(usize::from(length)) else {
        return;
    };
    let (a, b) = strings.split_at(strings.len().min(usize::from(cut)));
    let read = match mode % 4 {
        // A table as it is, or one whose codes are of equal length, so that symbols are what is looked at.
        0 => OrderedCode::from_bytes(table),
        1 => {
            let lengths = std::iter::repeat_n(mode / 4 % 25, 256 + usize::from(cut));
            OrderedCode::from_bytes(&table.iter().copied().chain(lengths).collect::<Vec<u8>>())
        }
        _ => {
            let code =
                OrderedCode::train(table.chunks(1 + usize::from(cut)), usize::from(mode) / 4);
            let read = OrderedCode::from_bytes(&code.to_bytes()).expect("a table that was trained");
            assert_eq!(read.to_bytes(), code.to_bytes());
            Ok(read)
        }
    };
    if let Ok(code) = read {
        check(&code, a, b);
    }
});
