//! Attribute operands: a column of the tuple that a register points to, decoded where it is.
//!
//! The instruction does not say how the tuple is compressed; its layout does, by the decoding tables of paper 1 §3.3.3.

use quire_format::tuple::TupleValue;
use quire_tables::row_table::StoredValue;

use super::operand::{Attribute, TargetRegister};
use super::registers::{ReadOperand, RegisterSet, TextPlace, TupleSource, WriteRegister};
use super::trap::Trap;

/// A string as a tuple has it.
enum FoundAttribute {
    Null,
    /// From this byte of the buffer on.
    InTuple(usize, usize),
    /// It was copied behind what the program has made.
    Made(TextPlace),
}

impl RegisterSet {
    /// An integer, boolean, date or time. One copy of the code that decodes for all instructions of a type: so it stays in the cache.
    #[inline(never)]
    pub(super) fn integer(&mut self, attribute: Attribute) -> Result<Option<i64>, Trap> {
        self.with_field(attribute, |value| match value {
            TupleValue::Integer(value) => Some(value),
            TupleValue::Bool(value) => Some(i64::from(value)),
            _ => None,
        })
    }

    #[inline(never)]
    pub(super) fn decimal(&mut self, attribute: Attribute) -> Result<Option<i128>, Trap> {
        self.with_field(attribute, |value| match value {
            TupleValue::Wide(value) => Some(value),
            _ => None,
        })
    }

    #[inline(never)]
    pub(super) fn double(&mut self, attribute: Attribute) -> Result<Option<f64>, Trap> {
        self.with_field(attribute, |value| match value {
            TupleValue::Float64(value) => Some(value),
            _ => None,
        })
    }

    #[inline(never)]
    pub(super) fn real(&mut self, attribute: Attribute) -> Result<Option<f32>, Trap> {
        self.with_field(attribute, |value| match value {
            TupleValue::Float32(value) => Some(value),
            _ => None,
        })
    }

    /// The value of an attribute that is no string, as `pick` takes it; `None` for NULL.
    #[inline(always)]
    fn with_field<V>(
        &mut self,
        attribute: Attribute,
        pick: impl FnOnce(TupleValue<'_>) -> Option<V>,
    ) -> Result<Option<V>, Trap> {
        let Attribute { tuple, ordinal } = attribute;
        let place = self.tuple(tuple);
        if place.has_only_nulls() {
            return Ok(None);
        }
        self.tally.decoded_fields += 1;
        let ordinal = usize::from(ordinal);
        let (key, bytes) = super::registers::tuple_bytes(&self.buffers, place);
        let pick = |value: TupleValue<'_>| match value {
            TupleValue::Null => Ok(None),
            value => pick(value).map(Some).ok_or(attribute),
        };
        let picked = match self.sources.get(usize::from(tuple.0)) {
            Some(TupleSource::Rows(table)) => {
                let layout = table.layout();
                let sink = |stored: StoredValue<'_>| match stored {
                    StoredValue::Value(value) => pick(value),
                    StoredValue::Long(_) => Err(attribute),
                };
                let picked = layout.field_with(key, bytes, ordinal, &mut self.key_scratch, sink);
                picked.map_err(|error| Trap::corrupt(table, error))?
            }
            Some(TupleSource::Temporary(layout)) => {
                self.tally.temporary_fields += 1;
                let picked = layout.field_with(bytes, ordinal, pick);
                picked.map_err(Trap::temporary)?
            }
            Some(TupleSource::None) | None => Err(attribute),
        };
        picked.map_err(Trap::operand)
    }

    /// Where the string of an attribute is; `None` for NULL. One that the tuple has not as it is (a dictionary's, one of a key,
    /// a long one) is copied.
    #[inline(never)]
    pub(super) fn locate(&mut self, attribute: Attribute) -> Result<Option<TextPlace>, Trap> {
        let Attribute { tuple, .. } = attribute;
        let place = self.tuple(tuple);
        if place.has_only_nulls() {
            return Ok(None);
        }
        self.tally.decoded_fields += 1;
        // Taken out while it is written to: a layout's strings are borrowed from the registers.
        let mut made = self.take_made();
        let found = self.find_text(attribute, &mut made);
        self.put_made(made);
        Ok(match found? {
            FoundAttribute::Null => None,
            FoundAttribute::InTuple(start, bytes) => Some(TextPlace::in_buffer(
                place.buffer,
                u32::try_from(start).map_err(|_| Trap::text_too_long())?,
                u32::try_from(bytes).map_err(|_| Trap::text_too_long())?,
            )),
            FoundAttribute::Made(place) => Some(place),
        })
    }

    fn find_text(
        &mut self,
        attribute: Attribute,
        made: &mut Vec<u8>,
    ) -> Result<FoundAttribute, Trap> {
        let Attribute { tuple, ordinal } = attribute;
        let place = self.tuple(tuple);
        let ordinal = usize::from(ordinal);
        let buffer = self.buffers.get(usize::from(place.buffer));
        let (key, bytes) = super::registers::tuple_bytes(&self.buffers, place);
        let value = match self.sources.get(usize::from(tuple.0)) {
            Some(TupleSource::Rows(table)) => {
                let layout = table.layout();
                match layout.field(key, bytes, ordinal, &mut self.key_scratch) {
                    Ok(StoredValue::Value(value)) => value,
                    Ok(StoredValue::Long(mark)) => {
                        let start = made.len();
                        table.read_long(key, ordinal, mark, made)?;
                        return Ok(FoundAttribute::Made(TextPlace::made(
                            self.making,
                            start,
                            made.len(),
                        )?));
                    }
                    Err(error) => return Err(Trap::corrupt(table, error)),
                }
            }
            Some(TupleSource::Temporary(layout)) => {
                self.tally.temporary_fields += 1;
                layout.field(bytes, ordinal).map_err(Trap::temporary)?
            }
            Some(TupleSource::None) | None => return Err(Trap::operand(attribute)),
        };
        let text = match value {
            TupleValue::Null => return Ok(FoundAttribute::Null),
            TupleValue::Bytes(text) => text,
            _ => return Err(Trap::operand(attribute)),
        };
        // Where the string is in the buffer, if it is there: an address below wraps and is none of its own.
        let whole = buffer.map_or(&[][..], Vec::as_slice);
        let offset = (text.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize);
        if offset <= whole.len() && text.len() <= whole.len() - offset {
            return Ok(FoundAttribute::InTuple(offset, text.len()));
        }
        let start = made.len();
        made.extend_from_slice(text);
        Ok(FoundAttribute::Made(TextPlace::made(
            self.making,
            start,
            made.len(),
        )?))
    }
}

/// Decodes an attribute into a register.
#[inline(always)]
pub(super) fn load<V, T>(
    registers: &mut RegisterSet,
    attribute: Attribute,
    target: TargetRegister<T>,
) -> Result<(), Trap>
where
    Attribute: ReadOperand<V>,
    TargetRegister<T>: WriteRegister<V>,
{
    match attribute.read(registers)? {
        Some(value) => target.write(registers, value),
        None => target.write_null(registers),
    }
    Ok(())
}

/// Decodes a number of any type that a word holds.
#[inline(never)]
pub(super) fn load_word(
    registers: &mut RegisterSet,
    attribute: Attribute,
    target: TargetRegister<super::operand::WordRegister>,
) -> Result<(), Trap> {
    let word = registers.with_field(attribute, |value| match value {
        TupleValue::Integer(value) => Some(value),
        TupleValue::Bool(value) => Some(i64::from(value)),
        TupleValue::Float64(value) => Some(value.to_bits() as i64),
        TupleValue::Float32(value) => Some(i64::from(value.to_bits())),
        _ => None,
    })?;
    match word {
        Some(word) => target.write(registers, word),
        None => WriteRegister::<i64>::write_null(target, registers),
    }
    Ok(())
}
