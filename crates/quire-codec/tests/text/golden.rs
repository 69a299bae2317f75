//! Payloads equal what the documented layout says, written by the naive writer.

use crate::columns::{Column, columns};
use crate::naive::{self, Context};
use quire_codec::text::{BytesDecoder, encode};
use quire_codec::{BytesVector, CodecId, vector_count};
use std::collections::BTreeSet;

fn lengths_of(column: &Column) -> Vec<u32> {
    column
        .slice()
        .iter()
        .map(|value| value.len() as u32)
        .collect()
}

fn decode_all(codec: CodecId, payload: Vec<u8>, rows: usize) -> BytesVector {
    let length = payload.len();
    let mut decoder = BytesDecoder::open(codec, payload.into(), 0..length, rows).unwrap();
    let mut out = BytesVector::new();
    for vector in 0..vector_count(rows) {
        decoder.decode_vector(vector, &mut out).unwrap();
    }
    out
}

#[test]
fn plain_is_lengths_and_bytes() {
    for column in columns() {
        let all: Vec<u8> = column.slice().iter().flatten().copied().collect();
        let expected = [naive::lengths(&lengths_of(&column)), all].concat();
        assert_eq!(
            encode(CodecId::Plain, &column.slice()).unwrap(),
            expected,
            "{}",
            column.name
        );
    }
}

#[test]
fn plain_of_three_words() {
    let column = Column::new(
        "words",
        ["to", "be", "bee"].map(|word| word.as_bytes().to_vec()),
    );
    // Base 2 in two bits; one bit a length: 0, 0, 1; data of the vector: 7 in three bits, width 0.
    let expected = [&[2, 2, 1, 0b100, 3, 7, 0][..], b"tobebee"].concat();
    assert_eq!(encode(CodecId::Plain, &column.slice()).unwrap(), expected);
}

/// Two frequent strings and three rare ones: the rows, and the places of those that are rare.
fn frequent_and_rare() -> (Column, Vec<usize>) {
    let rare = [(0, "seldom"), (77, "hardly ever"), (1_100, "once")];
    let frequent = |row: usize| if row % 5 < 2 { "no" } else { "yes" };
    let value = |row| {
        let found = rare.iter().find(|(place, _)| *place == row);
        found.map_or(frequent(row), |(_, value)| value)
    };
    let rows = (0..1_200).map(|row| value(row).as_bytes().to_vec());
    let column = Column::new("frequent and rare", rows);
    (column, rare.map(|(place, _)| place).to_vec())
}

/// A patched dictionary whose strings aside have that codec and payload.
fn patched(column: &Column, aside: &[usize], codec: CodecId, strings: &[u8]) -> Vec<u8> {
    let mut code = 0;
    let mut words = vec![0; column.slice().len().div_ceil(64)];
    let codes = column.slice().iter().enumerate().map(|(row, value)| {
        match value {
            b"no" => code = 0,
            b"yes" => code = 1,
            _ => words[row / 64] |= 1 << (row % 64),
        }
        code
    });
    let codes: Vec<i32> = codes.collect();
    let section = naive::section(&[&naive::packed(&[2, 3])[..], b"noyes"].concat());
    let dictionary = [&[2, 0, 0, 0][..], &section, &naive::sequence(&codes)].concat();
    // Sets of rows have tests of their own.
    let rows = quire_codec::boolean::encode(CodecId::Rle, &words, codes.len()).unwrap();
    let size = |bytes: &[u8]| (bytes.len() as u32).to_le_bytes();
    [
        &(aside.len() as u32).to_le_bytes()[..],
        &size(&dictionary),
        &dictionary,
        &size(&rows),
        &rows,
        &[codec as u8],
        strings,
    ]
    .concat()
}

#[test]
fn a_patched_dictionary_is_codes_then_rows_and_strings_aside() {
    let (column, aside) = frequent_and_rare();
    let values = column.slice();
    let rare = Column::new("rare", aside.iter().map(|&row| values.get(row).to_vec()));
    let found = encode(CodecId::Pdict, &values).unwrap();
    let plain = encode(CodecId::Plain, &rare.slice()).unwrap();
    let fits = |codec: &CodecId| {
        let strings = encode(*codec, &rare.slice());
        strings.is_ok_and(|strings| patched(&column, &aside, *codec, &strings) == found)
    };
    assert!(CodecId::ALL.iter().any(fits));
    let bytes = patched(&column, &aside, CodecId::Plain, &plain);
    let decoded = decode_all(CodecId::Pdict, bytes, values.len());
    assert!(decoded.as_slice().iter().eq(values.iter()));
    // Neither a patched dictionary nor shapes may be within one.
    for codec in [CodecId::Pdict, CodecId::Shape] {
        let strings = encode(codec, &rare.slice()).unwrap();
        let bytes = patched(&column, &aside, codec, &strings);
        let range = 0..bytes.len();
        assert!(BytesDecoder::open(CodecId::Pdict, bytes.into(), range, values.len()).is_err());
    }
}

#[test]
fn a_patched_dictionary_of_all_values_has_nothing_aside() {
    let column = Column::new("equal", (0..100).map(|_| b"same".to_vec()));
    let dictionary = encode(CodecId::Dictionary, &column.slice()).unwrap();
    let size = (dictionary.len() as u32).to_le_bytes();
    let expected = [&[0; 4][..], &size, &dictionary].concat();
    assert_eq!(encode(CodecId::Pdict, &column.slice()).unwrap(), expected);
}

#[test]
fn dictionary_is_ascending_values_and_codes() {
    let columns = columns();
    for column in columns
        .iter()
        .filter(|column| ["few distinct", "one byte", "no rows"].contains(&column.name))
    {
        let values = column.slice();
        let distinct: Vec<&[u8]> = values.iter().collect::<BTreeSet<_>>().into_iter().collect();
        let lengths: Vec<u32> = distinct.iter().map(|value| value.len() as u32).collect();
        let section = naive::section(&[naive::packed(&lengths), distinct.concat()].concat());
        let codes: Vec<i32> = values
            .iter()
            .map(|value| distinct.iter().position(|one| *one == value).unwrap() as i32)
            .collect();
        let count = (distinct.len() as u32).to_le_bytes().to_vec();
        let expected = [count, section, naive::sequence(&codes)].concat();
        assert_eq!(
            encode(CodecId::Dictionary, &values).unwrap(),
            expected,
            "{}",
            column.name
        );
    }
}

#[test]
fn fsst_is_symbols_lengths_and_codes() {
    let table = [&[3, 2, 1, 8][..], b"ab", b"c", b"verylong"].concat();
    let coded: [&[u8]; 4] = [&[0, 1, 0], &[], &[2, 255, b'!', 255, 255], &[1]];
    let lengths: Vec<u32> = coded.iter().map(|codes| codes.len() as u32).collect();
    let payload = [table, naive::lengths(&lengths), coded.concat()].concat();
    let out = decode_all(CodecId::Fsst, payload, 4);
    let expected: [&[u8]; 4] = [b"abcab", b"", b"verylong!\xff", b"c"];
    assert!(out.as_slice().iter().eq(expected));
}

#[test]
fn zstd_is_lengths_and_blocks_stored_or_compressed() {
    // 64 KiB of zeros compressed, then three bytes stored: the first value runs through both.
    let first = vec![0u8; 65_537];
    let mut compressor = zstd::bulk::Compressor::new(1).unwrap();
    compressor.include_magicbytes(false).unwrap();
    compressor.include_contentsize(false).unwrap();
    let block = compressor.compress(&first[..65_536]).unwrap();
    let sizes = naive::packed(&[block.len() as u32, 3]);
    let payload = [
        vec![16],
        naive::lengths(&[65_537, 2]),
        sizes,
        block,
        b"\0hi".to_vec(),
    ]
    .concat();
    let out = decode_all(CodecId::Zstd, payload, 2);
    assert!(out.as_slice().iter().eq([&first[..], b"hi"]));
}

#[test]
fn zstd_stores_what_does_not_shrink() {
    let mut random = crate::columns::Random(3);
    let value = random.bytes(3000);
    let column = Column::new("noise", [value.clone()]);
    let expected = [
        vec![20],
        naive::lengths(&[3000]),
        naive::packed(&[3000]),
        value,
    ]
    .concat();
    assert_eq!(encode(CodecId::Zstd, &column.slice()).unwrap(), expected);
}

/// Symbols 2 to 4 of the model below.
const AB: u16 = 2;
const SPACE_CD: u16 = 3;
const X: u16 = 4;

/// A model of three words: the version, the model as a section, and its contexts 0 and 1.
fn words_head() -> (Vec<u8>, Context, Context) {
    let general: Context = vec![(0, 1), (AB, 1), (SPACE_CD, 2), (X, 4092)];
    let local: Context = vec![(0, 1000), (1, 100), (AB, 2000), (SPACE_CD, 996)];
    let mut model = 5u16.to_le_bytes().to_vec();
    model.extend([2, 3, 1]);
    model.extend(b"ab cdx");
    // After an escape the general context, after all others context 1.
    model.extend([1, 0, 1, 1, 1]);
    let varint = |value: u32| match value {
        0..=127 => vec![value as u8],
        _ => vec![value as u8 | 0x80, (value >> 7) as u8],
    };
    for context in [&general, &local] {
        model.push(context.len() as u8);
        let mut before = 0;
        for (symbol, _) in context {
            model.push((symbol - before) as u8);
            before = *symbol;
        }
        context
            .iter()
            .for_each(|(_, frequency)| model.extend(varint(frequency - 1)));
    }
    model.extend([0; 14]);
    ([vec![1], naive::section(&model)].concat(), general, local)
}

#[test]
fn words_are_a_model_and_streams() {
    let (head, general, local) = words_head();
    let (end, escape) = (0, 1);
    // "ab cd", "", "xab" in the only lane with rows.
    let symbols = [
        (AB, &local),
        (SPACE_CD, &local),
        (end, &local),
        (end, &local),
        (escape, &local),
        (X, &general),
        (AB, &local),
        (end, &local),
    ];
    let stream = naive::stream(&symbols);
    let sizes = naive::packed(&[stream.len() as u32, 0, 0, 0]);
    let payload = [head, vec![0], sizes, naive::packed(&[8, 0, 0, 0]), stream].concat();
    let out = decode_all(CodecId::Words, payload.clone(), 3);
    assert!(out.as_slice().iter().eq([&b"ab cd"[..], b"", b"xab"]));
    let length = payload.len();
    let mut decoder = BytesDecoder::open(CodecId::Words, payload.into(), 0..length, 3).unwrap();
    let mut value = Vec::new();
    decoder.value(2, &mut value).unwrap();
    assert_eq!(value, b"xab");
}

#[test]
fn words_store_a_vector_as_it_is() {
    let (head, _, _) = words_head();
    let vector = [naive::lengths(&[2, 0, 1]), b"hi!".to_vec()].concat();
    let sizes = naive::packed(&[vector.len() as u32, 0, 0, 0]);
    let payload = [head, vec![1], sizes, naive::packed(&[3, 0, 0, 0]), vector].concat();
    let out = decode_all(CodecId::Words, payload, 3);
    assert!(out.as_slice().iter().eq([&b"hi"[..], b"", b"!"]));
}

#[test]
fn constant_is_the_value() {
    let column = Column::new("equal", (0..5).map(|_| b"same".to_vec()));
    assert_eq!(encode(CodecId::Constant, &column.slice()).unwrap(), b"same");
}

#[test]
fn shapes_are_texts_and_columns_of_integers() {
    let (payload, values) = naive::shapes();
    let out = decode_all(CodecId::Shape, payload.clone(), values.len());
    assert!(out.as_slice().iter().eq(values.iter().copied()));
    let length = payload.len();
    let image = payload.into();
    let mut decoder = BytesDecoder::open(CodecId::Shape, image, 0..length, values.len()).unwrap();
    for row in [5, 0, 2, 4, 1, 3] {
        let mut value = Vec::new();
        decoder.value(row, &mut value).unwrap();
        assert_eq!(value, values[row]);
    }
}

#[test]
fn keys_of_one_shape_are_one_column_of_integers() {
    let numbers: Vec<i64> = (0..40).map(|row| row * 37 % 101).collect();
    let keys = numbers
        .iter()
        .map(|number| format!("A7-{number:03}").into_bytes());
    let column = Column::new("keys", keys);
    let sequence = naive::sequence(&numbers);
    let expected = [
        vec![1],
        naive::section(&[1, 2, 0, 3, b'A', b'7', b'-', 1, 3]),
        vec![255],
        naive::packed(&[sequence.len() as u32]),
        sequence,
    ];
    assert_eq!(
        encode(CodecId::Shape, &column.slice()).unwrap(),
        expected.concat()
    );
}

#[test]
fn phrases_are_a_table_and_codes() {
    let table = ["a", "an", "and", "any", "b", "banana banana ba", "nd"];
    let codes: [&[u32]; 5] = [&[5, 3], &[], &[2], &[4, 0, 6, 6], &[1]];
    let mut bits = Vec::new();
    for code in codes.concat() {
        naive::push_bits(&mut bits, u64::from(code), 9);
    }
    let counts: Vec<u32> = codes.iter().map(|codes| codes.len() as u32).collect();
    let payload = [
        vec![9],
        naive::phrases(&table),
        naive::lengths(&counts),
        naive::to_bytes(&bits),
    ]
    .concat();
    let expected: [&[u8]; 5] = [b"banana banana baany", b"", b"and", b"bandnd", b"an"];
    let out = decode_all(CodecId::Phrases, payload.clone(), 5);
    assert!(out.as_slice().iter().eq(expected));
    let length = payload.len();
    let mut decoder = BytesDecoder::open(CodecId::Phrases, payload.into(), 0..length, 5).unwrap();
    let mut value = b"x".to_vec();
    decoder.value(3, &mut value).unwrap();
    assert_eq!(value, b"xbandnd");
}

#[test]
fn phrases_of_two_letters() {
    // "ab" follows itself: it is a phrase, and so are two and more of them; which ones is the encoder's choice,
    // but every value must be cut into the longest.
    let column = Column::new("ab", (0..64).map(|row| b"ab".repeat(row % 9)));
    let payload = encode(CodecId::Phrases, &column.slice()).unwrap();
    let plain = encode(CodecId::Plain, &column.slice()).unwrap();
    assert!(payload.len() * 2 < plain.len());
    let out = decode_all(CodecId::Phrases, payload, 64);
    assert!(out.as_slice().iter().eq(column.slice().iter()));
}
