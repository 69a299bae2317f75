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
use crate::kernel::select;
use crate::{Corrupt, GROUP_VALUES, ImageCursor, RowMask, VECTOR_VALUES};
use std::ops::Range;
use std::sync::Arc;

/// Distinct values in the order they appear, and for each row the place of its value among them.
pub(crate) struct Interned<E> {
    pub(super) distinct: Vec<E>,
    pub(super) places: Vec<i32>,
}

/// Values of a dictionary, ascending, and for each row the place of its value among them.
pub(super) struct DictionaryCodes<E> {
    distinct: Vec<E>,
    codes: Vec<i32>,
}

/// A hash table from value to place: open addressing, a power of two of slots, at most half full.
struct PlaceTable<E> {
    slots: Vec<(E, i32)>,
    shift: u32,
}

const EMPTY: i32 = -1;

/// Of a value that is not in the dictionary.
const NO_CODE: i32 = -1;

impl<E: Element> PlaceTable<E> {
    fn with_slots(bits: u32) -> Self {
        Self {
            slots: vec![(E::default(), EMPTY); 1 << bits],
            shift: 64 - bits,
        }
    }

    /// The slot that holds `value`, or the empty one where it belongs.
    #[inline]
    fn slot(&self, value: E) -> usize {
        // Fibonacci hashing: the high bits of the product depend on all bits of the value.
        let hash = value.hash_seed().wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut slot = (hash >> self.shift) as usize;
        loop {
            let (held, place) = self.slots[slot];
            if place == EMPTY || held == value {
                return slot;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// A table of four times the slots, holding `distinct` in order.
    fn grown(&self, distinct: &[E]) -> Self {
        let mut larger = Self::with_slots(64 - self.shift + 2);
        for (place, &value) in distinct.iter().enumerate() {
            let slot = larger.slot(value);
            larger.slots[slot] = (value, place as i32);
        }
        larger
    }
}

/// Interns `values`; `None` as soon as there are more than `limit` distinct ones.
pub(crate) fn intern<E: Element>(values: &[E], limit: usize) -> Option<Interned<E>> {
    let mut table = PlaceTable::with_slots(10);
    let mut distinct = Vec::new();
    let mut places = vec![EMPTY; values.len()];
    for (&value, row_place) in values.iter().zip(&mut places) {
        let slot = table.slot(value);
        let place = table.slots[slot].1;
        if place != EMPTY {
            *row_place = place;
            continue;
        }
        if distinct.len() == limit {
            return None;
        }
        let place = distinct.len() as i32;
        table.slots[slot] = (value, place);
        distinct.push(value);
        *row_place = place;
        if 2 * distinct.len() >= table.slots.len() {
            table = table.grown(&distinct);
        }
    }
    Some(Interned { distinct, places })
}

impl<E: Element> Interned<E> {
    /// Number of distinct values.
    pub(crate) fn distinct_count(&self) -> usize {
        self.distinct.len()
    }

    /// For each row the place of its value among the distinct ones.
    pub(crate) fn places(&self) -> &[i32] {
        &self.places
    }

    /// Size of the dictionary payload, and of the part of it that holds the distinct values.
    pub(crate) fn encoded_bytes(&self) -> (usize, usize) {
        self.coded(&vec![true; self.distinct.len()]).encoded_bytes()
    }

    /// How many distinct values there are, and how many of them appear among the first `row_count` rows.
    pub(crate) fn distinct_counts(&self, row_count: usize) -> (usize, usize) {
        let rows = self.places.get(..row_count).unwrap_or(&self.places);
        let last = rows.iter().max().map_or(0, |&place| place as usize + 1);
        (self.distinct.len(), last)
    }

    /// The values that are `members`, and the code of each row. A row of another value repeats the code before
    /// it, and rows of other values at the start take the first code after them.
    pub(super) fn coded(&self, members: &[bool]) -> DictionaryCodes<E> {
        let mut order: Vec<(E, usize)> = self
            .distinct
            .iter()
            .copied()
            .zip(0..)
            .filter(|&(_, place)| members[place])
            .collect();
        order.sort_unstable();
        let mut codes_of_places = vec![NO_CODE; self.distinct.len()];
        for (code, &(_, place)) in order.iter().enumerate() {
            codes_of_places[place] = code as i32;
        }
        let code_of = |&place: &i32| codes_of_places[place as usize];
        let codes = if order.len() == self.distinct.len() {
            self.places.iter().map(code_of).collect()
        } else {
            let with_code = self
                .places
                .iter()
                .map(code_of)
                .find(|&code| code != NO_CODE);
            let mut last = with_code.unwrap_or(0);
            let mut code_or_last = |place| {
                let code = code_of(place);
                last = if code == NO_CODE { last } else { code };
                last
            };
            self.places.iter().map(&mut code_or_last).collect()
        };
        DictionaryCodes {
            distinct: order.into_iter().map(|(value, _)| value).collect(),
            codes,
        }
    }
}

impl<E: Element> DictionaryCodes<E> {
    /// Size of what [`DictionaryCodes::append`] writes, and of the part of it that holds the distinct values.
    pub(super) fn encoded_bytes(&self) -> (usize, usize) {
        let value_bytes = sequence::encoded_bytes(&self.distinct);
        let code_bytes = sequence::encoded_bytes(&self.codes);
        (8 + value_bytes + code_bytes, value_bytes)
    }

    /// Appends a dictionary payload.
    pub(super) fn append(&self, out: &mut Vec<u8>) {
        let mut dictionary = Vec::new();
        sequence::append(&self.distinct, &mut dictionary);
        out.extend_from_slice(&(self.distinct.len() as u32).to_le_bytes());
        out.extend_from_slice(&(dictionary.len() as u32).to_le_bytes());
        out.extend_from_slice(&dictionary);
        sequence::append(&self.codes, out);
    }
}

/// Interns without a limit.
pub(super) fn intern_all<E: Element>(values: &[E]) -> Interned<E> {
    let nothing = || Interned {
        distinct: Vec::new(),
        places: Vec::new(),
    };
    intern(values, usize::MAX).unwrap_or_else(nothing)
}

/// Size of what [`encode`] writes.
pub(crate) fn encoded_bytes<E: Element>(values: &[E]) -> usize {
    intern_all(values).encoded_bytes().0
}

pub(crate) fn encode<E: Element>(values: &[E], out: &mut Vec<u8>) {
    let interned = intern_all(values);
    interned
        .coded(&vec![true; interned.distinct.len()])
        .append(out);
}

/// Decoder of a dictionary payload.
#[derive(Clone, Debug)]
pub(crate) struct FixedDictionaryDecoder<E: Element> {
    values: Vec<E>,
    codes: Sequence<i32>,
    /// The codes of the vector that is being decoded.
    unpacked: Box<[i32; VECTOR_VALUES]>,
}

impl<E: Element> FixedDictionaryDecoder<E> {
    pub(crate) fn open(
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
    ) -> Result<Self, Corrupt> {
        let end = payload.end;
        let mut cursor = ImageCursor::new(&image, payload)?;
        let distinct_count = cursor.u32("number of distinct values")? as usize;
        if distinct_count > row_count {
            return Err(cursor.corrupt("more distinct values than rows"));
        }
        let value_bytes = cursor.u32("size of the dictionary")? as usize;
        let values = cursor.take(value_bytes, "dictionary")?;
        let start = cursor.position();
        let values = Sequence::open(image.clone(), values, distinct_count)?.to_vec()?;
        if !values.is_sorted_by(|left, right| left < right) {
            return Err(Corrupt::new(
                "values of the dictionary do not ascend",
                start,
            ));
        }
        let codes = Sequence::open(image, start..end, row_count)?;
        Ok(Self {
            values,
            codes,
            unpacked: Box::new([0; VECTOR_VALUES]),
        })
    }

    pub(crate) fn values(&self) -> &[E] {
        &self.values
    }

    pub(crate) fn decode_vector(
        &mut self,
        vector: usize,
        out: &mut [E; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        let rows = self.codes.decode_vector(vector, &mut self.unpacked)?;
        self.unpacked[rows..].fill(0);
        if E::gather(&self.values, &self.unpacked, out) {
            Ok(rows)
        } else {
            Err(beyond_dictionary())
        }
    }

    pub(crate) fn decode_codes(
        &self,
        vector: usize,
        out: &mut [u32; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        let rows = self.codes.decode_vector(vector, bytemuck::cast_mut(out))?;
        out[rows..].fill(0);
        let highest = out.iter().fold(0, |highest, &code| highest.max(code));
        if (highest as usize) < self.values.len() {
            Ok(rows)
        } else {
            Err(beyond_dictionary())
        }
    }

    pub(crate) fn decode_group(
        &self,
        group: usize,
        out: &mut [E; GROUP_VALUES],
    ) -> Result<usize, Corrupt> {
        let mut codes = [0; GROUP_VALUES];
        let rows = self.codes.decode_group(group, &mut codes)?;
        for (value, code) in out.iter_mut().zip(&codes[..rows]) {
            *value = self.look_up(*code)?;
        }
        Ok(rows)
    }

    /// Marks the rows whose values are from `low` to `high`, by comparing codes.
    pub(crate) fn select_range(
        &mut self,
        vector: usize,
        low: E,
        high: E,
        mask: &mut RowMask,
    ) -> Result<(), Corrupt> {
        let first = self.values.partition_point(|&value| value < low);
        let end = self.values.partition_point(|&value| value <= high);
        if first >= end {
            *mask = [0; 16];
            return Ok(());
        }
        let (first, last) = (first as i32, (end - 1) as i32);
        if !self.codes.select(vector, first, last, mask)? {
            self.codes.decode_vector(vector, &mut self.unpacked)?;
            *mask = Element::select(&self.unpacked, first, last);
        }
        Ok(())
    }

    /// The rows whose codes have their bit set in `wanted`.
    pub(crate) fn select_codes(&self, vector: usize, wanted: &[u64]) -> Result<RowMask, Corrupt> {
        let mut codes = [0; VECTOR_VALUES];
        self.decode_codes(vector, &mut codes)?;
        Ok(select::select_codes(&codes, wanted))
    }

    /// Whether the code of one row is read without those of others.
    pub(super) fn reads_single_codes(&self) -> bool {
        self.codes.reads_single_values()
    }

    pub(super) fn code(&self, row: usize) -> Result<u32, Corrupt> {
        let code = self.codes.value(row)? as u32;
        if (code as usize) < self.values.len() {
            Ok(code)
        } else {
            Err(beyond_dictionary())
        }
    }

    pub(crate) fn value(&self, row: usize) -> Result<E, Corrupt> {
        self.look_up(self.codes.value(row)?)
    }

    fn look_up(&self, code: i32) -> Result<E, Corrupt> {
        let value = self.values.get(code as u32 as usize);
        value.copied().ok_or_else(beyond_dictionary)
    }
}

fn beyond_dictionary() -> Corrupt {
    Corrupt::new("code is beyond the dictionary", 0)
}
