//! The keys of a map, and which of them each row of its reference has.

use quire_codec::{Corrupt, VECTOR_VALUES};

use super::plain::PlainSegment;

/// Integers are looked up in a table of as many places as there are from the first to the last.
pub(super) const KEY_SPAN_MAX: i64 = 1 << 20;

/// A key that the map does not have.
const NONE: u32 = u32::MAX;

/// How a row of the reference leads to a value.
#[derive(Debug)]
pub(super) enum MapKeys {
    /// By its code: so many there are.
    Codes(usize),
    /// By its integer.
    Integers(IntegerKeys),
}

/// Numbers of ascending integers.
#[derive(Debug)]
pub(super) struct IntegerKeys {
    least: i64,
    /// Number of the key `least + i`, or [`NONE`]; behind the last a [`NONE`] for all that lies beyond.
    numbers: Vec<u32>,
    count: usize,
}

/// Whether integers can be keys: they ascend, and do not lie too far apart.
pub(super) fn are_keys(integers: &[i64]) -> bool {
    let ends = integers.first().zip(integers.last());
    let span = ends.and_then(|(least, most)| most.checked_sub(*least));
    let ascend = integers
        .windows(2)
        .fold(true, |ascend, pair| ascend & (pair[0] < pair[1]));
    ascend && span.is_some_and(|span| span < KEY_SPAN_MAX)
}

/// What is wrong with a row of the reference.
pub(super) fn not_in_the_map(key: i64) -> Corrupt {
    Corrupt::new(format!("{key} is not in the map"), 0)
}

impl IntegerKeys {
    /// `None` when the keys do not ascend, or lie too far apart.
    pub(super) fn new(ascending: &[i64]) -> Option<Self> {
        if !are_keys(ascending) {
            return None;
        }
        let (&least, &most) = ascending.first().zip(ascending.last())?;
        let mut numbers = vec![NONE; usize::try_from(most - least).ok()? + 2];
        for (&key, number) in ascending.iter().zip(0..) {
            *numbers.get_mut((key - least) as usize)? = number;
        }
        Some(Self {
            least,
            numbers,
            count: ascending.len(),
        })
    }

    /// The keys.
    pub(super) fn ascending(&self) -> impl Iterator<Item = i64> {
        let places = self.numbers.iter().zip(0_i64..);
        let present = places.filter(|(number, _)| **number != NONE);
        present.map(|(_, place)| self.least.wrapping_add(place))
    }

    /// The number of a key.
    pub(super) fn number(&self, key: i64) -> Option<u32> {
        let place = usize::try_from(key.wrapping_sub(self.least)).ok()?;
        let number = self.numbers.get(place).copied();
        number.filter(|&number| number != NONE)
    }

    /// The numbers of keys, [`NONE`] for what is none; whether some is.
    fn numbers(&self, keys: &[i64], out: &mut [u32]) -> bool {
        let Some(beyond) = self.numbers.len().checked_sub(1) else {
            return !keys.is_empty();
        };
        let numbers = self.numbers.as_slice();
        let mut highest = 0;
        for (out, &key) in out.iter_mut().zip(keys) {
            let place = (key.wrapping_sub(self.least) as u64).min(beyond as u64);
            *out = numbers[place as usize];
            highest = highest.max(*out);
        }
        highest == NONE
    }
}

impl MapKeys {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Codes(count) => *count,
            Self::Integers(keys) => keys.count,
        }
    }

    /// The number of the key that each row of a vector of the reference has, and `null` for NULL.
    pub(super) fn numbers(
        &self,
        reference: &mut PlainSegment,
        vector: usize,
        null: u32,
        out: &mut [u32; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        let mut values = [0; VECTOR_VALUES];
        let (rows, has_strangers) = match self {
            Self::Codes(_) => (reference.decode_codes(vector, out)?, false),
            Self::Integers(keys) => {
                let rows = reference.decode_wide(vector, &mut values)?;
                (rows, keys.numbers(&values[..rows], &mut out[..rows]))
            }
        };
        if reference.null_count() > 0 {
            let mut valid = [u64::MAX; VECTOR_VALUES / 64];
            reference.validity(vector, &mut valid)?;
            for (row, out) in out[..rows].iter_mut().enumerate() {
                let is_valid = valid[row / 64] >> (row % 64) & 1 == 1;
                *out = if is_valid { *out } else { null };
            }
        }
        if has_strangers && let Some(row) = out[..rows].iter().position(|&number| number == NONE) {
            return Err(not_in_the_map(values[row]));
        }
        Ok(rows)
    }
}

/// A reference that is read row by row.
#[derive(Debug)]
pub(super) struct RowNumbers {
    reference: PlainSegment,
    keys: MapKeys,
    /// A vector is asked for its NULLs, for a test and for its values: its numbers are found once. Which vector, and how many rows it has.
    held: Option<(usize, usize)>,
    numbers: Box<[u32; VECTOR_VALUES]>,
}

impl RowNumbers {
    pub(super) fn new(reference: PlainSegment, keys: MapKeys) -> Self {
        Self {
            reference,
            keys,
            held: None,
            numbers: Box::new([0; VECTOR_VALUES]),
        }
    }

    /// The numbers of the rows of a vector: that of the key, or of NULL, which stands behind the keys.
    pub(super) fn vector(&mut self, vector: usize) -> Result<&[u32], Corrupt> {
        let rows = match self.held {
            Some((held, rows)) if held == vector => rows,
            _ => {
                self.held = None;
                let rows = self.find(vector)?;
                self.held = Some((vector, rows));
                rows
            }
        };
        Ok(&self.numbers[..rows])
    }

    fn find(&mut self, vector: usize) -> Result<usize, Corrupt> {
        let (null, numbers) = (self.keys.len() as u32, &mut self.numbers);
        let rows = self
            .keys
            .numbers(&mut self.reference, vector, null, numbers)?;
        let limit = self.keys.len() + usize::from(self.reference.null_count() > 0);
        let highest = numbers[..rows]
            .iter()
            .fold(0, |highest, &one| highest.max(one));
        if rows == 0 || (highest as usize) < limit {
            Ok(rows)
        } else {
            Err(Corrupt::new("code is beyond the map", 0))
        }
    }
}
