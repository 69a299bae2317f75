//! Wrong bytes are an error, or another code that keeps the laws, or another string; never a panic.

use crate::strings::{columns, key, strings, train};
use proptest::prelude::*;
use quire_codec::ordered::OrderedCode;

fn trained() -> OrderedCode {
    let lines: Vec<String> = (0..400).map(|i| format!("the {i} there, then")).collect();
    OrderedCode::train(lines.iter().map(|line| line.as_bytes()), 30)
}

/// What a table must do that could be read: whatever it is, it keeps order and gives strings back.
fn keeps_the_laws(code: &OrderedCode) {
    let column: [&[u8]; 9] = [
        b"",
        b"\0",
        b"a",
        b"th",
        b"the",
        b"the ",
        b"then",
        b"thf",
        b"\xFF\xFF",
    ];
    let keys = column.map(|string| key(code, string));
    assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
    for (string, key) in column.iter().zip(&keys) {
        let mut back = Vec::new();
        code.decode(key, &mut back).unwrap();
        assert_eq!(back, *string);
    }
}

#[test]
fn tables_cut_short_are_corrupt() {
    let table = trained().to_bytes();
    for length in 0..table.len() {
        assert!(
            OrderedCode::from_bytes(&table[..length]).is_err(),
            "{length}"
        );
    }
    assert!(OrderedCode::from_bytes(&[&table[..], &[9]].concat()).is_err());
}

#[test]
fn tables_with_a_wrong_bit_are_corrupt_or_another_code() {
    let table = trained().to_bytes();
    for bit in 0..8 * table.len() {
        let mut wrong = table.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        if let Ok(code) = OrderedCode::from_bytes(&wrong) {
            assert!(bit >= 24, "version and number of symbols are checked");
            assert_eq!(code.to_bytes(), wrong);
            keeps_the_laws(&code);
        }
    }
}

#[test]
fn keys_that_are_no_codes_are_corrupt() {
    let code = OrderedCode::from_bytes(&[&[1, 0, 0][..], &[9; 256]].concat()).unwrap();
    let mut out = b"kept".to_vec();
    // 1 01000001 and seven bits: an end within a code, zeros where a code should be, padding that is not zero.
    for key in [
        &[0xA0][..],
        &[0xA0, 0x80, 0x00],
        &[0xA0, 0x81],
        &[0x00],
        &[0x7F, 0xFF],
    ] {
        let error = code.decode(key, &mut out).unwrap_err();
        assert!(error.offset < key.len());
        assert_eq!(out, b"kept");
    }
    assert_eq!(code.decode(&[0xA0, 0x80], &mut out), Ok(()));
    assert_eq!(out, b"keptA");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_bytes_as_a_key_are_corrupt_or_a_string(
        column in columns(),
        keys in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 20),
    ) {
        let code = train(&column, 20, 60);
        for key in keys {
            let mut out = Vec::new();
            if code.decode(&key, &mut out).is_ok() {
                prop_assert!(out.len() <= 64 * key.len());
            } else {
                prop_assert_eq!(out.len(), 0);
            }
        }
    }

    #[test]
    fn any_bytes_as_a_table_are_corrupt(noise in prop::collection::vec(any::<u8>(), 0..2_000), string in strings()) {
        let table = [&[1, 3, 0][..], &noise].concat();
        if let Ok(code) = OrderedCode::from_bytes(&table) {
            let mut back = Vec::new();
            code.decode(&key(&code, &string), &mut back).unwrap();
            prop_assert_eq!(back, string);
        }
    }
}
