//! Rows become entries.

use std::mem::take;

use quire_format::tuple::TupleValue;

use super::error::RowError;
use super::layout::{RowLayout, RowLayoutColumn};
use super::recycle::recycled;

/// What is stored of one row. The buffers are used again for the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedRow {
    /// Key of the row's entry.
    pub key: Vec<u8>,
    /// Value of the row's entry.
    pub tuple: Vec<u8>,
    /// Entries of the overflow tree; rarely any.
    pub chunks: Vec<OverflowChunk>,
    memory: RowScratch,
}

/// Room for the values of the key and of the tuple. What is in it is no part of the row.
#[derive(Clone, Debug, Default)]
struct RowScratch(Vec<TupleValue<'static>>, Vec<TupleValue<'static>>);

impl PartialEq for RowScratch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for RowScratch {}

/// An entry of an overflow tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverflowChunk {
    /// Its key.
    pub key: Vec<u8>,
    /// Its value.
    pub bytes: Vec<u8>,
}

/// A tuple's buffer is not kept when a long value made it longer than this.
const KEPT_BYTES_MAX: usize = 1 << 20;

impl EncodedRow {
    fn clear(&mut self) {
        self.key.clear();
        self.tuple.clear();
        self.chunks.clear();
    }
}

impl RowLayout {
    /// Encodes a row: one value for each ordinal, of which those of dropped columns are not looked at. `row_id` is the
    /// number of the row where rows are numbered, and not looked at elsewhere.
    ///
    /// ```
    /// use quire_tables::SqlType;
    /// use quire_tables::row_table::{
    ///     EncodedRow, FieldStorage, PrimaryKeyPart, RowColumn, RowLayout, RowLayoutSpec, RowSection, StoredValue, TupleValue,
    /// };
    ///
    /// let column = |sql_type| RowColumn {
    ///     sql_type,
    ///     nullable: false,
    ///     storage: FieldStorage::NullSuppressed,
    ///     key_code: None,
    ///     dropped: false,
    /// };
    /// let layout = RowLayout::new(&RowLayoutSpec {
    ///     sections: vec![RowSection {
    ///         columns: vec![column(SqlType::Integer), column(SqlType::Text)],
    ///         missing: Vec::new(),
    ///     }],
    ///     primary_key: vec![PrimaryKeyPart { ordinal: 0, descending: false }],
    ///     page_bytes: 16_384,
    /// })?;
    /// let mut row = EncodedRow::default();
    /// layout.encode_row(&[TupleValue::Integer(7), TupleValue::Bytes(b"leaf")], 0, &mut row)?;
    /// // The key holds the 7; the tuple a length code, a length and the string.
    /// assert_eq!((row.key.len(), row.tuple.len()), (1, 6));
    /// let mut scratch = Vec::new();
    /// let found = layout.field(&row.key, &row.tuple, 1, &mut scratch)?;
    /// assert_eq!(found, StoredValue::Value(TupleValue::Bytes(b"leaf")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A value that its column does not hold, a key or a row that is too long. What `row` holds is then unspecified.
    pub fn encode_row(
        &self,
        values: &[TupleValue<'_>],
        row_id: u64,
        row: &mut EncodedRow,
    ) -> Result<(), RowError> {
        if values.len() != self.columns.len() {
            return Err(RowError::BatchColumns {
                given: values.len(),
                expected: self.columns.len(),
            });
        }
        let value = |&ordinal: &usize| match self.columns.get(ordinal) {
            Some(RowLayoutColumn {
                dropped: true,
                filler,
                ..
            }) => filler.as_tuple_value(),
            _ => values.get(ordinal).copied().unwrap_or_default(),
        };
        let mut key: Vec<TupleValue<'_>> = recycled(take(&mut row.memory.0));
        key.extend(self.key_ordinals.iter().map(value));
        let mut tuple: Vec<TupleValue<'_>> = recycled(take(&mut row.memory.1));
        tuple.extend(self.tuple_ordinals.iter().map(value));
        let encoded = self.encode_parts(&key, &tuple, row_id, row);
        row.memory = RowScratch(recycled(key), recycled(tuple));
        encoded
    }

    /// Appends the key of the row with these values of the primary key, in its order.
    ///
    /// # Errors
    /// Not one value for each column of the key, or one that its column does not hold; `key` is then as it was. Rows that
    /// are numbered have no values in their key.
    pub fn encode_key(&self, values: &[TupleValue<'_>], key: &mut Vec<u8>) -> Result<(), RowError> {
        match &self.key {
            Some(layout) => {
                let encoded = layout.encode(values, key);
                encoded.map_err(|error| RowError::value(error, &self.key_ordinals))
            }
            None => Err(RowError::BatchColumns {
                given: values.len(),
                expected: 0,
            }),
        }
    }

    /// The key of a row where rows are numbered.
    #[must_use]
    pub(crate) fn key_of_row_id(row_id: u64) -> [u8; 8] {
        row_id.to_be_bytes()
    }

    /// Encodes the values of the key and those of the tuple.
    fn encode_parts(
        &self,
        key: &[TupleValue<'_>],
        tuple: &[TupleValue<'_>],
        row_id: u64,
        row: &mut EncodedRow,
    ) -> Result<(), RowError> {
        row.clear();
        match self.key {
            Some(_) => self.encode_key(key, &mut row.key)?,
            None => row.key.extend_from_slice(&Self::key_of_row_id(row_id)),
        }
        let (bytes, limit) = (row.key.len(), self.key_bytes_max());
        if bytes > limit {
            return Err(RowError::KeyTooLong { bytes, limit });
        }
        let starts_like_mark = |&number: &usize| {
            let value = tuple.get(number);
            matches!(value, Some(TupleValue::Bytes([0xFF, ..])))
        };
        if self.escaped.iter().any(starts_like_mark) {
            return self.encode_rewritten(tuple, row);
        }
        let encoded = self.tuple.encode(tuple, &mut row.tuple);
        encoded.map_err(|error| RowError::value(error, &self.tuple_ordinals))?;
        if row.key.len() + row.tuple.len() > self.entry_bytes_max() {
            if row.tuple.capacity() > KEPT_BYTES_MAX {
                row.tuple = Vec::new();
            }
            return self.encode_rewritten(tuple, row);
        }
        Ok(())
    }
}
