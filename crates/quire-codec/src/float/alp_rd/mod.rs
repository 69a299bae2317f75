//! ALP-RD: floating point numbers that are no decimals, cut in two (Afroozeh, Kuffo, Boncz, SIGMOD 2023, §3.4).
//!
//! Sign, exponent and the first bits of the mantissa are alike in many values: these left parts, of at most 16 bits,
//! are codes of a dictionary of at most 8. Left parts that are not in it are exceptions. The right parts, in which there
//! is nothing to be found, are packed as they are. Both are cut at the same bit in all vectors.
//!
//! # Payload
//!
//! | size | field |
//! |---|---|
//! | 1 | `r`, bits of a right part: 1 to 16 less than the value has |
//! | 1 | `n`, left parts in the dictionary, 1 to 8 |
//! | 2 · n | the left parts, all different |
//! | 1 | 1 if some vector has exceptions, else 0 |
//! | 2 · vectors | only if so: number of exceptions of each vector |
//! | … | the vectors, one after the other |
//!
//! A vector is the code of each row in ⌈log₂ n⌉ bits; the right part of each row in `r` bits; the positions of the
//! exceptions, 10 bits each, ascending; and their left parts, 2 bytes each. The code of an exception is 0. Codes and right
//! parts of a full vector are packed in FastLanes order ([`crate::kernel::bits`]), codes in lanes of 32 bits and right
//! parts as PFOR would pack them ([`crate::int`]). Those of a partial last vector, and positions, are bit streams.

mod decode;

pub use decode::AlpRdDecoder;

use super::floating::{Floating, as_bits};
use crate::int::bitstream::{self, stream_bytes};
use crate::int::element::PackedLane;
use crate::int::frame::POSITION_BITS;
use crate::kernel::bits;
use crate::{EncodeError, VECTOR_VALUES, vector_count};

/// Values looked at to find where to cut.
const SAMPLE_VALUES: usize = 1024;

/// Rows of a vector that are read one by one in less time than all are decoded: see [`super::FloatDecoder::few_rows`].
pub(super) const FEW_ROWS: usize = 4;

const LEFT_BITS_MAX: usize = 16;
const LEFTS_MAX: usize = 8;

/// Bits of the position and the left part of an exception.
const EXCEPTION_BITS: usize = POSITION_BITS + 16;

/// Not the code of a left part.
const NO_CODE: i32 = -1;

/// Where values are cut, and the frequent left parts.
#[derive(Clone, Debug)]
struct AlpRdCut {
    right_bits: usize,
    /// 1 to 8 of them, all different.
    lefts: Vec<u16>,
}

/// Bits of the code of one of `count` left parts.
const fn code_bits(count: usize) -> usize {
    count.next_power_of_two().trailing_zeros() as usize
}

/// The most frequent of sorted numbers without their lowest `right_bits`, most frequent first, and how often each
/// occurs; unused places have 0.
fn most_frequent(sorted: &[u64], right_bits: usize) -> [(usize, u16); LEFTS_MAX] {
    let mut most = [(0, 0); LEFTS_MAX];
    for run in sorted.chunk_by(|one, other| one >> right_bits == other >> right_bits) {
        if run.len() > most[LEFTS_MAX - 1].0 {
            let place = most.partition_point(|&(count, _)| count >= run.len());
            most[place..].rotate_right(1);
            most[place] = (run.len(), (run[0] >> right_bits) as u16);
        }
    }
    most
}

/// The cut that makes the sampled values smallest.
fn choose_cut<L: PackedLane>(values: &[L]) -> AlpRdCut {
    // An odd step, because what repeats often does so every power of two.
    let step = (values.len() / SAMPLE_VALUES) | 1;
    let mut sorted: Vec<u64> = values.iter().step_by(step).map(|one| one.bits()).collect();
    sorted.sort_unstable();
    let mut best = AlpRdCut {
        right_bits: L::BITS - 1,
        lefts: vec![0],
    };
    let mut best_cost = usize::MAX;
    for right_bits in L::BITS - LEFT_BITS_MAX..L::BITS {
        let most = most_frequent(&sorted, right_bits);
        for size in [1, 2, 4, LEFTS_MAX] {
            let frequent = most[..size].iter().filter(|(count, _)| *count > 0);
            let covered: usize = frequent.clone().map(|(count, _)| count).sum();
            let cost = sorted.len() * (right_bits + code_bits(size))
                + (sorted.len() - covered) * EXCEPTION_BITS;
            if covered > 0 && cost < best_cost {
                best_cost = cost;
                best = AlpRdCut {
                    right_bits,
                    lefts: frequent.map(|(_, left)| *left).collect(),
                };
            }
        }
    }
    best
}

impl AlpRdCut {
    /// Writes the code of each value of a vector; exceptions get code 0 and are returned.
    fn codes<L: PackedLane>(&self, vector: &[L], codes: &mut [i32; VECTOR_VALUES]) -> Vec<u16> {
        // Places beyond the left parts repeat the first, which is looked for last.
        let mut lefts = [i64::from(self.lefts[0]); LEFTS_MAX];
        for (place, left) in lefts.iter_mut().zip(&self.lefts) {
            *place = i64::from(*left);
        }
        let mut missing = 0;
        for (code, value) in codes.iter_mut().zip(vector) {
            let left = (value.bits() >> self.right_bits) as i64;
            *code = NO_CODE;
            for (place, one) in lefts.iter().enumerate().rev() {
                *code = if *one == left { place as i32 } else { *code };
            }
            missing += usize::from(*code == NO_CODE);
        }
        let mut exceptions = Vec::with_capacity(missing);
        if missing > 0 {
            for (row, code) in codes[..vector.len()].iter_mut().enumerate() {
                if *code == NO_CODE {
                    *code = 0;
                    exceptions.push(row as u16);
                }
            }
        }
        exceptions
    }

    /// Bytes of the codes and of the right parts of a vector.
    fn packed_bytes(&self, rows: usize) -> (usize, usize) {
        let codes = stream_bytes(rows, code_bits(self.lefts.len()));
        (codes, stream_bytes(rows, self.right_bits))
    }

    /// Bytes of a vector.
    fn vector_bytes(&self, rows: usize, exception_count: usize) -> usize {
        let (codes, rights) = self.packed_bytes(rows);
        codes + rights + stream_bytes(exception_count, POSITION_BITS) + 2 * exception_count
    }

    fn header_bytes(&self, vectors: usize, has_exceptions: bool) -> usize {
        3 + 2 * self.lefts.len() + if has_exceptions { 2 * vectors } else { 0 }
    }
}

/// Size of what [`encode`] writes.
pub(super) fn encoded_bytes<F: Floating>(values: &[F]) -> Result<usize, EncodeError> {
    EncodeError::check_rows(values.len())?;
    let values = as_bits(values);
    let cut = choose_cut(values);
    let mut codes = [0; VECTOR_VALUES];
    let (mut bytes, mut any) = (0, false);
    for vector in values.chunks(VECTOR_VALUES) {
        let exceptions = cut.codes(vector, &mut codes);
        bytes += cut.vector_bytes(vector.len(), exceptions.len());
        any |= !exceptions.is_empty();
    }
    Ok(cut.header_bytes(vector_count(values.len()), any) + bytes)
}

pub(super) fn encode<F: Floating>(values: &[F]) -> Result<Vec<u8>, EncodeError> {
    EncodeError::check_rows(values.len())?;
    let values = as_bits(values);
    let cut = choose_cut(values);
    let mut codes = [0; VECTOR_VALUES];
    let mut vectors = Vec::new();
    let mut counts = Vec::with_capacity(vector_count(values.len()));
    for vector in values.chunks(VECTOR_VALUES) {
        let exceptions = cut.codes(vector, &mut codes);
        append_vector(&cut, vector, &codes, &exceptions, &mut vectors);
        counts.push(exceptions.len() as u16);
    }
    let any = counts.iter().any(|&count| count > 0);
    let mut out = vec![cut.right_bits as u8, cut.lefts.len() as u8];
    out.reserve(cut.header_bytes(counts.len(), any) + vectors.len());
    let numbers = |out: &mut Vec<u8>, numbers: &[u16]| {
        out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    };
    numbers(&mut out, &cut.lefts);
    out.push(u8::from(any));
    if any {
        numbers(&mut out, &counts);
    }
    out.extend_from_slice(&vectors);
    Ok(out)
}

fn append_vector<L: PackedLane>(
    cut: &AlpRdCut,
    vector: &[L],
    codes: &[i32; VECTOR_VALUES],
    exceptions: &[u16],
    out: &mut Vec<u8>,
) {
    let code_bits = code_bits(cut.lefts.len());
    let (code_bytes, right_bytes) = cut.packed_bytes(vector.len());
    if let Ok(full) = <&[L; VECTOR_VALUES]>::try_from(vector) {
        let start = out.len();
        out.resize(start + code_bytes + right_bytes, 0);
        let (packed_codes, packed_rights) = out[start..].split_at_mut(code_bytes);
        bits::of_i32::pack(code_bits, codes, 0, packed_codes);
        L::pack(cut.right_bits, full, L::default(), packed_rights);
    } else {
        let codes = codes[..vector.len()].iter().map(|&code| code as u64);
        bitstream::append(codes, code_bits, out);
        bitstream::append(vector.iter().map(|one| one.bits()), cut.right_bits, out);
    }
    bitstream::append(exceptions.iter().map(|&row| row.into()), POSITION_BITS, out);
    for &row in exceptions {
        let left = (vector[usize::from(row)].bits() >> cut.right_bits) as u16;
        out.extend_from_slice(&left.to_le_bytes());
    }
}
