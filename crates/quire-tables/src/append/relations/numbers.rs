//! Numbers for the values of a sample: which rows have equal ones.

use quire_codec::RowGroupValues;

/// A number of each value, the same for equal ones and for NULLs, and how many there are.
pub(super) fn numbers(values: &RowGroupValues<'_>, validity: Option<&[u64]>) -> (Vec<u32>, usize) {
    fn of(
        mut keys: impl Iterator<Item = u64>,
        count: usize,
        validity: Option<&[u64]>,
    ) -> (Vec<u32>, usize) {
        let mut numbered = Numbered::new(count);
        let is_valid =
            |row: usize| validity.is_none_or(|words| words[row / 64] >> (row % 64) & 1 == 1);
        let number = |row| {
            let key = keys.next().unwrap_or_default();
            numbered.number(is_valid(row).then_some(key))
        };
        let numbers = (0..count).map(number).collect();
        (numbers, numbered.count as usize)
    }
    let count = values.len();
    match values {
        RowGroupValues::Bool(values) => of(values.iter().map(|&one| one.into()), count, validity),
        RowGroupValues::Int16(values) => of(values.iter().map(|&one| one as u64), count, validity),
        RowGroupValues::Int32(values) => of(values.iter().map(|&one| one as u64), count, validity),
        RowGroupValues::Int64(values) => of(values.iter().map(|&one| one as u64), count, validity),
        RowGroupValues::Int128(values) => {
            of(values.iter().map(|&one| folded(one)), count, validity)
        }
        RowGroupValues::Float32(values) => of(
            values.iter().map(|one| one.to_bits().into()),
            count,
            validity,
        ),
        RowGroupValues::Float64(values) => {
            of(values.iter().map(|one| one.to_bits()), count, validity)
        }
        RowGroupValues::Bytes(values) => of(values.iter().map(hash), count, validity),
    }
}

/// An odd number whose bits are mixed: 2^64 over the golden ratio.
const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Numbers of 64-bit keys, in the order in which they are first seen.
struct Numbered {
    /// A key and its number plus one, 0 in empty places. At least half of the places, a power of two, stay empty.
    places: Vec<(u64, u32)>,
    null: Option<u32>,
    count: u32,
}

impl Numbered {
    /// For at most `count` keys.
    fn new(count: usize) -> Self {
        Numbered {
            places: vec![(0, 0); (2 * count).next_power_of_two().max(2)],
            null: None,
            count: 0,
        }
    }

    fn number(&mut self, key: Option<u64>) -> u32 {
        let next = self.count;
        let Some(key) = key else {
            let number = *self.null.get_or_insert(next);
            self.count += u32::from(number == next);
            return number;
        };
        let bits = self.places.len().trailing_zeros();
        let mut place = (key.wrapping_mul(MIXER) >> (u64::BITS - bits)) as usize;
        loop {
            match &mut self.places[place] {
                (_, 0) => break,
                (other, number) if *other == key => return *number - 1,
                _ => place = (place + 1) % self.places.len(),
            }
        }
        self.places[place] = (key, next + 1);
        self.count += 1;
        next
    }
}

/// Different wide integers may fold to the same, which makes a sample say a little less than it knows.
fn folded(value: i128) -> u64 {
    ((value >> 64) as u64).wrapping_mul(MIXER) ^ value as u64
}

/// Different strings with the same hash are too rare to matter in a sample.
fn hash(value: &[u8]) -> u64 {
    let words = value.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    words.fold(value.len() as u64, |hash, word| {
        let product = u128::from(hash ^ word) * u128::from(MIXER);
        (product as u64 ^ (product >> 64) as u64).wrapping_add(hash)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        /// The twin asks the map of the standard library.
        #[test]
        fn equal_values_have_equal_numbers(
            rows in prop::collection::vec(("[ab]{0,18}", any::<i8>(), any::<bool>()), 1..200),
        ) {
            let mut strings = quire_codec::BytesVector::new();
            let mut words = vec![0_u64; rows.len().div_ceil(64)];
            for (row, (string, _, is_valid)) in rows.iter().enumerate() {
                prop_assert!(strings.push(string.as_bytes()).is_ok());
                words[row / 64] |= u64::from(*is_valid) << (row % 64);
            }
            let wide: Vec<i128> = rows.iter().map(|row| i128::from(row.1) << 60).collect();
            let columns = [RowGroupValues::Bytes(strings.as_slice()), RowGroupValues::Int128(&wide)];
            for (column, values) in columns.iter().enumerate() {
                let mut known = HashMap::new();
                let expected: Vec<u32> = rows.iter().map(|(string, integer, is_valid)| {
                    let key = match column {
                        0 => string.clone(),
                        _ => integer.to_string(),
                    };
                    let next = known.len() as u32;
                    *known.entry(is_valid.then_some(key)).or_insert(next)
                }).collect();
                prop_assert_eq!(numbers(values, Some(&words)), (expected, known.len()));
            }
        }
    }
}
