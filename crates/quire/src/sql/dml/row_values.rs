//! New rows of a batch as the engine takes them: checked, fitted to their types, one value for each column that there ever was.

use std::ops::Range;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{Array, RecordBatch};
use quire_tables::row_table::{ColumnArray, TupleValue, fit};
use quire_tables::{SqlType, TableDefinition};

use quire_error::Error;

/// The columns of a batch that hold new rows.
pub(super) struct RowValues<'a> {
    definition: &'a TableDefinition,
    /// Place among all columns of the table, and values.
    columns: Vec<(usize, ColumnArray<'a>)>,
}

impl<'a> RowValues<'a> {
    /// Columns `range` of a batch are the visible columns of the table.
    pub(super) fn new(
        definition: &'a TableDefinition,
        batch: &'a RecordBatch,
        range: Range<usize>,
    ) -> Result<Self, Error> {
        let arrays = batch.columns()[range].iter();
        let columns = definition
            .visible_columns()
            .zip(arrays)
            .map(|((place, column), array)| {
                let values = ColumnArray::new(column.sql_type, array.as_ref());
                let wrong = || {
                    let found = array.data_type();
                    let text = format!("internal error: column \"{}\" as {found}", column.name);
                    Error::new("XX000", text)
                };
                Ok((place, values.ok_or_else(wrong)?))
            });
        Ok(Self {
            definition,
            columns: columns.collect::<Result<_, Error>>()?,
        })
    }

    /// Writes the values of a row to `values`.
    pub(super) fn read(&self, row: usize, values: &mut Vec<TupleValue<'a>>) -> Result<(), Error> {
        values.clear();
        values.resize(self.definition.columns.len(), TupleValue::Null);
        for (place, array) in &self.columns {
            values[*place] = stored_value(self.definition, *place, array.value(row))?;
        }
        Ok(())
    }

    /// Whether the row satisfies the CHECK constraints, whose answers are in columns `checks`.
    pub(super) fn check(
        &self,
        row: usize,
        checks: &Range<usize>,
        batch: &RecordBatch,
    ) -> Result<(), Error> {
        for (check, column) in self.definition.checks.iter().zip(checks.clone()) {
            let answers = batch.column(column).as_boolean();
            if answers.is_valid(row) && !answers.value(row) {
                let table = &self.definition.name;
                return Err(Error::check_violation(table, &check.name, &check.condition));
            }
        }
        Ok(())
    }
}

/// A value as the column at that place stores it.
///
/// # Errors
/// NULL where it is not allowed, too many digits or characters.
pub(crate) fn stored_value<'v>(
    definition: &TableDefinition,
    place: usize,
    value: TupleValue<'v>,
) -> Result<TupleValue<'v>, Error> {
    let Some(column) = definition.columns.get(place) else {
        return Ok(TupleValue::Null);
    };
    if value == TupleValue::Null && !column.nullable {
        return Err(Error::null_in(&definition.name, &column.name));
    }
    if let (SqlType::Decimal { precision, .. }, TupleValue::Wide(decimal)) =
        (column.sql_type, value)
        && decimal.unsigned_abs() >= 10_u128.pow(u32::from(precision))
    {
        return Err(Error::numeric_overflow(&column.name, column.sql_type));
    }
    Ok(fit(column.sql_type, value)?)
}
