//! One string for all rows: the payload is the string.

use super::{DATA_BYTES_MAX, PayloadImage};
use crate::{BytesSlice, BytesVector, Corrupt, EncodeError, vector_rows};

fn the_value<'a>(values: &BytesSlice<'a>) -> Result<&'a [u8], EncodeError> {
    let first = values.get(0);
    if values.iter().all(|value| value == first) {
        Ok(first)
    } else {
        Err(EncodeError::NotConstant)
    }
}

pub(super) fn encode(values: &BytesSlice) -> Result<Vec<u8>, EncodeError> {
    Ok(the_value(values)?.to_vec())
}

pub(super) fn encoded_bytes(values: &BytesSlice) -> Result<usize, EncodeError> {
    Ok(the_value(values)?.len())
}

/// Refuses a value that, repeated `row_count` times, is longer than any payload.
pub(super) fn open(payload: &PayloadImage, row_count: usize) -> Result<(), Corrupt> {
    match payload.range.len().checked_mul(row_count) {
        Some(bytes) if bytes <= DATA_BYTES_MAX => Ok(()),
        _ => Err(Corrupt::new(
            "constant rows pass 1 GiB together",
            payload.range.start,
        )),
    }
}

/// Appends vector `vector`, every row of it the whole payload.
pub(super) fn decode_vector(
    payload: &PayloadImage,
    row_count: usize,
    vector: usize,
    out: &mut BytesVector,
) -> Result<usize, Corrupt> {
    let value = payload.bytes();
    let rows = vector_rows(row_count, vector);
    if out.data.len() as u64 + value.len() as u64 * rows as u64 > u64::from(u32::MAX) {
        return Err(Corrupt::new(
            "decoded strings pass 4 GiB",
            payload.range.start,
        ));
    }
    for _ in 0..rows {
        out.push(value)?;
    }
    Ok(rows)
}
