//! A row becomes length codes and bytes (paper 1 §3.3.2).

use super::suppress::{narrow_double, signed_bytes, unsigned_bytes};
use super::{Field, FieldError, FieldLayout, FieldType, FieldValue};

/// A value as stored: its bytes are the low `length` bytes of `word`.
struct Stored {
    word: u64,
    length: u8,
}

fn store_double(value: f64) -> Stored {
    let bits = value.to_bits();
    match narrow_double(bits) {
        Some(narrow) => Stored {
            word: u64::from(narrow),
            length: 4,
        },
        None => Stored {
            word: bits,
            length: 8,
        },
    }
}

/// Bytes of `value`; none when it is out of the range of `field_type`.
fn store_integer(field_type: FieldType, value: i64) -> Option<Stored> {
    let stored = match field_type {
        FieldType::Int32 => i64::from(i32::try_from(value).ok()?),
        FieldType::Date { base_days } => {
            i64::from(i32::try_from(value).ok()?.wrapping_sub(base_days))
        }
        FieldType::UInt32 => {
            let word = u64::from(u32::try_from(value).ok()?);
            let length = unsigned_bytes(word);
            return Some(Stored { word, length });
        }
        FieldType::Int64 | FieldType::Double => value,
    };
    Some(Stored {
        word: stored as u64,
        length: signed_bytes(stored),
    })
}

fn store(index: usize, field: Field, value: FieldValue) -> Result<Stored, FieldError> {
    let field_type = field.field_type;
    match (field_type, value) {
        (_, FieldValue::Null) if field.nullable => Ok(Stored { word: 0, length: 0 }),
        (_, FieldValue::Null) => Err(FieldError::NotNull { field: index }),
        (FieldType::Double, FieldValue::Double(value)) => Ok(store_double(value)),
        (FieldType::Double, FieldValue::Integer(_)) | (_, FieldValue::Double(_)) => {
            Err(FieldError::WrongType {
                field: index,
                field_type,
                value,
            })
        }
        (_, FieldValue::Integer(value)) => {
            store_integer(field_type, value).ok_or(FieldError::OutOfRange {
                field: index,
                field_type,
                value,
            })
        }
    }
}

/// Writes the low `length` bytes of `word` at `at`, or up to eight where there is room: what follows is written
/// later. Says whether they fit.
#[inline]
fn write(values: &mut [u8], at: usize, stored: &Stored) -> bool {
    let bytes = stored.word.to_le_bytes();
    if let Some(target) = values.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *target = bytes;
        return true;
    }
    let length = usize::from(stored.length);
    match (values.get_mut(at..at + length), bytes.get(..length)) {
        (Some(target), Some(bytes)) => {
            target.copy_from_slice(bytes);
            true
        }
        _ => false,
    }
}

impl FieldLayout {
    fn check_field_count(&self, row: &[FieldValue]) -> Result<(), FieldError> {
        if row.len() == self.slots.len() {
            return Ok(());
        }
        Err(FieldError::FieldCount {
            given: row.len(),
            expected: self.slots.len(),
        })
    }

    /// Exactly the bytes that the values of `row` take; the length codes take [`Self::code_bytes`] besides.
    ///
    /// # Errors
    /// A value that its field cannot hold, or not one value per field.
    pub fn encoded_bytes(&self, row: &[FieldValue]) -> Result<usize, FieldError> {
        self.check_field_count(row)?;
        let mut total = 0;
        for (index, (slot, &value)) in self.slots.iter().zip(row).enumerate() {
            total += usize::from(store(index, slot.field, value)?.length);
        }
        Ok(total)
    }

    /// Writes the length codes and the values of `row` into slices of exactly [`Self::code_bytes`] and
    /// [`Self::encoded_bytes`] bytes.
    ///
    /// # Errors
    /// As [`Self::encoded_bytes`], and slices of other lengths; the contents of both are then unspecified.
    pub fn encode(
        &self,
        row: &[FieldValue],
        codes: &mut [u8],
        values: &mut [u8],
    ) -> Result<(), FieldError> {
        self.check_field_count(row)?;
        if codes.len() != self.code_bytes() {
            return Err(self.wrong_room(row, codes.len(), values.len()));
        }
        codes.fill(0);
        let mut end = 0;
        for (index, (slot, &value)) in self.slots.iter().zip(row).enumerate() {
            let stored = store(index, slot.field, value)?;
            codes[slot.byte] |= slot.field.code_of(stored.length) << slot.shift;
            if !write(values, end, &stored) {
                return Err(self.wrong_room(row, codes.len(), values.len()));
            }
            end += usize::from(stored.length);
        }
        if end != values.len() {
            return Err(self.wrong_room(row, codes.len(), values.len()));
        }
        Ok(())
    }

    #[cold]
    fn wrong_room(
        &self,
        row: &[FieldValue],
        codes_given: usize,
        values_given: usize,
    ) -> FieldError {
        match self.encoded_bytes(row) {
            Ok(values_expected) => FieldError::WrongRoom {
                codes_given,
                codes_expected: self.code_bytes(),
                values_given,
                values_expected,
            },
            Err(error) => error,
        }
    }
}
