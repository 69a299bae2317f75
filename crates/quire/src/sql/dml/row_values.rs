//! New rows of a batch as the engine takes them: checked, fitted to their types, one value for each column that there ever was.

use std::ops::Range;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{Array, RecordBatch};
use quire_engine::row_table::{ColumnArray, TupleValue, fit};
use quire_engine::{SqlType, TableDefinition};

use crate::error::Error;

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
            let column = &self.definition.columns[*place];
            let value = array.value(row);
            if value == TupleValue::Null && !column.nullable {
                return Err(self.null(&column.name));
            }
            check_digits(&column.name, column.sql_type, value)?;
            values[*place] = fit(column.sql_type, value)?;
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
                let name = &check.name;
                return Err(Error::new(
                    "23514",
                    format!(
                        "new row for relation \"{table}\" violates check constraint \"{name}\""
                    ),
                )
                .with_detail(format!("It must satisfy: {}", check.condition)));
            }
        }
        Ok(())
    }

    fn null(&self, column: &str) -> Error {
        let table = &self.definition.name;
        Error::new(
            "23502",
            format!(
                "null value in column \"{column}\" of relation \"{table}\" violates not-null constraint"
            ),
        )
    }
}

fn check_digits(column: &str, sql_type: SqlType, value: TupleValue<'_>) -> Result<(), Error> {
    if let (SqlType::Decimal { precision, .. }, TupleValue::Wide(value)) = (sql_type, value)
        && value.unsigned_abs() >= 10_u128.pow(u32::from(precision))
    {
        let text =
            format!("numeric field overflow: value in column \"{column}\" does not fit {sql_type}");
        return Err(Error::new("22003", text));
    }
    Ok(())
}
