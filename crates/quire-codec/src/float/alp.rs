//! ALP: floating point numbers that were decimals once, stored as integers (Afroozeh, Kuffo, Boncz, "ALP:
//! Adaptive lossless floating-point compression", SIGMOD 2023).
//!
//! # The arithmetic, which is part of the format
//!
//! A vector has two exponents, `f ≤ e`. The value of an integer `d` (its digits) is
//!
//! ```text
//! value(d) = (binary64(d) · P[f]) · N[e]
//! ```
//!
//! where `binary64(d)` is `d` rounded to the nearest binary64, `P[k]` the binary64 nearest to 10^k and `N[k]`
//! the binary64 nearest to 10^−k; both products are binary64 products rounded to nearest even, in that order and
//! not fused. For 32-bit columns the result is then rounded to the nearest binary32. Nothing may be reordered,
//! fused or computed more precisely: the last bit would change. A value whose digits do not give back all of
//! its bits is an exception and its bits are stored. The encoder is free in how it finds `e`, `f` and `d`.
//!
//! # Payload
//!
//! | size | field |
//! |---|---|
//! | 4 | size of the digits |
//! | 4 · vectors | `e`, `f` (1 byte each), number of exceptions (2 bytes) |
//! | … | digits of each row, 64-bit integers or, for 32-bit columns, 32-bit ones ([`sequence`]); an exception repeats a neighbour |
//! | … | per vector: exception positions of 10 bits, then their bits, 8 or 4 bytes each |

use super::floating::{Floating, as_bits};
use crate::int::bitstream::{self, stream_bytes};
use crate::int::element::Element;
use crate::int::frame::{POSITION_BITS, bit_length};
use crate::int::sequence::{self, Sequence};
use crate::kernel::decimal::AlpScale;
use crate::{
    Corrupt, EncodeError, ImageCursor, ROWS_MAX, VECTOR_VALUES, vector_count, vector_rows,
};
use std::ops::Range;
use std::sync::Arc;

/// Vectors sampled for the exponents of a segment, values sampled of each, and exponents kept.
const SAMPLE_VECTORS: usize = 8;
const SAMPLE_VALUES: usize = 32;
const CANDIDATES_MAX: usize = 4;

/// Rows of a vector that are read one by one in less time than all are decoded: see [`super::FloatDecoder::few_rows`].
const FEW_ROWS: usize = 8;

/// 10^k for k ≤ 18.
const POWERS: [f64; 19] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18,
];

/// 10^−k for k ≤ 18.
const INVERSE_POWERS: [f64; 19] = [
    1e-0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14,
    1e-15, 1e-16, 1e-17, 1e-18,
];

/// The two exponents of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct Exponents {
    e: u8,
    f: u8,
}

impl Exponents {
    fn scale(self) -> AlpScale {
        let (e, f) = (usize::from(self.e), usize::from(self.f));
        AlpScale {
            up: POWERS[e],
            up_inverse: INVERSE_POWERS[e],
            down: POWERS[f],
            down_inverse: INVERSE_POWERS[f],
        }
    }

    fn all<F: Floating>() -> impl Iterator<Item = Self> {
        (0..=F::EXPONENT_MAX as u8).flat_map(|e| (0..=e).map(move |f| Self { e, f }))
    }
}

/// Every `n`-th value, about [`SAMPLE_VALUES`] of them.
fn sample<F: Floating>(vector: &[F]) -> Vec<F> {
    let step = vector.len().div_ceil(SAMPLE_VALUES).max(1);
    vector.iter().step_by(step).copied().collect()
}

/// Bits the values would take with these exponents.
fn cost_bits<F: Floating>(values: &[F], exponents: Exponents) -> usize {
    let scale = exponents.scale();
    let mut digits = [F::Bits::default(); SAMPLE_VALUES];
    let digits = &mut digits[..values.len()];
    let failed = F::encode_digits(values, &scale, digits);
    let good = digits.iter().zip(values).filter(|(digits, value)| {
        failed == 0 || bits_of(F::decode_one(**digits, &scale)) == bits_of(**value)
    });
    let (mut low, mut high) = (None, None);
    for (&digits, _) in good {
        low = Some(low.map_or(digits, |low: F::Bits| low.min(digits)));
        high = Some(high.map_or(digits, |high: F::Bits| high.max(digits)));
    }
    let width = low
        .zip(high)
        .map_or(0, |(low, high)| bit_length(F::distance(low, high)));
    failed * (F::Bits::BYTES * 8 + POSITION_BITS) + values.len() * width
}

fn bits_of<F: Floating>(value: F) -> F::Bits {
    bytemuck::cast(value)
}

/// The exponents that serve the sampled vectors best, most frequent first.
fn candidates<F: Floating>(values: &[F]) -> Vec<Exponents> {
    let step = vector_count(values.len()).div_ceil(SAMPLE_VECTORS).max(1);
    let mut votes: Vec<(Exponents, usize)> = Vec::new();
    for vector in values.chunks(VECTOR_VALUES).step_by(step) {
        let values = sample(vector);
        let best = Exponents::all::<F>().min_by_key(|&one| cost_bits(&values, one));
        let best = best.unwrap_or_default();
        match votes.iter_mut().find(|vote| vote.0 == best) {
            Some(vote) => vote.1 += 1,
            None => votes.push((best, 1)),
        }
    }
    votes.sort_by_key(|vote| std::cmp::Reverse(vote.1));
    votes.truncate(CANDIDATES_MAX);
    votes.into_iter().map(|vote| vote.0).collect()
}

fn exponents_of<F: Floating>(vector: &[F], candidates: &[Exponents]) -> Exponents {
    match candidates {
        [] => Exponents::default(),
        [one] => *one,
        several => {
            let values = sample(vector);
            let best = several.iter().min_by_key(|&&one| cost_bits(&values, one));
            best.copied().unwrap_or_default()
        }
    }
}

/// A column as it will be stored.
struct PlannedAlp<F: Floating> {
    digits: Vec<F::Bits>,
    /// Exponents and positions of the exceptions of each vector.
    vectors: Vec<(Exponents, Vec<u16>)>,
}

fn plan<F: Floating>(values: &[F]) -> PlannedAlp<F> {
    let candidates = candidates(values);
    let mut digits = vec![F::Bits::default(); values.len()];
    let mut vectors = Vec::with_capacity(vector_count(values.len()));
    for (vector, digits) in values
        .chunks(VECTOR_VALUES)
        .zip(digits.chunks_mut(VECTOR_VALUES))
    {
        let exponents = exponents_of(vector, &candidates);
        let scale = exponents.scale();
        let failed = F::encode_digits(vector, &scale, digits);
        let exceptions = match failed {
            0 => Vec::new(),
            _ => take_exceptions(vector, &scale, digits),
        };
        assert_eq!(exceptions.len(), failed, "exceptions of a vector");
        vectors.push((exponents, exceptions));
    }
    PlannedAlp { digits, vectors }
}

/// Positions of the values that do not come back, whose digits become those of a neighbour.
fn take_exceptions<F: Floating>(
    vector: &[F],
    scale: &AlpScale,
    digits: &mut [F::Bits],
) -> Vec<u16> {
    let back = |digits: F::Bits, value: F| bits_of(F::decode_one(digits, scale)) == bits_of(value);
    let first = vector
        .iter()
        .zip(&*digits)
        .find(|&(&value, &digits)| back(digits, value));
    let mut neighbour = first.map(|(_, &digits)| digits).unwrap_or_default();
    let mut exceptions = Vec::new();
    for (row, (&value, digits)) in vector.iter().zip(digits).enumerate() {
        if back(*digits, value) {
            neighbour = *digits;
        } else {
            *digits = neighbour;
            exceptions.push(row as u16);
        }
    }
    exceptions
}

fn exception_bytes<F: Floating>(count: usize) -> usize {
    stream_bytes(count, POSITION_BITS) + count * F::Bits::BYTES
}

/// Size of what [`encode`] writes.
pub(super) fn encoded_bytes<F: Floating>(values: &[F]) -> Result<usize, EncodeError> {
    EncodeError::check_rows(values.len())?;
    let planned = plan(values);
    let exceptions = planned
        .vectors
        .iter()
        .map(|(_, rows)| exception_bytes::<F>(rows.len()));
    let directory = 4 + 4 * planned.vectors.len();
    Ok(directory + sequence::encoded_bytes(&planned.digits) + exceptions.sum::<usize>())
}

pub(super) fn encode<F: Floating>(values: &[F]) -> Result<Vec<u8>, EncodeError> {
    EncodeError::check_rows(values.len())?;
    let planned = plan(values);
    let mut digits = Vec::new();
    sequence::append(&planned.digits, &mut digits);
    let mut out = Vec::new();
    out.extend_from_slice(&(digits.len() as u32).to_le_bytes());
    for (exponents, exceptions) in &planned.vectors {
        out.extend_from_slice(&[exponents.e, exponents.f]);
        out.extend_from_slice(&(exceptions.len() as u16).to_le_bytes());
    }
    out.extend_from_slice(&digits);
    for (vector, (_, exceptions)) in as_bits(values).chunks(VECTOR_VALUES).zip(&planned.vectors) {
        bitstream::append(
            exceptions.iter().map(|&row| row.into()),
            POSITION_BITS,
            &mut out,
        );
        exceptions
            .iter()
            .for_each(|&row| vector[usize::from(row)].append(&mut out));
    }
    Ok(out)
}

/// One vector of an open payload.
#[derive(Clone, Copy, Debug)]
struct AlpVector {
    exponents: Exponents,
    exception_count: usize,
    /// Offset of the exception positions in the image.
    offset: usize,
}

/// Decoder of an ALP payload.
#[derive(Clone, Debug)]
pub struct AlpDecoder<F: Floating> {
    image: Arc<[u8]>,
    entries: Vec<AlpVector>,
    digits: Sequence<F::Bits>,
}

impl<F: Floating> AlpDecoder<F> {
    pub(super) fn open(
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
    ) -> Result<Self, Corrupt> {
        let mut cursor = ImageCursor::new(&image, payload)?;
        if row_count > ROWS_MAX {
            return Err(cursor.corrupt("more rows than a segment can hold"));
        }
        let digit_bytes = cursor.u32("size of the digits")? as usize;
        let mut entries = Vec::with_capacity(vector_count(row_count));
        for vector in 0..vector_count(row_count) {
            let (e, f) = (cursor.u8("exponent")?, cursor.u8("factor")?);
            let exception_count = usize::from(cursor.u16("exceptions of a vector")?);
            if usize::from(e) > F::EXPONENT_MAX || f > e {
                return Err(cursor.corrupt("exponents are out of range"));
            }
            if exception_count > vector_rows(row_count, vector) {
                return Err(cursor.corrupt("more exceptions than rows"));
            }
            entries.push(AlpVector {
                exponents: Exponents { e, f },
                exception_count,
                offset: 0,
            });
        }
        let digits = cursor.take(digit_bytes, "digits")?;
        for entry in &mut entries {
            let bytes = exception_bytes::<F>(entry.exception_count);
            entry.offset = cursor.take(bytes, "exceptions")?.start;
        }
        cursor.finish("exceptions")?;
        let digits = Sequence::open(image.clone(), digits, row_count)?;
        Ok(Self {
            image,
            entries,
            digits,
        })
    }

    fn entry(&self, vector: usize) -> Result<&AlpVector, Corrupt> {
        self.entries
            .get(vector)
            .ok_or_else(|| Corrupt::new("vector is beyond the segment", 0))
    }

    /// Position and bits of each exception.
    fn exceptions(&self, entry: &AlpVector) -> impl Iterator<Item = (usize, F::Bits)> {
        let positions = self.image.get(entry.offset..).unwrap_or_default();
        let bits_start = entry.offset + stream_bytes(entry.exception_count, POSITION_BITS);
        let bits = self.image.get(bits_start..).unwrap_or_default();
        let bits = bits.chunks_exact(F::Bits::BYTES).map(F::Bits::read);
        let rows = (0..entry.exception_count)
            .map(|index| bitstream::get(positions, POSITION_BITS, index) as usize);
        rows.zip(bits)
            .map(|(row, bits)| (row, bits.unwrap_or_default()))
    }

    pub(super) fn decode_vector(
        &self,
        vector: usize,
        out: &mut [F; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        let entry = self.entry(vector)?;
        let mut digits = [F::Bits::default(); VECTOR_VALUES];
        let rows = self.digits.decode_vector(vector, &mut digits)?;
        F::decode_digits(&digits, &entry.exponents.scale(), out);
        let mut earliest = 0;
        for (row, bits) in self.exceptions(entry) {
            let value = out[..rows]
                .get_mut(row)
                .filter(|_| row >= earliest)
                .ok_or_else(|| {
                    Corrupt::new(
                        "exception positions do not ascend within the vector",
                        entry.offset,
                    )
                })?;
            *value = bytemuck::cast(bits);
            earliest = row + 1;
        }
        Ok(rows)
    }

    /// See [`super::FloatDecoder::few_rows`]. Digits that are differences, or in blocks, cost those before them.
    pub(super) fn few_rows(&self) -> usize {
        if self.digits.reads_single_values() {
            FEW_ROWS
        } else {
            0
        }
    }

    pub(super) fn value(&self, row: usize) -> Result<F, Corrupt> {
        let entry = self.entry(row / VECTOR_VALUES)?;
        let digits = self.digits.value(row)?;
        let exception = self
            .exceptions(entry)
            .find(|(at, _)| *at == row % VECTOR_VALUES);
        Ok(match exception {
            Some((_, bits)) => bytemuck::cast(bits),
            None => F::decode_one(digits, &entry.exponents.scale()),
        })
    }
}
