//! Entries become rows: one field, or all of a row.

use std::ops::Range;

use quire_codec::Corrupt;
use quire_format::tuple::TupleValue;

use super::layout::{RowLayout, RowLayoutColumn};
use super::overflow_mark::{OverflowMark, StoredString};

/// A value, or where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StoredValue<'a> {
    /// The value.
    Value(TupleValue<'a>),
    /// The value was cut out: `RowLayout::read_long` puts it together.
    Long(OverflowMark),
}

/// Room for values that are not in an entry as they are. Used again for the next row.
#[derive(Clone, Debug, Default)]
pub struct RowBuffer {
    key: Vec<u8>,
    long: Vec<u8>,
}

#[cold]
fn no_column(ordinal: usize) -> Corrupt {
    Corrupt::new(format!("row has no column {ordinal}"), 0)
}

impl RowLayoutColumn {
    #[inline]
    fn stored<'a>(&self, value: TupleValue<'a>) -> Result<StoredValue<'a>, Corrupt> {
        let TupleValue::Bytes(bytes) = value else {
            return Ok(StoredValue::Value(value));
        };
        if !self.marked {
            return Ok(StoredValue::Value(value));
        }
        Ok(match StoredString::read(bytes)? {
            StoredString::Whole(bytes) => StoredValue::Value(TupleValue::Bytes(bytes)),
            StoredString::CutOut(mark) => StoredValue::Long(mark),
        })
    }
}

impl RowLayout {
    /// The value of column `ordinal` of the row with these key and tuple, for the cost of that field. A string that is not there
    /// as it is, because a key or codes have it, is put together in `scratch`.
    ///
    /// # Errors
    /// [`Corrupt`] when the bytes that are read for this column are not what an encoder writes, and when there is no such
    /// column.
    #[inline]
    pub fn field<'a>(
        &'a self,
        key: &'a [u8],
        tuple: &'a [u8],
        ordinal: usize,
        scratch: &'a mut Vec<u8>,
    ) -> Result<StoredValue<'a>, Corrupt> {
        let Some(column) = self.columns.get(ordinal) else {
            return if ordinal == self.row_key_ordinal() {
                Ok(StoredValue::Value(TupleValue::Bytes(key)))
            } else {
                Err(no_column(ordinal))
            };
        };
        if let Some(number) = column.tuple {
            let value = self.tuple.field(tuple, number)?;
            let TupleValue::Coded(text) = value else {
                return column.stored(value);
            };
            scratch.clear();
            text.append_to(scratch)?;
            return Ok(StoredValue::Value(TupleValue::Bytes(scratch)));
        }
        let (Some(layout), Some(number)) = (&self.key, column.key) else {
            return Err(no_column(ordinal));
        };
        Ok(StoredValue::Value(layout.field(key, number, scratch)?))
    }

    /// Hands the value of column `ordinal` to `sink`, as [`TupleLayout::field_with`](quire_format::tuple::TupleLayout::field_with).
    ///
    /// # Errors
    /// As [`Self::field`]; `sink` has then seen nothing.
    #[inline(always)]
    pub fn field_with<'a, R>(
        &'a self,
        key: &'a [u8],
        tuple: &'a [u8],
        ordinal: usize,
        scratch: &'a mut Vec<u8>,
        sink: impl FnOnce(StoredValue<'a>) -> R,
    ) -> Result<R, Corrupt> {
        if let Some(RowLayoutColumn {
            tuple: Some(number),
            marked: false,
            ..
        }) = self.columns.get(ordinal)
        {
            let sink = |value| sink(StoredValue::Value(value));
            return self.tuple.field_with(tuple, *number, sink);
        }
        self.field(key, tuple, ordinal, scratch).map(sink)
    }

    /// Writes the values of a row to `values`, one for each ordinal; those of dropped columns are NULL. `fetch` appends the
    /// value that the overflow tree has for a key, and says whether there is one.
    ///
    /// # Errors
    /// Those of `fetch`; [`Corrupt`] when key or tuple are not what an encoder writes, or a chunk is missing. What `values` holds
    /// is then unspecified.
    pub fn decode_row<'a, E: From<Corrupt>>(
        &'a self,
        key: &'a [u8],
        tuple: &'a [u8],
        buffer: &'a mut RowBuffer,
        mut fetch: impl FnMut(&[u8], &mut Vec<u8>) -> Result<bool, E>,
        values: &mut Vec<TupleValue<'a>>,
    ) -> Result<(), E> {
        let RowBuffer { key: scratch, long } = buffer;
        values.clear();
        values.resize(self.columns.len(), TupleValue::Null);
        self.decode_tuple(tuple, values)?;
        self.decode_key(key, scratch, values)?;
        long.clear();
        let mut copied: Vec<(usize, Range<usize>)> = Vec::new();
        for (ordinal, (column, value)) in self.columns.iter().zip(values.iter_mut()).enumerate() {
            if column.dropped {
                *value = TupleValue::Null;
            } else if let TupleValue::Coded(text) = value {
                let start = long.len();
                text.append_to(long)?;
                copied.push((ordinal, start..long.len()));
            } else if column.marked {
                match column.stored(*value)? {
                    StoredValue::Value(whole) => *value = whole,
                    StoredValue::Long(mark) => {
                        let start = long.len();
                        self.read_long(key, ordinal, mark, &mut fetch, long)?;
                        copied.push((ordinal, start..long.len()));
                    }
                }
            }
        }
        let long: &'a [u8] = long;
        for (ordinal, range) in copied {
            if let (Some(value), Some(bytes)) = (values.get_mut(ordinal), long.get(range)) {
                *value = TupleValue::Bytes(bytes);
            }
        }
        Ok(())
    }

    fn decode_tuple<'a>(
        &'a self,
        tuple: &'a [u8],
        values: &mut [TupleValue<'a>],
    ) -> Result<(), Corrupt> {
        let count = self.tuple_ordinals.len();
        let in_front = values.get_mut(..count).unwrap_or_default();
        self.tuple.decode_all(tuple, in_front)?;
        // Ordinals ascend and are not below the numbers in the tuple, so from the last on nothing is overwritten.
        for (number, &ordinal) in self.tuple_ordinals.iter().enumerate().rev() {
            if number != ordinal && ordinal < values.len() {
                values.swap(number, ordinal);
            }
        }
        Ok(())
    }

    fn decode_key<'a>(
        &'a self,
        key: &'a [u8],
        scratch: &'a mut Vec<u8>,
        values: &mut [TupleValue<'a>],
    ) -> Result<(), Corrupt> {
        let Some(layout) = &self.key else {
            return if key.len() == 8 {
                Ok(())
            } else {
                Err(Corrupt::new("number of a row has not 8 bytes", 0))
            };
        };
        layout.visit(key, scratch, |number, value| {
            let ordinal = self.key_ordinals.get(number).copied().unwrap_or(usize::MAX);
            if let (Some(column), Some(target)) =
                (self.columns.get(ordinal), values.get_mut(ordinal))
                && column.tuple.is_none()
            {
                *target = value;
            }
        })
    }
}
