//! Questions to the codes of a dictionary get the answers that its values give.

use crate::backends::on_every_backend;
use crate::columns::{Column, columns};
use crate::laws::decoder;
use quire_codec::text::{BytesDecoder, encode};
use quire_codec::{BytesSlice, CodecId, RowMask, vector_count};
use std::ops::Bound::{self, Excluded, Included, Unbounded};

/// The rows of a vector, and a mask of those that are wanted.
fn naive(values: &BytesSlice, vector: usize, wanted: impl Fn(&[u8]) -> bool) -> (usize, RowMask) {
    let mut mask = [0; 16];
    let rows = values.len().min((vector + 1) * 1024) - vector * 1024;
    for row in 0..rows {
        let is_wanted = wanted(values.get(vector * 1024 + row));
        mask[row / 64] |= u64::from(is_wanted) << (row % 64);
    }
    (rows, mask)
}

/// Values of the column and strings beside them: a prefix, and one that is longer.
fn bounds(values: &BytesSlice) -> Vec<Vec<u8>> {
    let rows = [0, values.len() / 3, values.len().saturating_sub(1)];
    rows.into_iter()
        .filter(|&row| row < values.len())
        .flat_map(|row| {
            let value = values.get(row);
            let prefix = value[..value.len() / 2].to_vec();
            [value.to_vec(), prefix, [value, b"\xff"].concat()]
        })
        .chain([Vec::new()])
        .collect()
}

fn within(value: &[u8], low: Bound<&[u8]>, high: Bound<&[u8]>) -> bool {
    let above = match low {
        Included(low) => value >= low,
        Excluded(low) => value > low,
        Unbounded => true,
    };
    let below = match high {
        Included(high) => value <= high,
        Excluded(high) => value < high,
        Unbounded => true,
    };
    above && below
}

fn ranges_are_ranges_of_codes(column: &Column) {
    let values = column.slice();
    let mut decoder = decoder(CodecId::Dictionary, &values);
    let bounds = bounds(&values);
    let sides = |bound| [Included(bound), Excluded(bound), Unbounded];
    for low in bounds.iter().flat_map(|bound| sides(bound.as_slice())) {
        for high in bounds.iter().flat_map(|bound| sides(bound.as_slice())) {
            let codes = decoder.code_range(low, high).unwrap();
            for vector in 0..vector_count(values.len()) {
                let mut mask = [0x5555; 16];
                let rows = decoder.select_code_range(vector, codes.clone(), &mut mask);
                let expected = naive(&values, vector, |value| within(value, low, high));
                assert!(
                    (rows.unwrap(), mask) == expected,
                    "{}: {low:?} to {high:?} of {vector}",
                    column.name
                );
            }
        }
    }
}

fn wanted_codes_are_looked_up(column: &Column) {
    let values = column.slice();
    let mut decoder = decoder(CodecId::Dictionary, &values);
    let length = decoder.dictionary_len().unwrap();
    // Shorter than the dictionary at times: what is beyond is not wanted.
    for words in [length.div_ceil(64), length / 128] {
        let word = |at: u64| (at + 3).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let wanted: Vec<u64> = (0..words as u64).map(word).collect();
        let chosen: std::collections::BTreeSet<Vec<u8>> = (0..length as u32)
            .filter(|&code| {
                let word = wanted.get(code as usize / 64).copied().unwrap_or(0);
                word >> (code % 64) & 1 == 1
            })
            .map(|code| decoder.dictionary_value(code).unwrap().to_vec())
            .collect();
        for vector in 0..vector_count(values.len()) {
            let mut mask = [0x5555; 16];
            let rows = decoder.select_codes(vector, &wanted, &mut mask).unwrap();
            let expected = naive(&values, vector, |value| chosen.contains(value));
            assert!((rows, mask) == expected, "{}: vector {vector}", column.name);
        }
    }
}

#[test]
fn answers_are_those_of_the_values() {
    on_every_backend(|_| {
        for column in columns() {
            ranges_are_ranges_of_codes(&column);
            wanted_codes_are_looked_up(&column);
        }
    });
}

#[test]
fn codes_that_do_not_exist_are_nowhere() {
    let column = Column::new("two", [b"a".to_vec(), b"b".to_vec()]);
    let mut decoder = decoder(CodecId::Dictionary, &column.slice());
    let mut mask = [0x5555; 16];
    for codes in [2..9, 1..1, u32::MAX..u32::MAX] {
        assert_eq!(decoder.select_code_range(0, codes, &mut mask), Ok(2));
        assert_eq!(mask, [0; 16]);
    }
    assert_eq!(decoder.select_code_range(0, 1..u32::MAX, &mut mask), Ok(2));
    assert_eq!(mask[0], 0b10);
    assert_eq!(decoder.select_code_range(7, 0..2, &mut mask), Ok(0));
    assert_eq!(mask, [0; 16]);
}

#[test]
fn other_codecs_have_no_codes_to_ask() {
    let column = Column::new("plain", [b"a".to_vec()]);
    let mut decoder = decoder(CodecId::Plain, &column.slice());
    assert_eq!(decoder.code_range(Unbounded, Unbounded), None);
    assert!(decoder.select_code_range(0, 0..1, &mut [0; 16]).is_err());
    assert!(decoder.select_codes(0, &[1], &mut [0; 16]).is_err());
}

#[test]
fn damaged_codes_are_asked_without_a_panic() {
    on_every_backend(|_| {
        for column in columns() {
            let values = column.slice();
            let payload = encode(CodecId::Dictionary, &values).unwrap();
            for flip in 0..60 {
                let mut damaged = payload.clone();
                // From the end, where the codes are.
                let at = damaged.len() - 1 - flip * damaged.len() / 60;
                damaged[at] ^= 1 << (flip % 8);
                let length = damaged.len();
                let image = damaged.into();
                let codec = CodecId::Dictionary;
                let Ok(mut decoder) = BytesDecoder::open(codec, image, 0..length, values.len())
                else {
                    continue;
                };
                for vector in 0..vector_count(values.len()) {
                    let _ = decoder.select_code_range(vector, 0..2, &mut [0; 16]);
                    let _ = decoder.select_codes(vector, &[5], &mut [0; 16]);
                }
            }
        }
    });
}
