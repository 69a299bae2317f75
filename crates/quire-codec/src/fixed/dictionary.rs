//! Distinct values once, in ascending order, and a code per row.
//!
//! | size | field |
//! |---|---|
//! | 4 | number of distinct values |
//! | 4 | size of the values |
//! | … | the distinct values, ascending ([`sequence`]) |
//! | … | the code of each row: its place among the values ([`sequence`]) |
//!
//! Codes have the order of the values, and being a sequence they get a base and a width per vector and
//! exceptions, so a column that is clustered or skewed costs less than ⌈log₂ n⌉ bits a row.

use crate::int::element::Element;
use crate::int::sequence::{self, Sequence};
use crate::{Corrupt, Cursor, VECTOR_VALUES};
use std::ops::Range;
use std::sync::Arc;

/// A hash table from value to code: open addressing, a power of two of slots, at most half full.
struct CodeTable<E> {
    slots: Vec<(E, i32)>,
    shift: u32,
    used: usize,
}

const EMPTY: i32 = -1;

impl<E: Element> CodeTable<E> {
    fn with_slots(bits: u32) -> Self {
        Self {
            slots: vec![(E::default(), EMPTY); 1 << bits],
            shift: 64 - bits,
            used: 0,
        }
    }

    /// The slot that holds `value`, or the empty one where it belongs.
    #[inline]
    fn slot(&self, value: E) -> usize {
        // Fibonacci hashing: the high bits of the product depend on all bits of the value.
        let mut slot =
            (value.hash_seed().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize;
        loop {
            let (held, code) = self.slots[slot];
            if code == EMPTY || held == value {
                return slot;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    fn insert(&mut self, value: E, code: i32) {
        if 2 * self.used >= self.slots.len() {
            let mut larger = Self::with_slots(64 - self.shift + 1);
            for &(held, code) in self.slots.iter().filter(|slot| slot.1 != EMPTY) {
                larger.insert(held, code);
            }
            *self = larger;
        }
        let slot = self.slot(value);
        self.used += usize::from(self.slots[slot].1 == EMPTY);
        self.slots[slot] = (value, code);
    }
}

/// The distinct values, ascending; `None` as soon as there are more than `limit`.
pub(crate) fn distinct_values<E: Element>(values: &[E], limit: usize) -> Option<Vec<E>> {
    let mut table = CodeTable::with_slots(8);
    let mut distinct = Vec::new();
    let mut previous = None;
    for &value in values {
        if previous == Some(value) {
            continue;
        }
        previous = Some(value);
        if table.slots[table.slot(value)].1 == EMPTY {
            if distinct.len() == limit {
                return None;
            }
            table.insert(value, 0);
            distinct.push(value);
        }
    }
    distinct.sort_unstable();
    Some(distinct)
}

fn codes_of<E: Element>(values: &[E], distinct: &[E]) -> Vec<i32> {
    let bits = (2 * distinct.len().max(1))
        .next_power_of_two()
        .ilog2()
        .max(1);
    let mut table = CodeTable::with_slots(bits);
    for (code, &value) in distinct.iter().enumerate() {
        table.insert(value, code as i32);
    }
    values
        .iter()
        .map(|&value| table.slots[table.slot(value)].1)
        .collect()
}

/// Size of the payload of `values`, whose distinct values are known.
pub(crate) fn encoded_bytes_of<E: Element>(values: &[E], distinct: &[E]) -> usize {
    let codes = codes_of(values, distinct);
    8 + sequence::encoded_bytes(distinct) + sequence::encoded_bytes(&codes)
}

/// Size of what [`encode`] writes.
pub(crate) fn encoded_bytes<E: Element>(values: &[E]) -> usize {
    let distinct = distinct_values(values, usize::MAX).unwrap_or_default();
    encoded_bytes_of(values, &distinct)
}

pub(crate) fn encode<E: Element>(values: &[E], out: &mut Vec<u8>) {
    let distinct = distinct_values(values, usize::MAX).unwrap_or_default();
    let codes = codes_of(values, &distinct);
    let mut dictionary = Vec::new();
    sequence::append(&distinct, &mut dictionary);
    out.extend_from_slice(&(distinct.len() as u32).to_le_bytes());
    out.extend_from_slice(&(dictionary.len() as u32).to_le_bytes());
    out.extend_from_slice(&dictionary);
    sequence::append(&codes, out);
}

/// Decoder of a dictionary payload.
#[derive(Clone, Debug)]
pub(crate) struct DictionaryDecoder<E: Element> {
    values: Vec<E>,
    codes: Sequence<i32>,
}

impl<E: Element> DictionaryDecoder<E> {
    pub(crate) fn open(
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
    ) -> Result<Self, Corrupt> {
        let end = payload.end;
        let mut cursor = Cursor::new(&image, payload)?;
        let distinct_count = cursor.u32("number of distinct values")? as usize;
        if distinct_count > row_count {
            return Err(cursor.corrupt("more distinct values than rows"));
        }
        let value_bytes = cursor.u32("size of the dictionary")? as usize;
        let values = cursor.take(value_bytes, "dictionary")?;
        let codes = cursor.position()..end;
        let values = Sequence::open(image.clone(), values, distinct_count)?.to_vec()?;
        let codes = Sequence::open(image, codes, row_count)?;
        Ok(Self { values, codes })
    }

    pub(crate) fn values(&self) -> &[E] {
        &self.values
    }

    pub(crate) fn decode_vector(
        &self,
        vector: usize,
        out: &mut [E; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        let mut codes = [0i32; VECTOR_VALUES];
        let rows = self.codes.decode_vector(vector, &mut codes)?;
        codes[rows..].fill(0);
        match E::gather(&self.values, &codes, out) {
            true => Ok(rows),
            false => Err(beyond_dictionary()),
        }
    }

    pub(crate) fn decode_codes(
        &self,
        vector: usize,
        out: &mut [u32; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        let rows = self.codes.decode_vector(vector, bytemuck::cast_mut(out))?;
        out[rows..].fill(0);
        match out.iter().all(|&code| (code as usize) < self.values.len()) {
            true => Ok(rows),
            false => Err(beyond_dictionary()),
        }
    }

    pub(crate) fn value(&self, row: usize) -> Result<E, Corrupt> {
        let code = self.codes.value(row)? as u32 as usize;
        self.values.get(code).copied().ok_or_else(beyond_dictionary)
    }
}

fn beyond_dictionary() -> Corrupt {
    Corrupt::new("code is beyond the dictionary", 0)
}
