//! Payloads that refer to a shared dictionary: what they hold, which bytes they are, and what becomes of wrong ones.

use crate::columns::{Column, Random};
use quire_codec::text::{BytesDecoder, OwnDictionary, SharedDictionary, encode};
use quire_codec::{BytesVector, CodecId, RowMask, vector_count, vector_rows};
use std::collections::BTreeSet;
use std::ops::Bound::{Excluded, Included};
use std::sync::Arc;

/// Rows that are drawn from some strings; every string is there.
fn rows_of(strings: &[Vec<u8>], row_count: usize, random: &mut Random) -> Column {
    let mut rows = strings.to_vec();
    while rows.len() < row_count {
        rows.push(strings[random.below(strings.len())].clone());
    }
    Column::new("drawn", rows)
}

/// Different strings of up to 40 bytes.
fn strings(count: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random(seed | 1);
    let mut distinct = BTreeSet::new();
    while distinct.len() < count {
        let length = random.below(40);
        distinct.insert(random.bytes(length));
    }
    distinct.into_iter().collect()
}

/// Opens the dictionary payload of some rows, which lies within an image.
fn own(column: &Column) -> OwnDictionary {
    let payload = encode(CodecId::Dictionary, &column.slice()).unwrap();
    let mut image = b"in front".to_vec();
    image.extend_from_slice(&payload);
    image.extend_from_slice(b"behind");
    OwnDictionary::open(image.into(), 8..8 + payload.len(), column.slice().len()).unwrap()
}

fn shared(strings: &[Vec<u8>]) -> (SharedDictionary, Vec<u8>) {
    own(&Column::new("shared", strings.to_vec()))
        .to_shared()
        .unwrap()
}

fn referring(column: &Column, dictionary: &SharedDictionary) -> Arc<[u8]> {
    own(column).refer_to(dictionary).unwrap().into()
}

fn open(payload: &Arc<[u8]>, rows: usize, dictionary: &SharedDictionary) -> BytesDecoder {
    let range = 0..payload.len();
    BytesDecoder::open_shared(Arc::clone(payload), range, rows, dictionary).unwrap()
}

fn assert_reads(column: &Column, dictionary: &SharedDictionary) {
    let values = column.slice();
    let mut decoder = open(&referring(column, dictionary), values.len(), dictionary);
    let mut all = BytesVector::new();
    for vector in 0..vector_count(values.len()) {
        let rows = decoder.decode_vector(vector, &mut all).unwrap();
        assert_eq!(rows, vector_rows(values.len(), vector));
        let mut codes = [0; 1024];
        assert_eq!(decoder.decode_codes(vector, &mut codes), Ok(rows));
        for (row, code) in codes[..rows].iter().enumerate() {
            let expected = values.get(vector * 1024 + row);
            assert_eq!(decoder.dictionary_value(*code), Some(expected));
        }
        assert_selects(&mut decoder, column, vector, &codes[..rows]);
    }
    assert!(all.as_slice().iter().eq(values.iter()));
    for row in (0..values.len()).step_by(97) {
        let mut value = Vec::new();
        decoder.value(row, &mut value).unwrap();
        assert_eq!(value, values.get(row));
        let code = decoder.code(row).unwrap();
        assert_eq!(decoder.dictionary_value(code), Some(values.get(row)));
    }
}

/// Sets and ranges of codes mark the rows that have them.
fn assert_selects(decoder: &mut BytesDecoder, column: &Column, vector: usize, codes: &[u32]) {
    let length = decoder.dictionary_len().unwrap();
    let (mut wanted, mut mask) = (vec![0; length.div_ceil(64)], RowMask::default());
    for code in (0..length).step_by(3) {
        wanted[code / 64] |= 1 << (code % 64);
    }
    let is_marked = |mask: &RowMask, row: usize| mask[row / 64] >> (row % 64) & 1 == 1;
    decoder.select_codes(vector, &wanted, &mut mask).unwrap();
    for (row, code) in codes.iter().enumerate() {
        assert_eq!(is_marked(&mask, row), code % 3 == 0);
    }
    let middle = column.slice().get(0);
    if let Some(range) = decoder.code_range(Included(b""), Excluded(middle)) {
        decoder.select_code_range(vector, range, &mut mask).unwrap();
        for row in 0..codes.len() {
            let value = column.slice().get(vector * 1024 + row);
            assert_eq!(is_marked(&mask, row), value < middle);
        }
    }
}

#[test]
fn rows_are_what_they_were_whatever_the_dictionary_has_of_them() {
    let base = strings(700, 5);
    let others = strings(900, 77);
    let (dictionary, stored) = shared(&base);
    let reopened = SharedDictionary::open(&stored).unwrap();
    assert_eq!(reopened.fingerprint(), dictionary.fingerprint());
    assert_eq!(reopened.string_count(), 700);
    let mut random = Random(9);
    for (kept, added) in [(700, 0), (650, 0), (650, 30), (300, 300), (0, 200), (1, 0)] {
        let mut wanted = base[..kept].to_vec();
        let is_new = |string: &&Vec<u8>| !base.contains(string);
        wanted.extend(others.iter().filter(is_new).take(added).cloned());
        for row_count in [wanted.len(), 1024, 3000] {
            let column = rows_of(&wanted, row_count.max(wanted.len()), &mut random);
            assert_reads(&column, &reopened);
            let decoder = open(
                &referring(&column, &reopened),
                column.slice().len(),
                &reopened,
            );
            assert_eq!(decoder.dictionary_len(), Some(700 + added));
            let is_ordered = decoder.code_range(Included(b""), Included(b"z")).is_some();
            assert_eq!(is_ordered, added == 0, "codes of own strings follow");
        }
    }
}

#[test]
fn nine_of_ten_strings_and_a_quarter_of_the_dictionary_suit() {
    let base = strings(1000, 3);
    let (dictionary, _) = shared(&base);
    let others: Vec<Vec<u8>> = strings(400, 8)
        .into_iter()
        .filter(|string| !base.contains(string))
        .collect();
    let suits = |kept: usize, added: usize| {
        let wanted = [&base[..kept], &others[..added]].concat();
        own(&Column::new("rows", wanted)).is_mostly_in(&dictionary)
    };
    for (kept, added, expected) in [
        (1000, 0, true),
        (900, 100, true),
        (900, 101, false),
        (250, 0, true),
        (249, 0, false),
        (270, 30, true),
        (270, 31, false),
        (0, 100, false),
    ] {
        assert_eq!(suits(kept, added), expected, "{kept} and {added}");
    }
    assert!(!own(&Column::new("none", [])).is_mostly_in(&dictionary));
    assert!(own(&Column::new("none", [])).to_shared().is_none());
}

/// Fowler, Noll, Vo: FNV-1a of 64 bits.
fn fnv_1a(bytes: &[u8]) -> u64 {
    let mut hash = 14_695_981_039_346_656_037_u64;
    for byte in bytes {
        hash ^= u64::from(*byte);
        hash = hash.wrapping_mul(1_099_511_628_211);
    }
    hash
}

/// The section of a small dictionary payload: its lengths, and the strings as they are.
fn section_of(payload: &[u8]) -> &[u8] {
    let length = |at: usize| u32::from_le_bytes(payload[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!(length(4), length(8), "not compressed");
    &payload[4..12 + length(8)]
}

#[test]
fn bytes_are_the_documented_ones() {
    let fruits = Column::new("fruits", [b"pear".to_vec(), b"apple".to_vec()]);
    let payload = encode(CodecId::Dictionary, &fruits.slice()).unwrap();
    let section = section_of(&payload);
    let (dictionary, stored) = own(&fruits).to_shared().unwrap();
    let fingerprint = fnv_1a(&[&2_u32.to_le_bytes(), &section[8..]].concat());
    assert_eq!(dictionary.fingerprint(), fingerprint);
    let expected = [
        &[1][..],
        &fingerprint.to_le_bytes(),
        &2_u32.to_le_bytes(),
        section,
    ];
    assert_eq!(stored, expected.concat());

    let fig = Column::new("fig", [b"fig".to_vec()]);
    let own_section = encode(CodecId::Dictionary, &fig.slice()).unwrap();
    let rows = [b"pear".to_vec(), b"fig".to_vec(), b"apple".to_vec()];
    let payload = referring(&Column::new("rows", rows), &dictionary);
    let expected = [
        &fingerprint.to_le_bytes()[..],
        &2_u32.to_le_bytes(),
        &1_u32.to_le_bytes(),
        section_of(&own_section),
    ];
    let expected = expected.concat();
    assert_eq!(payload[..expected.len()], expected);
    let decoder = open(&payload, 3, &dictionary);
    let codes = [0, 1, 2].map(|row| decoder.code(row).unwrap());
    assert_eq!(codes, [1, 2, 0], "apple and pear, then fig");
}

/// A shared dictionary of one string of 2 to 4 MiB, whose section is not compressed.
fn one_long_string(bytes: usize) -> Vec<u8> {
    // The length: the width of a base, the base itself, and no bits beyond it.
    let [low, middle, high, 0] = (bytes as u32).to_le_bytes() else {
        panic!("three bytes");
    };
    let mut raw = vec![22, low, middle, high, 0];
    raw.resize(raw.len() + bytes, b'x');
    let count = 1_u32.to_le_bytes();
    let fingerprint = fnv_1a(&[&count[..], &raw].concat()).to_le_bytes();
    let length = (raw.len() as u32).to_le_bytes();
    [&[1][..], &fingerprint, &count, &length, &length, &raw].concat()
}

#[test]
fn dictionaries_have_at_most_four_mebibytes() {
    let longest = (4 << 20) - 5;
    let stored = one_long_string(longest);
    assert_eq!(stored.len(), SharedDictionary::STORED_BYTES_MAX);
    let dictionary = SharedDictionary::open(&stored).unwrap();
    assert_eq!(dictionary.string_count(), 1);
    let error = SharedDictionary::open(&one_long_string(longest + 1)).unwrap_err();
    assert!(error.to_string().contains("at most"), "{error}");
    // Nor does the writer make one.
    let long = |bytes: usize| own(&Column::new("long", [vec![b'x'; bytes]]));
    let (made, _) = long(longest).to_shared().unwrap();
    assert_eq!(made.fingerprint(), dictionary.fingerprint());
    assert!(long(longest + 1).to_shared().is_none());
}

#[test]
fn another_dictionary_is_an_error() {
    let (dictionary, _) = shared(&strings(50, 1));
    let (other, _) = shared(&strings(50, 2));
    let column = Column::new("rows", strings(50, 1));
    let payload = referring(&column, &dictionary);
    let range = 0..payload.len();
    let error = BytesDecoder::open_shared(Arc::clone(&payload), range, 50, &other).unwrap_err();
    assert!(error.to_string().contains("fingerprint"), "{error}");
    // A payload that refers to a dictionary is none of its own.
    let range = 0..payload.len();
    assert!(BytesDecoder::open(CodecId::Dictionary, Arc::clone(&payload), range, 50).is_err());
    // A string of the dictionary once more, as its own.
    let (few, _) = shared(&[b"apple".to_vec()]);
    let fig = referring(
        &Column::new("rows", [b"apple".to_vec(), b"fig".to_vec()]),
        &few,
    );
    let (figs, _) = shared(&[b"fig".to_vec()]);
    let mut twice = fig.to_vec();
    twice[..8].copy_from_slice(&figs.fingerprint().to_le_bytes());
    let range = 0..twice.len();
    assert!(BytesDecoder::open_shared(twice.into(), range, 2, &figs).is_err());
}

/// Decodes whatever there is.
fn decode(payload: Vec<u8>, rows: usize, dictionary: &SharedDictionary) {
    let range = 0..payload.len();
    let Ok(mut decoder) = BytesDecoder::open_shared(payload.into(), range, rows, dictionary) else {
        return;
    };
    let mut out = BytesVector::new();
    for vector in 0..vector_count(rows) {
        let _ = decoder.decode_vector(vector, &mut out);
        let mut codes = [0; 1024];
        if let Ok(count) = decoder.decode_codes(vector, &mut codes) {
            let mut codes = codes[..count].iter();
            assert!(codes.all(|code| decoder.dictionary_value(*code).is_some()));
        }
    }
    let _ = decoder.value(rows / 2, &mut Vec::new());
}

#[test]
fn wrong_bytes_are_errors_or_other_rows() {
    let base = strings(60, 4);
    let (dictionary, stored) = shared(&base);
    let wanted = [&base[..58], &[b"one that is not there".to_vec()]].concat();
    let column = rows_of(&wanted, 1100, &mut Random(6));
    let payload = referring(&column, &dictionary);
    for length in 0..payload.len() {
        decode(payload[..length].to_vec(), 1100, &dictionary);
    }
    for bit in 0..payload.len() * 8 {
        let mut damaged = payload.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        decode(damaged, 1100, &dictionary);
    }
    for length in 0..stored.len() {
        assert!(SharedDictionary::open(&stored[..length]).is_err());
    }
    assert!(SharedDictionary::open(&[stored.as_slice(), &[0]].concat()).is_err());
    for bit in 0..stored.len() * 8 {
        let mut damaged = stored.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        // A flip in a compressed section may decompress to the same.
        if let Ok(read) = SharedDictionary::open(&damaged) {
            assert_eq!(read.fingerprint(), dictionary.fingerprint());
        }
    }
}
