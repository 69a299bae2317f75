//! Finds out whether a column determines another, and writes the map.

use quire_codec::correlated::{FunctionalMap, functional_map, is_supported};
use quire_codec::{CodecId, Corrupt, EncodeError, RowGroupValues, VECTOR_VALUES};

use super::entries::SegmentEntries;
use super::map_image::{KEYS_ARE_CODES, KEYS_ARE_INTEGERS, MAP_HEADER_BYTES, MAP_VERSION};
use super::map_keys::{IntegerKeys, KEY_SPAN_MAX, MapKeys};
use super::plain::PlainSegment;
use super::validity::is_valid;
use super::{ChooseOptions, SegmentInput, SegmentReader, choose_and_encode};

/// A map is of use when each of its entries stands for two rows at least, on average.
const ROWS_PER_ENTRY_MIN: usize = 2;

/// One row of so many may be an exception.
const ROWS_PER_EXCEPTION_MIN: usize = 16;

/// Why no map could be made.
#[derive(Debug, thiserror::Error)]
pub enum EncodeMapError {
    /// The segment of the reference.
    #[error("the column it follows cannot be read: {0}")]
    Reference(#[from] Corrupt),
    /// A part of the map.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// A column as a map from another.
#[derive(Debug)]
pub struct EncodedMap {
    /// Of the values.
    pub codec: CodecId,
    /// The map segment.
    pub image: Vec<u8>,
    /// Whether rows are looked up by the codes of the other column alone: without integers for keys, and without
    /// exceptions. Such a map is read as fast as a dictionary.
    pub is_direct: bool,
}

/// The column as a map from the values of another, which `reference` reads; `None` if
/// the other does not determine it, but for few rows, or has too many values for a map to be of use.
///
/// # Errors
/// As [`super::encode_segment`], or the reference cannot be read.
pub fn encode_map(
    input: &SegmentInput<'_>,
    reference: &mut SegmentReader,
) -> Result<Option<EncodedMap>, EncodeMapError> {
    let rows = input.values.len();
    let Some(reference) = reference.as_plain() else {
        return Ok(None);
    };
    if reference.row_count() != rows || rows == 0 {
        return Ok(None);
    }
    let Some(keys) = keys_of(reference)? else {
        return Ok(None);
    };
    let key_count = keys.len() + usize::from(reference.null_count() > 0);
    if key_count * ROWS_PER_ENTRY_MIN > rows {
        return Ok(None);
    }
    let numbers = numbers_of(&keys, reference)?;
    let Some(map) = map_of(input, &numbers, key_count) else {
        return Ok(None);
    };
    let Some((codec, values)) = part(input, &map.entries)? else {
        return Ok(None);
    };
    let Some([positions, others]) = exceptions_of(input, &map.exceptions)? else {
        return Ok(None);
    };
    let (form, keys) = match keys {
        MapKeys::Codes(_) => (KEYS_ARE_CODES, Vec::new()),
        MapKeys::Integers(keys) => {
            let ascending: Vec<i64> = keys.ascending().collect();
            (
                KEYS_ARE_INTEGERS,
                integers(RowGroupValues::Int64(&ascending))?,
            )
        }
    };
    let null_count = match input.validity {
        None => 0,
        Some(words) => (0..rows).filter(|&row| !is_valid(words, row)).count(),
    };
    let parts = [keys, values, positions, others];
    Ok(Some(EncodedMap {
        codec,
        image: assemble(form, rows, null_count, &parts)?,
        is_direct: form == KEYS_ARE_CODES && map.exceptions.is_empty(),
    }))
}

/// Positions and values of the exceptions, both empty if there are none.
fn exceptions_of(
    input: &SegmentInput<'_>,
    rows: &[u32],
) -> Result<Option<[Vec<u8>; 2]>, EncodeError> {
    if rows.is_empty() {
        return Ok(Some([Vec::new(), Vec::new()]));
    }
    let Some((_, others)) = part(input, rows)? else {
        return Ok(None);
    };
    let positions: Vec<i32> = rows.iter().map(|&row| row as i32).collect();
    Ok(Some([integers(RowGroupValues::Int32(&positions))?, others]))
}

fn assemble(
    form: u8,
    row_count: usize,
    null_count: usize,
    parts: &[Vec<u8>; 4],
) -> Result<Vec<u8>, EncodeError> {
    let bytes = MAP_HEADER_BYTES + parts.iter().map(Vec::len).sum::<usize>();
    let mut image = Vec::with_capacity(bytes);
    image.extend_from_slice(&[MAP_VERSION, form, 0, 0]);
    image.extend_from_slice(&(row_count as u32).to_le_bytes());
    image.extend_from_slice(&(null_count as u32).to_le_bytes());
    let limit = u32::MAX as usize;
    for part in parts {
        let length = u32::try_from(part.len());
        let length = length.map_err(|_| EncodeError::TooManyBytes { bytes, limit })?;
        image.extend_from_slice(&length.to_le_bytes());
    }
    parts.iter().for_each(|part| image.extend_from_slice(part));
    Ok(image)
}

/// The keys of a reference; `None` if it has neither a dictionary nor integers close enough.
fn keys_of(reference: &mut PlainSegment) -> Result<Option<MapKeys>, Corrupt> {
    if let Some(count) = reference.dictionary_len() {
        return Ok(Some(MapKeys::Codes(count)));
    }
    if !is_supported(reference.physical_type()) {
        return Ok(None);
    }
    let ascending = distinct(reference)?;
    let keys = ascending.and_then(|ascending| IntegerKeys::new(&ascending));
    Ok(keys.map(MapKeys::Integers))
}

/// The distinct values that are not NULL, ascending; `None` if they lie too far apart, or there are none.
fn distinct(reference: &mut PlainSegment) -> Result<Option<Vec<i64>>, Corrupt> {
    let mut values = Vec::with_capacity(reference.row_count());
    let mut vector_values = [0; VECTOR_VALUES];
    let mut valid = [u64::MAX; VECTOR_VALUES / 64];
    for vector in 0..reference.vector_count() {
        let rows = reference.decode_wide(vector, &mut vector_values)?;
        if reference.null_count() > 0 {
            reference.validity(vector, &mut valid)?;
        }
        let is_valid = |row: &usize| valid[row / 64] >> (row % 64) & 1 == 1;
        values.extend((0..rows).filter(is_valid).map(|row| vector_values[row]));
    }
    let (Some(&least), Some(&most)) = (values.iter().min(), values.iter().max()) else {
        return Ok(None);
    };
    let Some(span) = most.checked_sub(least).filter(|span| *span < KEY_SPAN_MAX) else {
        return Ok(None);
    };
    let mut is_present = vec![false; span as usize + 1];
    for value in values {
        is_present[(value - least) as usize] = true;
    }
    let keys = (least..=most)
        .zip(is_present)
        .filter(|(_, is_present)| *is_present);
    Ok(Some(keys.map(|(key, _)| key).collect()))
}

fn numbers_of(keys: &MapKeys, reference: &mut PlainSegment) -> Result<Vec<u32>, Corrupt> {
    let mut numbers = Vec::with_capacity(reference.row_count());
    let mut out = [0; VECTOR_VALUES];
    for vector in 0..reference.vector_count() {
        let rows = keys.numbers(reference, vector, keys.len() as u32, &mut out)?;
        numbers.extend_from_slice(&out[..rows]);
    }
    Ok(numbers)
}

fn map_of(input: &SegmentInput<'_>, numbers: &[u32], key_count: usize) -> Option<FunctionalMap> {
    let exceptions_max = numbers.len() / ROWS_PER_EXCEPTION_MIN;
    let find = |same: &dyn Fn(usize, usize) -> bool| match input.validity {
        None => functional_map(numbers, key_count, exceptions_max, same),
        Some(words) => functional_map(numbers, key_count, exceptions_max, |left, right| {
            match (is_valid(words, left), is_valid(words, right)) {
                (true, true) => same(left, right),
                (left, right) => left == right,
            }
        }),
    };
    match input.values {
        RowGroupValues::Bool(values) => find(&|left, right| values[left] == values[right]),
        RowGroupValues::Int16(values) => find(&|left, right| values[left] == values[right]),
        RowGroupValues::Int32(values) => find(&|left, right| values[left] == values[right]),
        RowGroupValues::Int64(values) => find(&|left, right| values[left] == values[right]),
        RowGroupValues::Int128(values) => find(&|left, right| values[left] == values[right]),
        RowGroupValues::Float32(values) => {
            find(&|left, right| values[left].to_bits() == values[right].to_bits())
        }
        RowGroupValues::Float64(values) => {
            find(&|left, right| values[left].to_bits() == values[right].to_bits())
        }
        RowGroupValues::Bytes(values) => find(&|left, right| values.get(left) == values.get(right)),
    }
}

/// A segment of the values of some rows; `None` for too many bytes of strings.
fn part(input: &SegmentInput<'_>, rows: &[u32]) -> Result<Option<(CodecId, Vec<u8>)>, EncodeError> {
    let Some(entries) = SegmentEntries::gather(&input.values, rows) else {
        return Ok(None);
    };
    let validity = input.validity.map(|words| {
        let mut gathered = vec![0_u64; rows.len().div_ceil(64)];
        for (entry, &row) in rows.iter().enumerate() {
            gathered[entry / 64] |= u64::from(is_valid(words, row as usize)) << (entry % 64);
        }
        gathered
    });
    let input = SegmentInput {
        values: entries.values(),
        validity: validity.as_deref(),
    };
    let (choice, image) = choose_and_encode(&input, &ChooseOptions::default())?;
    Ok(Some((choice.codec, image)))
}

fn integers(values: RowGroupValues<'_>) -> Result<Vec<u8>, EncodeError> {
    let input = SegmentInput {
        values,
        validity: None,
    };
    choose_and_encode(&input, &ChooseOptions::default()).map(|(_, image)| image)
}
