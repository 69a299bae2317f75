//! Values from length codes and bytes: one field, or all (paper 1 §3.3.3).

use super::suppress::{sign_extend, sign_extend_wide, widen_double, zero_extend};
use super::{FieldLayout, FieldSpan, FieldType, FieldValue};
use crate::Corrupt;

/// The eight bytes at `at`, fewer at the end of `values`: one load wherever there is room.
#[inline]
fn load(values: &[u8], at: usize) -> u64 {
    let rest = values.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => load_tail(rest),
    }
}

#[cold]
fn load_tail(rest: &[u8]) -> u64 {
    let low_first = rest.iter().rev();
    low_first.fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The integer of up to sixteen bytes at `place`. It is not part of `read`, which is short without it.
#[inline(never)]
fn read_wide(values: &[u8], place: FieldSpan) -> i128 {
    let high = load(values, place.offset.saturating_add(8));
    let word = u128::from(high) << 64 | u128::from(load(values, place.offset));
    sign_extend_wide(word, place.length)
}

impl FieldType {
    /// The value at `place`, which lies within `values`.
    #[inline]
    pub fn read(self, values: &[u8], place: FieldSpan) -> FieldValue {
        let length = place.length;
        if length == 0 {
            return FieldValue::Null;
        }
        let word = load(values, place.offset);
        match self {
            FieldType::Int128 => FieldValue::Wide(read_wide(values, place)),
            FieldType::Int16 | FieldType::Int32 | FieldType::Int64 => {
                FieldValue::Integer(sign_extend(word, length))
            }
            FieldType::UInt32 => FieldValue::Integer(zero_extend(word, length) as i64),
            FieldType::Date { base_days } => {
                let days = (sign_extend(word, length) as i32).wrapping_add(base_days);
                FieldValue::Integer(i64::from(days))
            }
            FieldType::Double => {
                let narrow = widen_double(word as u32);
                FieldValue::Double(f64::from_bits(if length == 4 { narrow } else { word }))
            }
        }
    }
}

#[cold]
fn values_cut_short(needed: usize, given: usize) -> Corrupt {
    let what = format!("values of {needed} bytes are cut short at {given}");
    Corrupt::new(what, given)
}

#[cold]
fn wrong_row(given: usize, expected: usize) -> Corrupt {
    let what = format!("tuple has {expected} compressed fields, and room was given for {given}");
    Corrupt::new(what, 0)
}

impl FieldLayout {
    /// The value of field `field` alone. `values` starts with the tuple's values; what follows them is ignored,
    /// but loads are fastest when eight bytes do.
    ///
    /// # Errors
    /// As [`Self::place`], and when the value leaves `values`.
    #[inline]
    pub fn value(&self, codes: &[u8], values: &[u8], field: usize) -> Result<FieldValue, Corrupt> {
        let slot = self.slot(field)?;
        let place = self.locate(codes, slot)?;
        let end = place.offset + usize::from(place.length);
        if end > values.len() {
            return Err(values_cut_short(end, values.len()));
        }
        Ok(slot.field.field_type.read(values, place))
    }

    /// Writes the values of all fields to `row` and returns how many bytes they take of `values`.
    ///
    /// # Errors
    /// [`Corrupt`] when `codes` are not length codes of this layout, the values leave `values`, or `row` has not one
    /// slot per field; `row` is then as it was.
    #[inline]
    pub fn decode(
        &self,
        codes: &[u8],
        values: &[u8],
        row: &mut [FieldValue],
    ) -> Result<usize, Corrupt> {
        if row.len() != self.slots.len() {
            return Err(wrong_row(row.len(), self.slots.len()));
        }
        let mut targets = row.iter_mut();
        self.visit(codes, values, |_, value| {
            if let Some(target) = targets.next() {
                *target = value;
            }
        })
    }

    /// Hands the number and the value of each field to `sink`, in order, and returns how many bytes the values take of
    /// `values`.
    ///
    /// # Errors
    /// [`Corrupt`] when `codes` are not length codes of this layout or the values leave `values`; `sink` has then
    /// seen nothing.
    #[inline]
    pub fn visit(
        &self,
        codes: &[u8],
        values: &[u8],
        mut sink: impl FnMut(usize, FieldValue),
    ) -> Result<usize, Corrupt> {
        let total = self.value_bytes(codes)?;
        if total > values.len() {
            return Err(values_cut_short(total, values.len()));
        }
        let mut start = 0;
        for ((table, &code), slots) in self.tables.iter().zip(codes).zip(&self.slots_of_byte) {
            let ends = table[usize::from(code)];
            for (index, slot) in slots.clone().zip(&self.slots[slots.clone()]) {
                let mut place = ends.place(slot.within);
                place.offset += start;
                sink(index, slot.field.field_type.read(values, place));
            }
            start += ends.total();
        }
        Ok(total)
    }
}
