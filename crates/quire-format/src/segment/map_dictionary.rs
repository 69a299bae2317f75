//! The values of a map as a dictionary, most that repeat left out.

use quire_codec::RowGroupValues;

use super::entries::SegmentEntries;
use super::validity::is_valid;

/// An equal value is sought in one of so many places, a power of two.
const SOUGHT_PLACES: usize = 1 << 10;

/// An odd number whose bits are mixed: 2^64 over the golden ratio.
const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;

/// What is left of the values when most that repeat are left out: a small dictionary stays in the cache, and what is asked of each
/// of its values is asked seldom.
#[derive(Debug)]
pub(super) struct MapDictionary {
    pub(super) values: SegmentEntries,
    is_valid: Vec<bool>,
    /// The code of each value of the map.
    codes: Vec<u32>,
}

impl MapDictionary {
    /// `None` if no value is left out. None of the first `kept` is. Only the last value that was to be found in the same place is compared, so that
    /// this costs little beside decoding.
    pub(super) fn new(map: &SegmentEntries, valid: Option<&[u64]>, kept: usize) -> Option<Self> {
        let values = map.values();
        let is_valid = |value: usize| valid.is_none_or(|valid| is_valid(valid, value));
        let mut staying: Vec<u32> = Vec::new();
        let mut codes = Vec::with_capacity(values.len());
        let mut last = vec![u32::MAX; SOUGHT_PLACES];
        for value in 0..values.len() {
            let hash = if is_valid(value) {
                hash(&values, value)
            } else {
                0
            };
            let place = hash.wrapping_mul(MIXER) >> (u64::BITS - SOUGHT_PLACES.trailing_zeros());
            let last = &mut last[place as usize];
            let is_repeated = staying.get(*last as usize).is_some_and(|&other| {
                let other = other as usize;
                let are_valid = is_valid(value);
                is_valid(other) == are_valid && (!are_valid || is_same(&values, value, other))
            });
            if !is_repeated || value < kept {
                *last = staying.len() as u32;
                staying.push(value as u32);
            }
            codes.push(*last);
        }
        if staying.len() == values.len() {
            return None;
        }
        Some(Self {
            values: SegmentEntries::gather(&values, &staying)?,
            is_valid: staying.iter().map(|&one| is_valid(one as usize)).collect(),
            codes,
        })
    }

    /// The code of a value of the map.
    pub(super) fn code(&self, number: u32) -> u32 {
        self.codes.get(number as usize).copied().unwrap_or_default()
    }

    /// Whether a code stands for a value rather than NULL.
    pub(super) fn is_valid(&self, code: u32) -> bool {
        self.is_valid.get(code as usize) == Some(&true)
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
    use quire_codec::{BytesVector, CodecScalar};

    proptest! {
        #[test]
        fn every_value_has_an_equal_one_that_stays(
            rows in prop::collection::vec((0_i64..9, any::<bool>()), 0..3000),
            kept in 0_usize..40,
            is_text: bool,
        ) {
            let kept = kept.min(rows.len());
            let entries = if is_text {
                let mut strings = BytesVector::new();
                for row in &rows {
                    strings.push("string ".repeat(row.0 as usize).as_bytes()).unwrap();
                }
                SegmentEntries::Bytes(strings)
            } else {
                SegmentEntries::Int64(rows.iter().map(|row| row.0 << 40).collect())
            };
            let scalar = |row: usize| entries.scalar(row as u32).unwrap();
            let expected: Vec<CodecScalar> = (0..rows.len()).map(scalar).collect();
            let is_valid: Vec<bool> = rows.iter().map(|row| row.1).collect();
            let valid = quire_codec::boolean::to_words(&is_valid);
            let Some(dictionary) = MapDictionary::new(&entries, Some(&valid), kept) else {
                return Ok(());
            };
            prop_assert!(dictionary.values.len() < rows.len());
            prop_assert_eq!(dictionary.is_valid.len(), dictionary.values.len());
            for (row, expected) in expected.into_iter().enumerate() {
                let code = dictionary.code(row as u32);
                prop_assert_eq!(dictionary.is_valid(code), is_valid[row]);
                if is_valid[row] {
                    prop_assert_eq!(dictionary.values.scalar(code), Some(expected));
                }
                prop_assert!(row >= kept || code as usize == row);
            }
        }
    }

    #[test]
    fn what_repeats_is_left_out_behind_what_is_kept() {
        let entries = SegmentEntries::Int32(vec![7, 8, 7, 7, 8, 9, 7]);
        let dictionary = MapDictionary::new(&entries, Some(&[0b011_1111]), 3).unwrap();
        assert_eq!(dictionary.codes, [0, 1, 2, 2, 1, 3, 4]);
        assert_eq!(dictionary.is_valid, [true, true, true, true, false]);
        let distinct = SegmentEntries::Int32(vec![7, 8, 9]);
        assert!(MapDictionary::new(&distinct, None, 0).is_none());
    }
}
