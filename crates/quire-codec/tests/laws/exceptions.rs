//! Positions of exceptions are checked on every instruction set: they ascend, and stay within the rows.

use crate::backends::on_every_backend;
use quire_codec::fixed::{FixedDecoder, encode};
use quire_codec::{CodecId, VECTOR_VALUES};

/// Zeros and ones by turns, and a thousand at two rows.
fn column(row_count: usize) -> Vec<i32> {
    let mut values: Vec<i32> = (0..row_count as i32).map(|row| row % 2).collect();
    (values[5], values[9]) = (1000, 1000);
    values
}

/// The payload of a column with other positions in place of 5 and 9.
fn with_positions(row_count: usize, first: u32, second: u32) -> Vec<u8> {
    let mut payload = encode(CodecId::Pfor, &column(row_count)).unwrap();
    // Two positions of 10 bits take three bytes, and so do the two high parts of 9 bits behind them.
    let start = payload.len() - 6;
    assert_eq!(
        payload[start..start + 3],
        (5u32 | 9 << 10).to_le_bytes()[..3]
    );
    payload[start..start + 3].copy_from_slice(&(first | second << 10).to_le_bytes()[..3]);
    payload
}

fn decodes(payload: &[u8], row_count: usize) -> bool {
    let length = payload.len();
    let mut decoder =
        FixedDecoder::<i32>::open(CodecId::Pfor, payload.into(), 0..length, row_count).unwrap();
    let _ = decoder.value(5);
    let _ = decoder.decode_group(0, &mut [0; 128]);
    decoder.decode_vector(0, &mut [0; VECTOR_VALUES]).is_ok()
}

#[test]
fn positions_ascend_within_the_vector() {
    on_every_backend(|backend| {
        for row_count in [500, VECTOR_VALUES] {
            let accepted =
                |first, second| decodes(&with_positions(row_count, first, second), row_count);
            assert!(accepted(5, 9), "{backend:?}");
            assert!(accepted(0, row_count as u32 - 1), "{backend:?}");
            assert!(!accepted(9, 5), "{backend:?}: descending");
            assert!(!accepted(5, 5), "{backend:?}: twice");
            if row_count < VECTOR_VALUES {
                assert!(
                    !accepted(5, row_count as u32),
                    "{backend:?}: beyond the rows"
                );
            }
        }
    });
}

/// From none to all, so that the lists end anywhere within the eight numbers read at a time.
#[test]
fn any_number_of_exceptions_is_undone() {
    on_every_backend(|backend| {
        for count in (0..40).chain([100, 300]) {
            for high_bits in [3, 20, 33, 50, 60] {
                // At 60 bits the lists are left to the code that reads number by number.
                let mut values: Vec<i64> = (0..VECTOR_VALUES as i64).map(|row| row % 16).collect();
                for exception in 0..count {
                    values[exception * 3 + 1] = (1 << (4 + high_bits - 1)) + exception as i64;
                }
                let payload = encode(CodecId::Pfor, &values).unwrap();
                let bytes = 0..payload.len();
                let mut decoder =
                    FixedDecoder::<i64>::open(CodecId::Pfor, payload.into(), bytes, 1024).unwrap();
                let mut out = [0; VECTOR_VALUES];
                decoder.decode_vector(0, &mut out).unwrap();
                assert!(out[..] == values, "{count} of {high_bits}, {backend:?}");
                for (row, value) in values.iter().enumerate() {
                    assert_eq!(decoder.value(row), Ok(*value), "{count}, {backend:?}");
                }
            }
        }
    });
}

/// As above for narrower values, of which sixteen are read at a time unless their high bits are too many.
#[test]
fn any_number_of_exceptions_in_narrow_values_is_undone() {
    on_every_backend(|backend| {
        for count in (0..40).chain([100, 300]) {
            for high_bits in [3, 12, 25, 26, 27] {
                let mut values: Vec<i32> = (0..VECTOR_VALUES as i32).map(|row| row % 16).collect();
                for exception in 0..count {
                    values[exception * 3 + 1] = (1 << (4 + high_bits - 1)) + exception as i32;
                }
                let payload = encode(CodecId::Pfor, &values).unwrap();
                let bytes = 0..payload.len();
                let mut decoder =
                    FixedDecoder::<i32>::open(CodecId::Pfor, payload.into(), bytes, 1024).unwrap();
                let mut out = [0; VECTOR_VALUES];
                decoder.decode_vector(0, &mut out).unwrap();
                assert!(out[..] == values, "{count} of {high_bits}, {backend:?}");
                for (group, expected) in values.chunks(128).enumerate() {
                    let mut out = [0; 128];
                    decoder.decode_group(group, &mut out).unwrap();
                    assert!(out[..] == *expected, "{count} of {high_bits}, {backend:?}");
                }
            }
        }
    });
}
