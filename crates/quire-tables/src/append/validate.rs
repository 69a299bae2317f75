//! Checks that a table can hold the rows of a batch, and brings text into its stored form.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef, RecordBatch, StringViewArray};

use super::batch_bytes::view_length;
use crate::catalog::TableEntry;
use crate::definition::ColumnDefinition;
use crate::error::TableAppendError;
use crate::types::SqlType;

/// Longest value a column can hold.
pub(super) const VALUE_BYTES_MAX: usize = 64 << 20;

/// The batch as it is stored, under the table's schema. `first_row` is the number of rows appended before it.
pub(super) fn validate(
    entry: &TableEntry,
    batch: &RecordBatch,
    first_row: u64,
) -> Result<RecordBatch, TableAppendError> {
    let columns = &entry.definition.columns;
    if batch.num_columns() != columns.len() {
        let (found, expected) = (batch.num_columns(), columns.len());
        return Err(TableAppendError::Schema(format!(
            "it has {found} columns, expected {expected}"
        )));
    }
    let mut arrays = Vec::with_capacity(columns.len());
    for (column, array) in columns.iter().zip(batch.columns()) {
        let expected = column.sql_type.arrow_type();
        if *array.data_type() != expected {
            let (name, found) = (&column.name, array.data_type());
            return Err(TableAppendError::Schema(format!(
                "column {name:?} is {found}, expected {expected} for {}",
                column.sql_type
            )));
        }
        arrays.push(ColumnCheck { column, first_row }.check(array)?);
    }
    RecordBatch::try_new(Arc::clone(&entry.schema), arrays)
        .map_err(|error| TableAppendError::Schema(error.to_string()))
}

struct ColumnCheck<'a> {
    column: &'a ColumnDefinition,
    first_row: u64,
}

impl ColumnCheck<'_> {
    fn check(&self, array: &ArrayRef) -> Result<ArrayRef, TableAppendError> {
        if !self.column.nullable
            && let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0)
        {
            let row = nulls.iter().position(|valid| !valid).unwrap_or(0);
            return Err(TableAppendError::Null {
                column: self.name(),
                row: self.row(row),
            });
        }
        match self.column.sql_type {
            SqlType::Decimal { precision, .. } => self.check_decimals(array, precision)?,
            SqlType::Text => self.check_sizes(array.as_string_view().views())?,
            SqlType::Bytea => self.check_sizes(array.as_binary_view().views())?,
            SqlType::VarChar(length) => return self.fit(array, length, false),
            SqlType::Char(length) => return self.fit(array, length, true),
            _ => {}
        }
        Ok(Arc::clone(array))
    }

    fn name(&self) -> String {
        self.column.name.clone()
    }

    fn row(&self, row: usize) -> u64 {
        self.first_row + row as u64
    }

    fn check_decimals(&self, array: &ArrayRef, precision: u8) -> Result<(), TableAppendError> {
        let array = array.as_primitive::<Decimal128Type>();
        let limit = 10_u128.pow(u32::from(precision));
        if array
            .values()
            .iter()
            .all(|value| value.unsigned_abs() < limit)
        {
            return Ok(());
        }
        let outside =
            |row: &usize| array.is_valid(*row) && array.value(*row).unsigned_abs() >= limit;
        match (0..array.len()).find(outside) {
            Some(row) => Err(TableAppendError::Precision {
                column: self.name(),
                row: self.row(row),
                sql_type: self.column.sql_type,
            }),
            None => Ok(()),
        }
    }

    fn check_sizes(&self, views: &[u128]) -> Result<(), TableAppendError> {
        match views
            .iter()
            .position(|view| view_length(*view) > VALUE_BYTES_MAX)
        {
            Some(row) => Err(TableAppendError::TooLarge {
                column: self.name(),
                row: self.row(row),
                bytes: view_length(views[row]),
                limit: VALUE_BYTES_MAX,
            }),
            None => Ok(()),
        }
    }

    /// Text of at most `length` characters. Blanks beyond them are dropped; CHAR drops all trailing ones.
    fn fit(
        &self,
        array: &ArrayRef,
        length: u32,
        is_char: bool,
    ) -> Result<ArrayRef, TableAppendError> {
        let text = array.as_string_view();
        self.check_sizes(text.views())?;
        let fits =
            |value: &str| value.len() <= length as usize && !(is_char && value.ends_with(' '));
        if text.iter().flatten().all(fits) {
            return Ok(Arc::clone(array));
        }
        let fitted = text.iter().enumerate().map(|(row, value)| match value {
            Some(value) => self
                .fit_value(row, value, length as usize, is_char)
                .map(Some),
            None => Ok(None),
        });
        Ok(Arc::new(fitted.collect::<Result<StringViewArray, _>>()?))
    }

    fn fit_value<'v>(
        &self,
        row: usize,
        value: &'v str,
        length: usize,
        is_char: bool,
    ) -> Result<&'v str, TableAppendError> {
        let value = if is_char {
            value.trim_end_matches(' ')
        } else {
            value
        };
        let Some((end, _)) = value.char_indices().nth(length) else {
            return Ok(value);
        };
        let (kept, beyond) = value.split_at(end);
        if beyond.bytes().all(|byte| byte == b' ') {
            return Ok(kept);
        }
        Err(TableAppendError::TooLong {
            column: self.name(),
            row: self.row(row),
            characters: value.chars().count(),
            sql_type: self.column.sql_type,
        })
    }
}
