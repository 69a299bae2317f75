//! 128-bit integers, packed as 64-bit ones.
//!
//! | size | field |
//! |---|---|
//! | 1 | 0: every value fits 64 bits, and one 64-bit payload follows; 1: high and low halves follow |
//! | 4 | halves only: size of the payload of the high halves |
//! | … | payload of the values, or of the high halves (signed) and then of the low halves |

use super::element::Packed;
use super::line::LinearVector;
use super::scaled::ScaledDecoder;
use crate::{Corrupt, GROUP_VALUES, ImageCursor, VECTOR_VALUES};
use std::ops::Range;
use std::sync::Arc;

const NARROW: u8 = 0;
const HALVES: u8 = 1;

/// Decoder of PFOR and PFOR-DELTA payloads of 128-bit integers.
#[derive(Clone, Debug)]
pub enum WideDecoder {
    Narrow(ScaledDecoder<i64>),
    Halves {
        high: ScaledDecoder<i64>,
        low: ScaledDecoder<i64>,
    },
}

/// The values in 64 bits, if all fit.
fn narrowed(values: &[i128]) -> Option<Vec<i64>> {
    values
        .iter()
        .map(|&value| i64::try_from(value).ok())
        .collect()
}

fn halves(values: &[i128]) -> (Vec<i64>, Vec<i64>) {
    values
        .iter()
        .map(|&value| ((value >> 64) as i64, value as i64))
        .unzip()
}

impl Packed<i128> for WideDecoder {
    fn encoded_bytes(values: &[i128], delta: bool) -> usize {
        let part = |values: &[i64]| ScaledDecoder::encoded_bytes(values, delta);
        match narrowed(values) {
            Some(narrow) => 1 + part(&narrow),
            None => {
                let (high, low) = halves(values);
                5 + part(&high) + part(&low)
            }
        }
    }

    fn encode(values: &[i128], delta: bool, out: &mut Vec<u8>) {
        if let Some(narrow) = narrowed(values) {
            out.push(NARROW);
            ScaledDecoder::encode(&narrow, delta, out);
            return;
        }
        let (high, low) = halves(values);
        let mut high_payload = Vec::new();
        ScaledDecoder::encode(&high, delta, &mut high_payload);
        out.push(HALVES);
        out.extend_from_slice(&(high_payload.len() as u32).to_le_bytes());
        out.extend_from_slice(&high_payload);
        ScaledDecoder::encode(&low, delta, out);
    }

    fn open(
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
        delta: bool,
    ) -> Result<Self, Corrupt> {
        let end = payload.end;
        let mut cursor = ImageCursor::new(&image, payload)?;
        match cursor.u8("form of 128-bit values")? {
            NARROW => {
                let rest = cursor.position()..end;
                ScaledDecoder::open(image, rest, row_count, delta).map(Self::Narrow)
            }
            HALVES => {
                let high_bytes = cursor.u32("size of the high halves")? as usize;
                let high = cursor.take(high_bytes, "high halves")?;
                let low = cursor.position()..end;
                let high = ScaledDecoder::open(image.clone(), high, row_count, delta)?;
                let low = ScaledDecoder::open(image, low, row_count, delta)?;
                Ok(Self::Halves { high, low })
            }
            _ => Err(cursor.corrupt("form of 128-bit values is neither 0 nor 1")),
        }
    }

    fn decode_vector(
        &self,
        vector: usize,
        out: &mut [i128; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        let mut part = [0i64; VECTOR_VALUES];
        match self {
            Self::Narrow(values) => {
                let rows = values.decode_vector(vector, &mut part)?;
                for (value, part) in out.iter_mut().zip(&part) {
                    *value = i128::from(*part);
                }
                Ok(rows)
            }
            Self::Halves { high, low } => {
                high.decode_vector(vector, &mut part)?;
                for (value, part) in out.iter_mut().zip(&part) {
                    *value = i128::from(*part) << 64;
                }
                let rows = low.decode_vector(vector, &mut part)?;
                for (value, part) in out.iter_mut().zip(&part) {
                    *value |= i128::from(*part as u64);
                }
                Ok(rows)
            }
        }
    }

    fn value(&self, row: usize) -> Result<i128, Corrupt> {
        match self {
            Self::Narrow(values) => values.value(row).map(i128::from),
            Self::Halves { high, low } => {
                Ok(i128::from(high.value(row)?) << 64 | i128::from(low.value(row)? as u64))
            }
        }
    }

    fn decode_group(&self, group: usize, out: &mut [i128; GROUP_VALUES]) -> Result<usize, Corrupt> {
        let mut part = [0i64; GROUP_VALUES];
        match self {
            Self::Narrow(values) => {
                let rows = values.decode_group(group, &mut part)?;
                *out = part.map(i128::from);
                Ok(rows)
            }
            Self::Halves { high, low } => {
                high.decode_group(group, &mut part)?;
                *out = part.map(|high| i128::from(high) << 64);
                let rows = low.decode_group(group, &mut part)?;
                for (value, part) in out.iter_mut().zip(part) {
                    *value |= i128::from(part as u64);
                }
                Ok(rows)
            }
        }
    }

    fn line(&self, vector: usize) -> Result<Option<LinearVector<'_>>, Corrupt> {
        match self {
            Self::Narrow(values) => values.line(vector),
            Self::Halves { .. } => Ok(None),
        }
    }
}
