//! Which byte packs the length code of which field, and where a field is (paper 1 §3.3.2 and figure 4).

use super::TupleField;
use super::tables::{DecodingTable, FieldEnds, FieldSpan, decoding_table};
use crate::Corrupt;
use std::ops::Range;

/// A field and where its length code is.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldSlot {
    pub(super) field: TupleField,
    /// Index of the length byte.
    pub(super) byte: usize,
    /// Index among the fields of that byte.
    pub(super) within: u8,
    /// Bits below the code in that byte.
    pub(super) shift: u32,
}

/// The compressed fields of a table's tuples, and the tables that decode them. It is the same for all tuples
/// of a table; it takes 2 KiB for each length byte.
///
/// A length byte packs the codes of as many successive fields as fit, the first in the highest bits; unused bits
/// are the highest ones, and 0. No code crosses a byte.
///
/// ```
/// use quire_codec::field::{TupleField, FieldLayout, FieldType, FieldValue};
///
/// let layout = FieldLayout::new(&[
///     TupleField { field_type: FieldType::Int32, nullable: true },
///     TupleField { field_type: FieldType::Double, nullable: false },
/// ]);
/// let row = [FieldValue::Integer(-3), FieldValue::Double(0.5)];
/// let mut codes = vec![0; layout.code_bytes()];
/// let mut values = vec![0; layout.encoded_bytes(&row)?];
/// layout.encode(&row, &mut codes, &mut values)?;
/// assert_eq!(codes, [0b001_0]);
/// assert_eq!(values, [0xFD, 0, 0, 0, 0x3F]);
/// assert_eq!(layout.value(&codes, &values, 1)?, FieldValue::Double(0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FieldLayout {
    pub(super) slots: Vec<FieldSlot>,
    /// The slots of each length byte.
    pub(super) slots_of_byte: Vec<Range<usize>>,
    pub(super) tables: Vec<DecodingTable>,
}

impl FieldLayout {
    /// A layout of `fields` in the order of their values and codes.
    pub fn new(fields: &[TupleField]) -> Self {
        let mut slots_of_byte: Vec<Range<usize>> = Vec::new();
        let mut free_bits = 0;
        for (index, field) in fields.iter().enumerate() {
            match slots_of_byte.last_mut() {
                Some(slots) if field.code_bits() <= free_bits => slots.end = index + 1,
                _ => {
                    slots_of_byte.push(index..index + 1);
                    free_bits = u8::BITS;
                }
            }
            free_bits -= field.code_bits();
        }
        let slots = slots_of_byte
            .iter()
            .enumerate()
            .flat_map(|(byte, range)| slots(byte, &fields[range.clone()]))
            .collect();
        let tables = slots_of_byte
            .iter()
            .map(|range| decoding_table(&fields[range.clone()]))
            .collect();
        Self {
            slots,
            slots_of_byte,
            tables,
        }
    }

    /// Number of fields.
    pub fn field_count(&self) -> usize {
        self.slots.len()
    }

    /// Bytes of the length codes of each tuple.
    pub fn code_bytes(&self) -> usize {
        self.tables.len()
    }

    #[inline]
    pub(super) fn slot(&self, field: usize) -> Result<&FieldSlot, Corrupt> {
        match self.slots.get(field) {
            Some(slot) => Ok(slot),
            None => Err(no_field(field)),
        }
    }

    #[inline]
    pub(super) fn check_code_bytes(&self, codes: &[u8]) -> Result<(), Corrupt> {
        if codes.len() == self.tables.len() {
            Ok(())
        } else {
            Err(wrong_code_bytes(codes.len(), self.tables.len()))
        }
    }

    /// Where the value of `slot` is.
    #[inline]
    pub(super) fn locate(&self, codes: &[u8], slot: &FieldSlot) -> Result<FieldSpan, Corrupt> {
        self.check_code_bytes(codes)?;
        let (mut all, mut before, mut ends) = (FieldEnds::NONE, 0, FieldEnds::NONE);
        for (table, &code) in self.tables.iter().zip(codes).take(slot.byte + 1) {
            before += ends.total();
            ends = table[usize::from(code)];
            all = all.or(ends);
        }
        if all.is_corrupt() {
            return Err(self.corrupt_code(codes));
        }
        let place = ends.place(slot.within);
        Ok(FieldSpan {
            offset: before + place.offset,
            length: place.length,
        })
    }

    /// Where the value of field `field` is: one look-up for each length byte up to the field's own, whatever the
    /// number of fields.
    ///
    /// # Errors
    /// [`Corrupt`] when `codes` has the wrong length, a code that stands for no length or an unused bit set, as far
    /// as it was read; or when there is no such field. Offsets in the error count from the start of `codes`.
    #[inline]
    pub fn place(&self, codes: &[u8], field: usize) -> Result<FieldSpan, Corrupt> {
        self.locate(codes, self.slot(field)?)
    }

    /// Bytes of all values of a tuple.
    ///
    /// # Errors
    /// [`Corrupt`] when `codes` are not length codes of this layout.
    #[inline]
    pub fn value_bytes(&self, codes: &[u8]) -> Result<usize, Corrupt> {
        self.check_code_bytes(codes)?;
        let (mut all, mut total) = (FieldEnds::NONE, 0);
        for (table, &code) in self.tables.iter().zip(codes) {
            let ends = table[usize::from(code)];
            all = all.or(ends);
            total += ends.total();
        }
        if all.is_corrupt() {
            return Err(self.corrupt_code(codes));
        }
        Ok(total)
    }

    /// Names the first of `codes` that is corrupt.
    #[cold]
    pub(super) fn corrupt_code(&self, codes: &[u8]) -> Corrupt {
        let tables = self.tables.iter().zip(codes);
        let bad = tables
            .clone()
            .position(|(table, &code)| table[usize::from(code)].is_corrupt());
        Corrupt::new("byte of length codes has no meaning", bad.unwrap_or(0))
    }
}

#[cold]
fn no_field(field: usize) -> Corrupt {
    Corrupt::new(format!("tuple has no compressed field {field}"), 0)
}

#[cold]
fn wrong_code_bytes(given: usize, expected: usize) -> Corrupt {
    let what = format!("{given} bytes of length codes, not {expected}");
    Corrupt::new(what, given.min(expected))
}

/// The slots of `fields`, whose codes fit the length byte `byte`.
fn slots(byte: usize, fields: &[TupleField]) -> Vec<FieldSlot> {
    let mut shift: u32 = fields.iter().map(|field| field.code_bits()).sum();
    let slot = |(within, field): (usize, &TupleField)| {
        shift -= field.code_bits();
        FieldSlot {
            field: *field,
            byte,
            within: within as u8,
            shift,
        }
    };
    fields.iter().enumerate().map(slot).collect()
}

/// The order of `fields`, as indexes into it, that needs the fewest length bytes. The paper keeps the order of the
/// table; a layout keeps any. Fields with codes of equal length stay in their order.
///
/// Codes of five bits come first, since only these leave room that another kind of three bits fills. Then those of three
/// bits, two in a byte, because nothing but a remainder of two bits is left there; codes of four, two and one bits
/// then fill what is left, each put into the first byte with room.
pub fn order_of_fewest_bytes(fields: &[TupleField]) -> Vec<usize> {
    let bits_of = |index: usize| fields[index].code_bits();
    let mut order: Vec<usize> = (0..fields.len()).collect();
    order.sort_by_key(|&index| match bits_of(index) {
        5 => 0,
        3 => 1,
        bits => 8 - bits,
    });
    let mut bytes: Vec<(u32, Vec<usize>)> = Vec::new();
    for index in order {
        let bits = bits_of(index);
        match bytes.iter_mut().find(|(free_bits, _)| bits <= *free_bits) {
            Some((free_bits, members)) => {
                *free_bits -= bits;
                members.push(index);
            }
            None => bytes.push((u8::BITS - bits, vec![index])),
        }
    }
    bytes.into_iter().flat_map(|(_, members)| members).collect()
}
