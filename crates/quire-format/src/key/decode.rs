//! Keys become values again. A key is untrusted.

use std::ops::Range;

use quire_codec::Corrupt;

use super::layout::{KeyColumn, KeyLayout};
use super::number::{cut_short, float32, float64, integer};
use super::text::string;
use crate::tuple::{TupleType, TupleValue};

fn boolean(bytes: &[u8], mask: u8) -> Result<(bool, usize), Corrupt> {
    match bytes.first().ok_or_else(cut_short)? ^ mask {
        1 => Ok((false, 1)),
        2 => Ok((true, 1)),
        _ => Err(Corrupt::new("key has a boolean that is none", 0)),
    }
}

/// The integer of up to 8 bytes at the start of `bytes`.
fn narrow(bytes: &[u8], mask: u8) -> Result<(i64, usize), Corrupt> {
    let (value, length) = integer(bytes, mask)?;
    let value = i64::try_from(value).map_err(|_| out_of_range())?;
    Ok((value, length))
}

#[cold]
fn out_of_range() -> Corrupt {
    Corrupt::new("key has a number out of the range of its column", 0)
}

impl KeyColumn {
    /// The value at the start of `bytes`, and its length. Offsets in errors count from there.
    fn value<'a>(
        self,
        bytes: &'a [u8],
        has_end: bool,
        room: &mut &'a mut [u8],
    ) -> Result<(TupleValue<'a>, usize), Corrupt> {
        if self.nullable && bytes.starts_with(self.null()) {
            return Ok((TupleValue::Null, self.null().len()));
        }
        let mask = self.mask();
        let (value, length) =
            match self.column_type {
                TupleType::Bool => {
                    boolean(bytes, mask).map(|(value, length)| (TupleValue::Bool(value), length))?
                }
                TupleType::Int128 { .. } => {
                    integer(bytes, mask).map(|(value, length)| (TupleValue::Wide(value), length))?
                }
                TupleType::Float32 => float32(bytes, mask)
                    .map(|(value, length)| (TupleValue::Float32(value), length))?,
                TupleType::Float64 => float64(bytes, mask)
                    .map(|(value, length)| (TupleValue::Float64(value), length))?,
                TupleType::Text | TupleType::Bytes => {
                    let (value, length) = string(bytes, mask, has_end, room)?;
                    (TupleValue::Bytes(value), length)
                }
                TupleType::Int16
                | TupleType::Int32
                | TupleType::Int64
                | TupleType::Date { .. }
                | TupleType::Timestamp => narrow(bytes, mask)
                    .map(|(value, length)| (TupleValue::Integer(value), length))?,
            };
        let held = self.column_type.hold(value);
        held.map_err(|_| out_of_range())?;
        Ok((value, length))
    }
}

/// A column of a key that has been read, while others are.
enum ReadColumn {
    Other(TupleValue<'static>),
    /// Where its string is in the scratch.
    String(Range<usize>),
}

impl KeyLayout {
    /// Hands the number and the value of each of the first `count` columns to `sink` and returns what they take of `key`.
    fn walk<'a, 'b: 'a>(
        &self,
        key: &'b [u8],
        count: usize,
        scratch: &'a mut Vec<u8>,
        sink: impl FnMut(usize, TupleValue<'a>),
    ) -> Result<usize, Corrupt> {
        if self.has_code(count) {
            self.walk_coded(key, count, scratch, sink)
        } else {
            self.walk_stored(key, count, scratch, sink)
        }
    }

    /// The same with what codes made of strings in place of them.
    fn walk_stored<'a, 'b: 'a>(
        &self,
        key: &'b [u8],
        count: usize,
        scratch: &'a mut Vec<u8>,
        mut sink: impl FnMut(usize, TupleValue<'a>),
    ) -> Result<usize, Corrupt> {
        let is_string =
            |column: &KeyColumn| matches!(column.column_type, TupleType::Text | TupleType::Bytes);
        if self.columns().iter().take(count).any(is_string) {
            // No string is longer than its bytes in the key.
            scratch.resize(key.len(), 0);
        }
        let mut room = scratch.as_mut_slice();
        let mut start = 0;
        for (index, column) in self.columns().iter().enumerate().take(count) {
            let bytes = key.get(start..).unwrap_or_default();
            let read = column.value(bytes, self.has_end(index, *column), &mut room);
            let (value, length) =
                read.map_err(|error| Corrupt::new(error.what, start + error.offset))?;
            sink(index, value);
            start += length;
        }
        Ok(start)
    }

    /// The same where strings are in codes: they may be longer than the key, so all are put together before the first is handed on.
    fn walk_coded<'a>(
        &self,
        key: &[u8],
        count: usize,
        scratch: &'a mut Vec<u8>,
        mut sink: impl FnMut(usize, TupleValue<'a>),
    ) -> Result<usize, Corrupt> {
        scratch.clear();
        let mut read: Vec<ReadColumn> = Vec::new();
        let mut unescaped = vec![0; key.len()];
        let mut start = 0;
        for (index, column) in self.columns().iter().enumerate().take(count) {
            let bytes = key.get(start..).unwrap_or_default();
            let mut room = unescaped.as_mut_slice();
            let value = column.value(bytes, self.has_end(index, *column), &mut room);
            let (value, length) =
                value.map_err(|error| Corrupt::new(error.what, start + error.offset))?;
            read.push(match value {
                TupleValue::Bytes(stored) => {
                    let from = scratch.len();
                    match self.code(index) {
                        Some(code) => code
                            .decode(stored, scratch)
                            .map_err(|error| Corrupt::new(error.what, start))?,
                        None => scratch.extend_from_slice(stored),
                    }
                    ReadColumn::String(from..scratch.len())
                }
                TupleValue::Bool(value) => ReadColumn::Other(TupleValue::Bool(value)),
                TupleValue::Integer(value) => ReadColumn::Other(TupleValue::Integer(value)),
                TupleValue::Wide(value) => ReadColumn::Other(TupleValue::Wide(value)),
                TupleValue::Float32(value) => ReadColumn::Other(TupleValue::Float32(value)),
                TupleValue::Float64(value) => ReadColumn::Other(TupleValue::Float64(value)),
                TupleValue::Null | TupleValue::Coded(_) => ReadColumn::Other(TupleValue::Null),
            });
            start += length;
        }
        let strings: &'a [u8] = scratch;
        for (index, column) in read.into_iter().enumerate() {
            sink(
                index,
                match column {
                    ReadColumn::Other(value) => value,
                    ReadColumn::String(range) => {
                        TupleValue::Bytes(strings.get(range).unwrap_or_default())
                    }
                },
            );
        }
        Ok(start)
    }

    /// Hands the number and the value of each column of `key` to `sink`, in order. Strings that are not in the key as they
    /// are (descending ones, and those with bytes 0 to 2, 254 and 255) are put together in `scratch`, whose contents
    /// mean nothing before.
    ///
    /// # Errors
    /// [`Corrupt`] when `key` is not the key of any values; `sink` may then have seen some.
    pub fn visit<'a>(
        &self,
        key: &'a [u8],
        scratch: &'a mut Vec<u8>,
        sink: impl FnMut(usize, TupleValue<'a>),
    ) -> Result<(), Corrupt> {
        let end = self.walk(key, self.columns().len(), scratch, sink)?;
        if end == key.len() {
            Ok(())
        } else {
            Err(Corrupt::new("bytes follow the last column of a key", end))
        }
    }

    /// Writes the values of `key` to `values`, which has room for exactly as many as there are columns. As [`Self::visit`].
    ///
    /// # Errors
    /// As [`Self::visit`], and when `values` has another length; what `values` holds is then unspecified.
    pub fn decode<'a>(
        &self,
        key: &'a [u8],
        scratch: &'a mut Vec<u8>,
        values: &mut [TupleValue<'a>],
    ) -> Result<(), Corrupt> {
        let count = self.columns().len();
        if values.len() != count {
            let what = format!(
                "key has {count} columns, and room was given for {}",
                values.len()
            );
            return Err(Corrupt::new(what, 0));
        }
        self.visit(key, scratch, |index, value| {
            if let Some(target) = values.get_mut(index) {
                *target = value;
            }
        })
    }

    /// What the first `count` columns take of `key`, and what follows them. Where strings are among them, this is the
    /// split of a key whose layout goes on after them.
    ///
    /// # Errors
    /// [`Corrupt`] when the first columns are not those of any key.
    pub fn split<'a>(
        &self,
        key: &'a [u8],
        count: usize,
        scratch: &mut Vec<u8>,
    ) -> Result<(&'a [u8], &'a [u8]), Corrupt> {
        let end = self.walk_stored(key, count, scratch, |_, _| {})?;
        key.split_at_checked(end)
            .ok_or_else(|| Corrupt::new("key is cut short", key.len()))
    }

    /// The value of column `column` of `key`; the columns behind it are not read. As [`Self::visit`].
    ///
    /// # Errors
    /// [`Corrupt`] when the columns up to this one are not those of any key, and when there is no such column.
    pub fn field<'a>(
        &self,
        key: &'a [u8],
        column: usize,
        scratch: &'a mut Vec<u8>,
    ) -> Result<TupleValue<'a>, Corrupt> {
        let mut found = None;
        let count = column.saturating_add(1);
        self.walk(key, count, scratch, |index, value| {
            if index == column {
                found = Some(value);
            }
        })?;
        found.ok_or_else(|| Corrupt::new(format!("key has no column {column}"), 0))
    }
}
