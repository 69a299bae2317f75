//! The values of a map segment, decoded.

use quire_codec::{BytesVector, CodecScalar, Corrupt, PhysicalType, RowGroupValues};

use super::plain::PlainSegment;

/// Bytes of the strings of a map, in memory. Encoders make none that has more, decoders call more corrupt.
pub(super) const ENTRY_BYTES_MAX: usize = 16 << 20;

/// An equal value is sought in one of so many places, a power of two.
const SOUGHT_PLACES: usize = 1 << 10;

/// An odd number whose bits are mixed: 2^64 over the golden ratio.
const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Values of one type.
#[derive(Debug)]
pub(super) enum SegmentEntries {
    Bool(Vec<bool>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int128(Vec<i128>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Bytes(BytesVector),
}

impl SegmentEntries {
    /// No values.
    pub(super) fn new(physical_type: PhysicalType) -> Self {
        match physical_type {
            PhysicalType::Bool => Self::Bool(Vec::new()),
            PhysicalType::Int16 => Self::Int16(Vec::new()),
            PhysicalType::Int32 => Self::Int32(Vec::new()),
            PhysicalType::Int64 => Self::Int64(Vec::new()),
            PhysicalType::Int128 => Self::Int128(Vec::new()),
            PhysicalType::Float32 => Self::Float32(Vec::new()),
            PhysicalType::Float64 => Self::Float64(Vec::new()),
            PhysicalType::Bytes => Self::Bytes(BytesVector::new()),
        }
    }

    /// The values of some rows; `None` for more than [`ENTRY_BYTES_MAX`] of strings.
    pub(super) fn gather(values: &RowGroupValues<'_>, rows: &[u32]) -> Option<Self> {
        fn of<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
            rows.iter().map(|&row| values[row as usize]).collect()
        }
        Some(match values {
            RowGroupValues::Bool(values) => Self::Bool(of(values, rows)),
            RowGroupValues::Int16(values) => Self::Int16(of(values, rows)),
            RowGroupValues::Int32(values) => Self::Int32(of(values, rows)),
            RowGroupValues::Int64(values) => Self::Int64(of(values, rows)),
            RowGroupValues::Int128(values) => Self::Int128(of(values, rows)),
            RowGroupValues::Float32(values) => Self::Float32(of(values, rows)),
            RowGroupValues::Float64(values) => Self::Float64(of(values, rows)),
            RowGroupValues::Bytes(values) => {
                let mut gathered = BytesVector::new();
                for &row in rows {
                    let value = values.get(row as usize);
                    if gathered.data.len() + value.len() > ENTRY_BYTES_MAX {
                        return None;
                    }
                    gathered.push(value).ok()?;
                }
                Self::Bytes(gathered)
            }
        })
    }

    /// Appends all values of a segment, which has the type.
    pub(super) fn append(&mut self, segment: &mut PlainSegment) -> Result<(), Corrupt> {
        fn of<T: Copy + Default>(
            entries: &mut Vec<T>,
            segment: &mut PlainSegment,
            decode: fn(&mut PlainSegment, usize, &mut [T; 1024]) -> Result<usize, Corrupt>,
        ) -> Result<(), Corrupt> {
            let mut values = [T::default(); 1024];
            for vector in 0..segment.vector_count() {
                let rows = decode(segment, vector, &mut values)?;
                entries.extend_from_slice(values.get(..rows).unwrap_or_default());
            }
            Ok(())
        }
        match self {
            Self::Bool(entries) => of(entries, segment, PlainSegment::decode_bool),
            Self::Int16(entries) => of(entries, segment, PlainSegment::decode_i16),
            Self::Int32(entries) => of(entries, segment, PlainSegment::decode_i32),
            Self::Int64(entries) => of(entries, segment, PlainSegment::decode_i64),
            Self::Int128(entries) => of(entries, segment, PlainSegment::decode_i128),
            Self::Float32(entries) => of(entries, segment, PlainSegment::decode_f32),
            Self::Float64(entries) => of(entries, segment, PlainSegment::decode_f64),
            Self::Bytes(entries) => {
                for vector in 0..segment.vector_count() {
                    segment.decode_bytes(vector, entries)?;
                    if entries.data.len() > ENTRY_BYTES_MAX {
                        return Err(Corrupt::new("strings of a map pass 16 MiB", 0));
                    }
                }
                Ok(())
            }
        }
    }

    /// Leaves out most values that repeat an earlier one, none of the first `kept`, and returns the code of each value
    /// among those that stay. Only the last value that was to be found in the same place is compared, so that this costs
    /// little beside decoding.
    pub(super) fn leave_out_repeats(&mut self, kept: usize, validity: &mut Vec<bool>) -> Vec<u32> {
        let values = self.values();
        let mut staying: Vec<u32> = Vec::new();
        let mut codes = Vec::with_capacity(values.len());
        let mut last = vec![u32::MAX; SOUGHT_PLACES];
        for (value, &is_valid) in validity.iter().enumerate().take(values.len()) {
            let hash = if is_valid { hash(&values, value) } else { 0 };
            let place = hash.wrapping_mul(MIXER) >> (u64::BITS - SOUGHT_PLACES.trailing_zeros());
            let last = &mut last[place as usize];
            let is_repeated = staying.get(*last as usize).is_some_and(|&other| {
                let other = other as usize;
                validity[other] == is_valid && (!is_valid || is_same(&values, value, other))
            });
            if !is_repeated || value < kept {
                *last = staying.len() as u32;
                staying.push(value as u32);
            }
            codes.push(*last);
        }
        if staying.len() < values.len()
            && let Some(left) = Self::gather(&values, &staying)
        {
            *self = left;
            *validity = staying.iter().map(|&one| validity[one as usize]).collect();
            return codes;
        }
        (0..self.len() as u32).collect()
    }

    /// The value of a code, an integer of 16 to 64 bits.
    pub(super) fn integer(&self, code: u32) -> Option<i64> {
        let at = code as usize;
        match self {
            Self::Int16(values) => values.get(at).map(|&value| value.into()),
            Self::Int32(values) => values.get(at).map(|&value| value.into()),
            Self::Int64(values) => values.get(at).copied(),
            _ => None,
        }
    }

    pub(super) fn values(&self) -> RowGroupValues<'_> {
        match self {
            Self::Bool(values) => RowGroupValues::Bool(values),
            Self::Int16(values) => RowGroupValues::Int16(values),
            Self::Int32(values) => RowGroupValues::Int32(values),
            Self::Int64(values) => RowGroupValues::Int64(values),
            Self::Int128(values) => RowGroupValues::Int128(values),
            Self::Float32(values) => RowGroupValues::Float32(values),
            Self::Float64(values) => RowGroupValues::Float64(values),
            Self::Bytes(values) => RowGroupValues::Bytes(values.as_slice()),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.values().len()
    }

    /// The value of a code, of any type; `None` beyond the last.
    pub(super) fn scalar(&self, code: u32) -> Option<CodecScalar> {
        let code = code as usize;
        match self {
            Self::Bool(values) => values.get(code).copied().map(CodecScalar::Bool),
            Self::Int16(values) => values.get(code).copied().map(CodecScalar::Int16),
            Self::Int32(values) => values.get(code).copied().map(CodecScalar::Int32),
            Self::Int64(values) => values.get(code).copied().map(CodecScalar::Int64),
            Self::Int128(values) => values.get(code).copied().map(CodecScalar::Int128),
            Self::Float32(values) => values.get(code).copied().map(CodecScalar::Float32),
            Self::Float64(values) => values.get(code).copied().map(CodecScalar::Float64),
            Self::Bytes(_) => self
                .bytes(code as u32)
                .map(|one| CodecScalar::Bytes(one.to_vec())),
        }
    }

    /// The string of a code; `None` for another type, or beyond the last.
    pub(super) fn bytes(&self, code: u32) -> Option<&[u8]> {
        match self {
            Self::Bytes(values) if (code as usize) < values.len() => {
                Some(values.as_slice().get(code as usize))
            }
            _ => None,
        }
    }
}

fn hash(values: &RowGroupValues<'_>, row: usize) -> u64 {
    match values {
        RowGroupValues::Bool(values) => values[row].into(),
        RowGroupValues::Int16(values) => values[row] as u64,
        RowGroupValues::Int32(values) => values[row] as u64,
        RowGroupValues::Int64(values) => values[row] as u64,
        RowGroupValues::Int128(values) => (values[row] >> 64) as u64 ^ values[row] as u64,
        RowGroupValues::Float32(values) => values[row].to_bits().into(),
        RowGroupValues::Float64(values) => values[row].to_bits(),
        RowGroupValues::Bytes(values) => {
            let value = values.get(row);
            let words = value.chunks(8).map(|chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                u64::from_le_bytes(word)
            });
            words.fold(value.len() as u64, |hash, word| {
                (hash.rotate_left(5) ^ word).wrapping_mul(MIXER)
            })
        }
    }
}

/// Whether two values are equal, bit by bit.
fn is_same(values: &RowGroupValues<'_>, row: usize, other: usize) -> bool {
    match values {
        RowGroupValues::Bool(values) => values[row] == values[other],
        RowGroupValues::Int16(values) => values[row] == values[other],
        RowGroupValues::Int32(values) => values[row] == values[other],
        RowGroupValues::Int64(values) => values[row] == values[other],
        RowGroupValues::Int128(values) => values[row] == values[other],
        RowGroupValues::Float32(values) => values[row].to_bits() == values[other].to_bits(),
        RowGroupValues::Float64(values) => values[row].to_bits() == values[other].to_bits(),
        RowGroupValues::Bytes(values) => values.get(row) == values.get(other),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use proptest::prelude::*;

    proptest! {
            #[test]
            fn every_value_has_an_equal_one_that_stays(
                rows in prop::collection::vec((0_i64..9, any::<bool>()), 0..3000),
                kept in 0_usize..40,
                is_text: bool,
            ) {
                let kept = kept.min(rows.len());
                let mut entries = if is_text {

                        let mut strings = BytesVector::new();
                        for row in &rows {
                            strings.push("string ".repeat(row.0 as usize).as_bytes()).unwrap();
                        }
                        SegmentEntries::Bytes(strings)

    } else {
    SegmentEntries::Int64(rows.iter().map(|row| row.0 << 40).collect())
    };
                let is_valid: Vec<bool> = rows.iter().map(|row| row.1).collect();
                let expected: Vec<CodecScalar> =
                    (0..rows.len()).map(|row| entries.scalar(row as u32).unwrap()).collect();
                let mut validity = is_valid.clone();
                let codes = entries.leave_out_repeats(kept, &mut validity);
                prop_assert_eq!(codes.len(), rows.len());
                prop_assert_eq!(validity.len(), entries.len());
                for (row, &code) in codes.iter().enumerate() {
                    prop_assert_eq!(validity[code as usize], is_valid[row]);
                    if is_valid[row] {
                        prop_assert_eq!(entries.scalar(code).unwrap(), expected[row].clone());
                    }
                    prop_assert!(row >= kept || code as usize == row);
                }
            }
        }

    #[test]
    fn what_repeats_is_left_out_behind_what_is_kept() {
        let mut entries = SegmentEntries::Int32(vec![7, 8, 7, 7, 8, 9, 7]);
        let mut validity = vec![true, true, true, true, true, true, false];
        let codes = entries.leave_out_repeats(3, &mut validity);
        assert_eq!(codes, [0, 1, 2, 2, 1, 3, 4]);
        assert_eq!(validity, [true, true, true, true, false]);
    }
}
