//! A row becomes length codes and bytes (paper 1 §3.3.2).

use super::layout::FieldSlot;
use super::suppress::{narrow_double, signed_bytes, signed_bytes_wide, unsigned_bytes};
use super::{FieldError, FieldLayout, FieldType, FieldValue, TupleField};

/// A value as stored: its bytes are the low `length` bytes of `word`.
struct StoredField {
    word: u64,
    length: u8,
}

impl StoredField {
    fn new(word: u64, length: u8) -> Self {
        Self { word, length }
    }
}

fn store_double(value: f64) -> StoredField {
    let bits = value.to_bits();
    match narrow_double(bits) {
        Some(narrow) => StoredField::new(u64::from(narrow), 4),
        None => StoredField::new(bits, 8),
    }
}

/// Bytes of `value`; none when it is out of the range of `field_type`.
fn store_integer(field_type: FieldType, value: i64) -> Option<StoredField> {
    let stored = match field_type {
        FieldType::Int16 => i64::from(i16::try_from(value).ok()?),
        FieldType::Int32 => i64::from(i32::try_from(value).ok()?),
        FieldType::Date { base_days } => {
            i64::from(i32::try_from(value).ok()?.wrapping_sub(base_days))
        }
        FieldType::UInt32 => {
            let word = u64::from(u32::try_from(value).ok()?);
            return Some(StoredField::new(word, unsigned_bytes(word)));
        }
        FieldType::Int64 | FieldType::Int128 | FieldType::Double => value,
    };
    Some(StoredField::new(stored as u64, signed_bytes(stored)))
}

/// `value` as stored; none for an integer of sixteen bytes, and for what the field cannot hold.
#[inline]
fn store(field: TupleField, value: FieldValue) -> Option<StoredField> {
    match (value, field.field_type) {
        (_, FieldType::Int128) if value != FieldValue::Null => None,
        (FieldValue::Integer(_), FieldType::Double) => None,
        (FieldValue::Integer(value), field_type) => store_integer(field_type, value),
        (FieldValue::Double(value), FieldType::Double) => Some(store_double(value)),
        (FieldValue::Null, _) if field.nullable => Some(StoredField::new(0, 0)),
        _ => None,
    }
}

/// What `store` has not stored: an integer of sixteen bytes, or the error.
#[cold]
fn wide(index: usize, field: TupleField, value: FieldValue) -> Result<i128, FieldError> {
    let field_type = field.field_type;
    match (field_type, value) {
        (FieldType::Int128, FieldValue::Wide(value)) => Ok(value),
        (_, FieldValue::Null) => Err(FieldError::NotNull { field: index }),
        (FieldType::Double | FieldType::Int128, _)
        | (_, FieldValue::Double(_) | FieldValue::Wide(_)) => Err(FieldError::WrongType {
            field: index,
            field_type,
            value,
        }),
        (_, FieldValue::Integer(value)) => Err(FieldError::OutOfRange {
            field: index,
            field_type,
            value,
        }),
    }
}

/// Writes the low `length` bytes of `word` at `at`, or up to eight where there is room: what follows is written
/// later. Says whether they fit.
#[inline]
fn write(values: &mut [u8], at: usize, stored: &StoredField) -> bool {
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

/// Writes `value` at `at` and says how many bytes it takes; none if they do not fit.
#[inline(never)]
fn write_wide(values: &mut [u8], at: usize, value: i128) -> Option<u8> {
    let length = signed_bytes_wide(value);
    let end = at + usize::from(length);
    let target = values.get_mut(at..end)?;
    target.copy_from_slice(value.to_le_bytes().get(..target.len())?);
    Some(length)
}

/// Bytes that `value` takes.
#[inline]
fn stored_bytes(index: usize, field: TupleField, value: FieldValue) -> Result<usize, FieldError> {
    let length = match store(field, value) {
        Some(stored) => stored.length,
        None => signed_bytes_wide(wide(index, field, value)?),
    };
    Ok(usize::from(length))
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
            total += stored_bytes(index, slot.field, value)?;
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
            let written = match store(slot.field, value) {
                Some(stored) => write(values, end, &stored).then_some(stored.length),
                None => write_wide(values, end, wide(index, slot.field, value)?),
            };
            let Some(length) = written else {
                return Err(self.wrong_room(row, codes.len(), values.len()));
            };
            codes[slot.byte] |= slot.field.code_of(length) << slot.shift;
            end += usize::from(length);
        }
        if end != values.len() {
            return Err(self.wrong_room(row, codes.len(), values.len()));
        }
        Ok(())
    }

    fn field(&self, field: usize) -> Result<&FieldSlot, FieldError> {
        let field_count = self.slots.len();
        let slot = self.slots.get(field);
        slot.ok_or(FieldError::NoField { field, field_count })
    }

    /// Bytes that `value` takes in field `field`: 0 for NULL.
    ///
    /// # Errors
    /// A value that the field cannot hold, and a field that is not there.
    #[inline]
    pub fn length(&self, field: usize, value: FieldValue) -> Result<usize, FieldError> {
        stored_bytes(field, self.field(field)?.field, value)
    }

    /// Appends the bytes of `value` to `tuple` and sets the code of field `field` in the length bytes, which are
    /// zeros at `codes_at` of `tuple` before the first field. Fields are appended in order, each once: so a tuple
    /// is written without a row of its own for the compressed fields.
    ///
    /// # Errors
    /// As [`Self::length`], and a tuple without room for the length bytes; `tuple` is then as it was.
    #[inline]
    pub fn append(
        &self,
        field: usize,
        value: FieldValue,
        codes_at: usize,
        tuple: &mut Vec<u8>,
    ) -> Result<(), FieldError> {
        let slot = self.field(field)?;
        let Some(code) = tuple.get_mut(codes_at.saturating_add(slot.byte)) else {
            return Err(FieldError::WrongRoom {
                codes_given: tuple.len().saturating_sub(codes_at),
                codes_expected: self.code_bytes(),
                values_given: 0,
                values_expected: 0,
            });
        };
        let Some(stored) = store(slot.field, value) else {
            let value = wide(field, slot.field, value)?;
            let length = signed_bytes_wide(value);
            *code |= slot.field.code_of(length) << slot.shift;
            let bytes = value.to_le_bytes();
            tuple.extend_from_slice(bytes.get(..usize::from(length)).unwrap_or_default());
            return Ok(());
        };
        *code |= slot.field.code_of(stored.length) << slot.shift;
        let end = tuple.len() + usize::from(stored.length);
        // Always eight bytes, then cut: a copy of fixed length is a store.
        tuple.extend_from_slice(&stored.word.to_le_bytes());
        tuple.truncate(end);
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
