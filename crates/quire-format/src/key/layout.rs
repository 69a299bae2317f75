//! Values become keys, and bounds of ranges of keys.

use super::code::KeyCode;
use super::number::{push_float32, push_float64, push_integer};
use super::text;
use crate::tuple::{TupleType, TupleValue, ValueError};

/// A column of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    pub column_type: TupleType,
    pub nullable: bool,
    pub descending: bool,
    /// Whether NULL is before all values, in either order, or after them.
    pub nulls_first: bool,
}

impl KeyColumn {
    /// Whether a key gives back every bit of a value. Floats lose the sign of zero, and the sign and the fraction of NaN: a
    /// table that is clustered by a float must keep the value in the tuple as well.
    pub fn is_exact(self) -> bool {
        !self.is_float()
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self.column_type, TupleType::Float32 | TupleType::Float64)
    }

    /// What the bytes of a value are combined with.
    pub(super) fn mask(self) -> u8 {
        if self.descending { 0xFF } else { 0 }
    }

    pub(super) fn null(self) -> &'static [u8] {
        let bytes: &'static [u8; 2] = if self.nulls_first {
            &[0x00; 2]
        } else {
            &[0xFF; 2]
        };
        if self.is_float() { bytes } else { &bytes[..1] }
    }

    /// Appends `value`, which the column holds.
    fn push(self, value: TupleValue<'_>, has_end: bool, key: &mut Vec<u8>) {
        let start = key.len();
        match value {
            // No column holds codes.
            TupleValue::Null | TupleValue::Coded(_) => return key.extend_from_slice(self.null()),
            TupleValue::Bool(value) => key.push(1 + u8::from(value)),
            TupleValue::Integer(value) => push_integer(i128::from(value), key),
            TupleValue::Wide(value) => push_integer(value, key),
            TupleValue::Float32(value) => push_float32(value, key),
            TupleValue::Float64(value) => push_float64(value, key),
            TupleValue::Bytes(bytes) => {
                text::push(bytes, key);
                if has_end {
                    key.push(text::END);
                }
            }
        }
        if self.descending {
            for byte in key.iter_mut().skip(start) {
                *byte = !*byte;
            }
        }
    }
}

/// The columns of a key, in the order that they are compared in.
///
/// ```
/// use quire_format::key::{KeyColumn, KeyLayout};
/// use quire_format::tuple::{TupleType, TupleValue};
///
/// let column = |column_type, descending| KeyColumn {
///     column_type,
///     nullable: false,
///     descending,
///     nulls_first: false,
/// };
/// let layout = KeyLayout::new(&[column(TupleType::Int64, false), column(TupleType::Text, true)]);
/// let key = |number, text| {
///     let mut key = Vec::new();
///     let values = [TupleValue::Integer(number), TupleValue::Bytes(text)];
///     layout.encode(&values, &mut key).map(|()| key)
/// };
/// assert!(key(-1_000, b"b")? < key(7, b"b")?);
/// assert!(key(7, b"b")? < key(7, b"a")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyLayout {
    columns: Vec<KeyColumn>,
    /// The codes of columns of strings that have one; no more than columns.
    codes: Vec<Option<KeyCode>>,
}

/// Makes `prefix` the least bytes that are greater than all that start with it. Says whether there are any: not for a
/// prefix of bytes 255 alone, which is then empty.
pub fn successor(prefix: &mut Vec<u8>) -> bool {
    successor_behind(0, prefix)
}

/// The same for the prefix that starts at `start` of `key`.
fn successor_behind(start: usize, key: &mut Vec<u8>) -> bool {
    while key.len() > start {
        if let Some(next) = key.pop().and_then(|last| last.checked_add(1)) {
            key.push(next);
            return true;
        }
    }
    false
}

impl KeyLayout {
    /// A layout of `columns`.
    pub fn new(columns: &[KeyColumn]) -> Self {
        Self {
            columns: columns.to_vec(),
            codes: Vec::new(),
        }
    }

    /// The same, with codes in place of the strings of some columns: one for each column, or none. Only columns of strings have one;
    /// others are not looked at.
    #[must_use]
    pub fn with_codes(mut self, codes: Vec<Option<KeyCode>>) -> Self {
        let is_any = codes.iter().any(Option::is_some);
        self.codes = if is_any { codes } else { Vec::new() };
        self
    }

    pub(super) fn code(&self, index: usize) -> Option<&KeyCode> {
        self.codes.get(index)?.as_ref()
    }

    /// Whether one of the first `count` columns has a code.
    pub(super) fn has_code(&self, count: usize) -> bool {
        self.codes.iter().take(count).any(Option::is_some)
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[KeyColumn] {
        &self.columns
    }

    /// Whether a string in column `index` has a mark of its end.
    pub(super) fn has_end(&self, index: usize, column: KeyColumn) -> bool {
        let is_last = index + 1 >= self.columns.len();
        !is_last || column.descending || (column.nullable && column.nulls_first)
    }

    /// Appends the key of `values` to `key`.
    ///
    /// # Errors
    /// Not one value for each column, or a value that its column does not hold; `key` is then as it was.
    pub fn encode(&self, values: &[TupleValue<'_>], key: &mut Vec<u8>) -> Result<(), ValueError> {
        let (given, expected) = (values.len(), self.columns.len());
        if given != expected {
            return Err(ValueError::ColumnCount { given, expected });
        }
        self.encode_prefix(values, key)
    }

    /// Appends what the keys with `values` in the first columns start with: the lower bound of these keys. If `values` are all
    /// columns, it is the key.
    ///
    /// # Errors
    /// More values than columns, or a value that its column does not hold; `key` is then as it was.
    pub fn encode_prefix(
        &self,
        values: &[TupleValue<'_>],
        key: &mut Vec<u8>,
    ) -> Result<(), ValueError> {
        let (given, expected) = (values.len(), self.columns.len());
        if given > expected {
            return Err(ValueError::ColumnCount { given, expected });
        }
        let checked = self.columns.iter().zip(values).enumerate();
        for (index, (column, &value)) in checked {
            let column_type = column.column_type;
            column_type.check(column.nullable, index, value)?;
        }
        for (index, (&column, &value)) in self.columns.iter().zip(values).enumerate() {
            let has_end = self.has_end(index, column);
            match (self.code(index), value) {
                (Some(code), TupleValue::Bytes(string)) => {
                    let coded = code.encode(string);
                    column.push(TupleValue::Bytes(&coded), has_end, key);
                }
                _ => column.push(value, has_end, key),
            }
        }
        Ok(())
    }

    /// Appends the least bytes that are greater than all keys with `values` in the first columns: the bound after these
    /// keys. Says whether there are any; if not, these keys are the last of all, and nothing is appended.
    ///
    /// # Errors
    /// As [`Self::encode_prefix`].
    pub fn encode_successor(
        &self,
        values: &[TupleValue<'_>],
        key: &mut Vec<u8>,
    ) -> Result<bool, ValueError> {
        let start = key.len();
        self.encode_prefix(values, key)?;
        if values.len() < self.columns.len() {
            return Ok(successor_behind(start, key));
        }
        // One key has all these values. The least bytes above it are those that go on with a zero.
        key.push(0);
        Ok(true)
    }
}
