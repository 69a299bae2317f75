//! The payload of a column of fixed-width values.
//!
//! Integers come as they are; a float column other than ALP and ALP-RD comes as the integers with the same bits, which
//! [`crate::float`] arranges. Codecs: plain, constant, RLE, PFOR, PFOR-DELTA, dictionary, PDICT, sparse.

mod aside;
mod dictionary;
mod few_rows;
mod fused;
mod pdict;
mod rle;
mod sparse;

use crate::int::element::{Element, Packed};
use crate::{CodecId, Corrupt, EncodeError, ImageCursor, ROWS_MAX, VECTOR_VALUES, vector_rows};
use dictionary::FixedDictionaryDecoder;
pub(crate) use dictionary::{Interned, intern};
pub(crate) use fused::clear_beyond;
use pdict::PdictDecoder;
pub(crate) use pdict::bytes_with_rows_aside;
use rle::RleDecoder;
pub(crate) use rle::encoded_bytes as rle_bytes;
use sparse::SparseDecoder;
pub(crate) use sparse::{dominant, encoded_bytes as sparse_bytes};
use std::ops::Range;
use std::sync::Arc;

fn unsupported<E: Element>(codec: CodecId) -> EncodeError {
    EncodeError::Unsupported {
        codec,
        physical_type: E::PHYSICAL_TYPE,
    }
}

/// Encodes `values`, at most [`ROWS_MAX`] of them.
///
/// # Errors
/// Too many rows, a codec that integers do not have, or [`CodecId::Constant`] for values that differ.
pub fn encode<E: Element>(codec: CodecId, values: &[E]) -> Result<Vec<u8>, EncodeError> {
    EncodeError::check_rows(values.len())?;
    let mut out = Vec::new();
    match codec {
        CodecId::Plain => {
            out.reserve(values.len() * E::BYTES);
            values.iter().for_each(|value| value.append(&mut out));
        }
        CodecId::Constant => constant_value(values)?.append(&mut out),
        CodecId::Rle => rle::encode(values, &mut out),
        CodecId::Pfor => E::Packed::encode(values, false, &mut out),
        CodecId::PforDelta => E::Packed::encode(values, true, &mut out),
        CodecId::Dictionary => dictionary::encode(values, &mut out),
        CodecId::Pdict => pdict::encode(values, &mut out),
        CodecId::Sparse => sparse::encode(values, &mut out),
        _ => return Err(unsupported::<E>(codec)),
    }
    Ok(out)
}

/// Size of [`encode`]'s result, which is not written. Fails when `encode` would.
pub fn encoded_bytes<E: Element>(codec: CodecId, values: &[E]) -> Result<usize, EncodeError> {
    EncodeError::check_rows(values.len())?;
    match codec {
        CodecId::Plain => Ok(values.len() * E::BYTES),
        CodecId::Constant => constant_value(values).map(|_| E::BYTES),
        CodecId::Rle => Ok(rle::encoded_bytes(values)),
        CodecId::Pfor => Ok(E::Packed::encoded_bytes(values, false)),
        CodecId::PforDelta => Ok(E::Packed::encoded_bytes(values, true)),
        CodecId::Dictionary => Ok(dictionary::encoded_bytes(values)),
        CodecId::Pdict => Ok(pdict::encoded_bytes(values)),
        CodecId::Sparse => Ok(sparse::encoded_bytes(values)),
        _ => Err(unsupported::<E>(codec)),
    }
}

fn constant_value<E: Element>(values: &[E]) -> Result<E, EncodeError> {
    let first = values.first().copied().unwrap_or_default();
    if values.iter().all(|&value| value == first) {
        Ok(first)
    } else {
        Err(EncodeError::NotConstant)
    }
}

/// Decoder of the payloads that [`encode`] writes.
#[derive(Clone, Debug)]
pub struct FixedDecoder<E: Element> {
    row_count: usize,
    /// PFOR-DELTA.
    is_delta: bool,
    scheme: FixedScheme<E>,
}

#[derive(Clone, Debug)]
enum FixedScheme<E: Element> {
    Plain(Arc<[u8]>, Range<usize>),
    Constant(E),
    Rle(Box<RleDecoder<E>>),
    Packed(E::Packed),
    Dictionary(Box<FixedDictionaryDecoder<E>>),
    Pdict(Box<PdictDecoder<E>>),
    Sparse(Box<SparseDecoder<E>>),
}

impl<E: Element> FixedDecoder<E> {
    /// Opens the payload of `row_count` values in `image[payload]`.
    pub fn open(
        codec: CodecId,
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
    ) -> Result<Self, Corrupt> {
        let start = payload.start;
        if row_count > ROWS_MAX {
            return Err(Corrupt::new("more rows than a segment can hold", start));
        }
        let scheme = match codec {
            CodecId::Plain => open_plain::<E>(image, payload, row_count)?,
            CodecId::Constant => FixedScheme::Constant(read_constant(&image, payload)?),
            CodecId::Rle => {
                FixedScheme::Rle(Box::new(RleDecoder::open(image, payload, row_count)?))
            }
            CodecId::Pfor => {
                FixedScheme::Packed(E::Packed::open(image, payload, row_count, false)?)
            }
            CodecId::PforDelta => {
                FixedScheme::Packed(E::Packed::open(image, payload, row_count, true)?)
            }
            CodecId::Dictionary => FixedScheme::Dictionary(Box::new(FixedDictionaryDecoder::open(
                image, payload, row_count,
            )?)),
            CodecId::Pdict => {
                FixedScheme::Pdict(Box::new(PdictDecoder::open(image, payload, row_count)?))
            }
            CodecId::Sparse => {
                FixedScheme::Sparse(Box::new(SparseDecoder::open(image, payload, row_count)?))
            }
            _ => {
                return Err(Corrupt::new(
                    format!("codec {codec} does not hold integers"),
                    start,
                ));
            }
        };
        Ok(Self {
            row_count,
            is_delta: codec == CodecId::PforDelta,
            scheme,
        })
    }

    /// Decodes vector `vector` and returns its rows; `out` beyond them is arbitrary.
    #[inline]
    pub fn decode_vector(
        &mut self,
        vector: usize,
        out: &mut [E; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        let rows = vector_rows(self.row_count, vector);
        if rows == 0 {
            return Err(Corrupt::new("vector is beyond the segment", 0));
        }
        match &mut self.scheme {
            FixedScheme::Plain(image, payload) => {
                let start = payload.start + vector * VECTOR_VALUES * E::BYTES;
                let bytes = image
                    .get(start..start + rows * E::BYTES)
                    .unwrap_or_default();
                E::read_all(bytes, out);
            }
            FixedScheme::Constant(value) => out.fill(*value),
            FixedScheme::Rle(decoder) => decoder.decode_vector(vector, rows, out)?,
            FixedScheme::Packed(decoder) => return decoder.decode_vector(vector, out),
            FixedScheme::Dictionary(decoder) => return decoder.decode_vector(vector, out),
            FixedScheme::Pdict(decoder) => return decoder.decode_vector(vector, out),
            FixedScheme::Sparse(decoder) => decoder.decode_vector(vector, out)?,
        }
        Ok(rows)
    }

    /// Calls `take` with the value and the length, at least 1, of each run of equal values of a vector; the lengths add up to its rows. `false`,
    /// and no call, unless the codec is [`CodecId::Rle`].
    pub fn for_each_run(
        &mut self,
        vector: usize,
        mut take: impl FnMut(E, usize),
    ) -> Result<bool, Corrupt> {
        let rows = vector_rows(self.row_count, vector);
        let FixedScheme::Rle(decoder) = &mut self.scheme else {
            return Ok(false);
        };
        decoder.for_each_run(vector, rows, |value, length| {
            take(value, length);
            Ok(())
        })?;
        Ok(true)
    }

    /// The value of row `row`, decoding at most its vector.
    #[inline]
    pub fn value(&mut self, row: usize) -> Result<E, Corrupt> {
        if row >= self.row_count {
            return Err(Corrupt::new("row is beyond the segment", 0));
        }
        match &mut self.scheme {
            FixedScheme::Plain(image, payload) => {
                let start = payload.start + row * E::BYTES;
                let bytes = image.get(start..payload.end).unwrap_or_default();
                E::read(bytes).ok_or_else(|| Corrupt::new("plain values are cut short", start))
            }
            FixedScheme::Constant(value) => Ok(*value),
            FixedScheme::Rle(decoder) => {
                decoder.value(row, vector_rows(self.row_count, row / 1024))
            }
            FixedScheme::Packed(decoder) => decoder.value(row),
            FixedScheme::Dictionary(decoder) => decoder.value(row),
            FixedScheme::Pdict(decoder) => decoder.value(row),
            FixedScheme::Sparse(decoder) => decoder.value(row),
        }
    }

    /// The distinct values in code order; `None` unless the codec is [`CodecId::Dictionary`]: under
    /// [`CodecId::Pdict`] some values have no code.
    pub fn dictionary(&self) -> Option<&[E]> {
        match &self.scheme {
            FixedScheme::Dictionary(decoder) => Some(decoder.values()),
            _ => None,
        }
    }

    /// The codes of vector `vector`, each below the length of the dictionary, and its rows.
    pub fn decode_codes(
        &self,
        vector: usize,
        out: &mut [u32; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        match &self.scheme {
            FixedScheme::Dictionary(decoder) => decoder.decode_codes(vector, out),
            _ => Err(no_dictionary()),
        }
    }
}

fn no_dictionary() -> Corrupt {
    Corrupt::new("segment has no dictionary of all its values", 0)
}

fn open_plain<E: Element>(
    image: Arc<[u8]>,
    payload: Range<usize>,
    row_count: usize,
) -> Result<FixedScheme<E>, Corrupt> {
    let mut cursor = ImageCursor::new(&image, payload.clone())?;
    cursor.take(row_count * E::BYTES, "plain values")?;
    cursor.finish("plain values")?;
    Ok(FixedScheme::Plain(image, payload))
}

fn read_constant<E: Element>(image: &[u8], payload: Range<usize>) -> Result<E, Corrupt> {
    let mut cursor = ImageCursor::new(image, payload)?;
    let bytes = cursor.bytes(E::BYTES, "constant value")?;
    let value = E::read(bytes).ok_or_else(|| cursor.corrupt("constant value is cut short"))?;
    cursor.finish("constant value")?;
    Ok(value)
}
