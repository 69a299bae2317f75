//! Strings for the tests.

use proptest::prelude::*;
use quire_codec::ordered::OrderedCode;

pub fn key(code: &OrderedCode, string: &[u8]) -> Vec<u8> {
    let mut key = b"before".to_vec();
    code.encode(string, &mut key);
    key.split_off(6)
}

/// Strings that share much, with the bytes at both ends of the order, and with what text has.
pub fn strings() -> impl Strategy<Value = Vec<u8>> {
    let few = prop::sample::select(vec![0u8, 1, b'a', b'b', 254, 255]);
    let words = prop::sample::select(vec![
        "the ",
        "there",
        "Customer#",
        "0000",
        "00",
        "a",
        "\0",
        "\0\0b",
        "ÿ",
        "\u{10FFFF}",
    ]);
    prop_oneof![
        prop::collection::vec(few, 0..12),
        prop::collection::vec(any::<u8>(), 0..20),
        prop::collection::vec(words, 0..6).prop_map(|words| words.concat().into_bytes()),
        "[a-c ]{0,30}".prop_map(String::into_bytes),
    ]
}

pub fn columns() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(strings(), 0..60)
}

/// Codes with few symbols and many, trained on a part of the strings, so that others are new to them.
pub fn train(column: &[Vec<u8>], repeat: usize, symbol_limit: usize) -> OrderedCode {
    let half = &column[..column.len() / 2];
    let sample = (0..repeat).flat_map(|_| half.iter().map(Vec::as_slice));
    OrderedCode::train(sample, symbol_limit)
}
