//! The payload of a column of floating point numbers.
//!
//! Every codec gives back every bit: NaN payloads, −0.0, infinities and subnormals included. Plain, constant,
//! RLE and dictionary hold the numbers as the integers with the same bits ([`crate::fixed`]); ALP holds them as
//! decimals (`alp`), and ALP-RD cuts them in two (`alp_rd`). PDICT and sparse are as for integers.

mod alp;
mod alp_rd;
mod floating;

pub use floating::Floating;
pub(crate) use floating::as_bits;

use crate::fixed::{self, FixedDecoder};
use crate::{CodecId, Corrupt, EncodeError, VECTOR_VALUES};
use alp::AlpDecoder;
use alp_rd::AlpRdDecoder;
use std::ops::Range;
use std::sync::Arc;

/// Names the floating point type where the integers beneath named theirs.
fn of_float<F: Floating>(error: EncodeError) -> EncodeError {
    match error {
        EncodeError::Unsupported { codec, .. } => EncodeError::Unsupported {
            codec,
            physical_type: F::PHYSICAL_TYPE,
        },
        other => other,
    }
}

fn check<F: Floating>(codec: CodecId) -> Result<(), EncodeError> {
    if codec.supports(F::PHYSICAL_TYPE) {
        Ok(())
    } else {
        Err(EncodeError::Unsupported {
            codec,
            physical_type: F::PHYSICAL_TYPE,
        })
    }
}

/// Encodes `values`, at most [`crate::ROWS_MAX`] of them.
///
/// # Errors
/// Too many rows, a codec that floats do not have, or [`CodecId::Constant`] for bits that differ.
pub fn encode<F: Floating>(codec: CodecId, values: &[F]) -> Result<Vec<u8>, EncodeError> {
    check::<F>(codec)?;
    match codec {
        CodecId::Alp => alp::encode(values),
        CodecId::AlpRd => alp_rd::encode(values),
        _ => fixed::encode(codec, as_bits(values)).map_err(of_float::<F>),
    }
}

/// Size of [`encode`]'s result, which is not written. Fails when `encode` would.
pub fn encoded_bytes<F: Floating>(codec: CodecId, values: &[F]) -> Result<usize, EncodeError> {
    check::<F>(codec)?;
    match codec {
        CodecId::Alp => alp::encoded_bytes(values),
        CodecId::AlpRd => alp_rd::encoded_bytes(values),
        _ => fixed::encoded_bytes(codec, as_bits(values)).map_err(of_float::<F>),
    }
}

/// Decoder of the payloads that [`encode`] writes.
#[derive(Clone, Debug)]
pub enum FloatDecoder<F: Floating> {
    Bits(FixedDecoder<F::Bits>),
    Alp(AlpDecoder<F>),
    AlpRd(AlpRdDecoder<F>),
}

impl<F: Floating> FloatDecoder<F> {
    /// Opens the payload of `row_count` values in `image[payload]`.
    pub fn open(
        codec: CodecId,
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
    ) -> Result<Self, Corrupt> {
        if !codec.supports(F::PHYSICAL_TYPE) {
            return Err(Corrupt::new(
                format!("codec {codec} does not hold floats"),
                payload.start,
            ));
        }
        match codec {
            CodecId::Alp => AlpDecoder::open(image, payload, row_count).map(Self::Alp),
            CodecId::AlpRd => AlpRdDecoder::open(image, payload, row_count).map(Self::AlpRd),
            _ => FixedDecoder::open(codec, image, payload, row_count).map(Self::Bits),
        }
    }

    /// Decodes vector `vector` and returns its rows; `out` beyond them is arbitrary.
    pub fn decode_vector(
        &mut self,
        vector: usize,
        out: &mut [F; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        match self {
            Self::Bits(decoder) => decoder.decode_vector(vector, bytemuck::cast_mut(out)),
            Self::Alp(decoder) => decoder.decode_vector(vector, out),
            Self::AlpRd(decoder) => decoder.decode_vector(vector, out),
        }
    }

    /// The value of row `row`, decoding at most its vector.
    pub fn value(&mut self, row: usize) -> Result<F, Corrupt> {
        match self {
            Self::Bits(decoder) => decoder.value(row).map(bytemuck::cast),
            Self::Alp(decoder) => decoder.value(row),
            Self::AlpRd(decoder) => decoder.value(row),
        }
    }

    /// Rows of a vector up to which reading each by [`FloatDecoder::value`] takes less time than decoding all; 0 if it never does.
    pub fn few_rows(&self) -> usize {
        match self {
            Self::Bits(decoder) => decoder.few_rows(),
            Self::Alp(decoder) => decoder.few_rows(),
            Self::AlpRd(_) => alp_rd::FEW_ROWS,
        }
    }

    /// As [`FloatDecoder::few_rows`], of codes.
    pub fn few_codes(&self) -> usize {
        match self {
            Self::Bits(decoder) => decoder.few_codes(),
            Self::Alp(_) | Self::AlpRd(_) => 0,
        }
    }

    /// The code of row `row`, below the length of the dictionary.
    ///
    /// # Errors
    /// The codec is not [`CodecId::Dictionary`], there is no such row, or wrong bytes.
    pub fn code(&self, row: usize) -> Result<u32, Corrupt> {
        match self {
            Self::Bits(decoder) => decoder.code(row),
            Self::Alp(_) | Self::AlpRd(_) => Err(Corrupt::new("segment has no dictionary", 0)),
        }
    }

    /// The bits of the distinct values in code order; `None` unless the codec is [`CodecId::Dictionary`].
    pub fn dictionary(&self) -> Option<&[F]> {
        match self {
            Self::Bits(decoder) => decoder.dictionary().map(bytemuck::cast_slice),
            Self::Alp(_) | Self::AlpRd(_) => None,
        }
    }

    /// The codes of vector `vector`, each below the length of the dictionary, and its rows.
    pub fn decode_codes(
        &self,
        vector: usize,
        out: &mut [u32; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        match self {
            Self::Bits(decoder) => decoder.decode_codes(vector, out),
            Self::Alp(_) | Self::AlpRd(_) => Err(Corrupt::new("segment has no dictionary", 0)),
        }
    }
}
