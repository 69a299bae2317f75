//! Reads the rows of a table batch by batch: each batch is a query of its own, which begins behind the key of the last row.
//!
//! So that several readers share the one connection whose transaction is the snapshot, none keeps a statement open, and who reads two
//! tables in turn never waits for itself.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use rusqlite::{Connection, params_from_iter};

use quire_files::CopyControl;

use super::connection::{SqliteFile, SqliteStop};
use super::described_table::DescribedTable;
use super::row_key::RowKeyValue;
use super::values::append;
use crate::batch::{BATCH_ROWS, SourceBatchBuilder};
use crate::error::SourceError;

/// Rows of a table in the order of its key.
#[derive(Debug)]
pub(crate) struct SqliteReader {
    file: Arc<SqliteFile>,
    rows: SqliteRows,
    control: CopyControl,
    is_done: bool,
}

impl SqliteReader {
    pub(super) fn new(
        file: Arc<SqliteFile>,
        table: Arc<DescribedTable>,
        projection: Option<&[usize]>,
        control: &CopyControl,
    ) -> Result<Self, SourceError> {
        Ok(Self {
            file,
            rows: SqliteRows::new(table, projection)?,
            control: control.clone(),
            is_done: false,
        })
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.rows.schema)
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, SourceError> {
        if self.is_done {
            return Ok(None);
        }
        let (file, rows) = (&self.file, &mut self.rows);
        let batch = file.run(&self.control, |connection| {
            rows.next_batch(file, connection, BATCH_ROWS)
        });
        self.is_done = !matches!(batch, Ok(Some(_)));
        batch
    }
}

/// A place in a table, and what is read there.
#[derive(Debug)]
pub(super) struct SqliteRows {
    table: Arc<DescribedTable>,
    pub(super) schema: SchemaRef,
    selected: String,
    column_count: usize,
    /// The key of the last row that was read; `None` before the first.
    last_key: Option<Vec<RowKeyValue>>,
    is_at_end: bool,
}

impl SqliteRows {
    pub(super) fn new(
        table: Arc<DescribedTable>,
        projection: Option<&[usize]>,
    ) -> Result<Self, SourceError> {
        let column_count = table.expressions.len();
        let all: Vec<usize> = (0..column_count).collect();
        let projection = projection.unwrap_or(&all);
        if let Some(&index) = projection.iter().find(|&&index| index >= column_count) {
            let table = table.definition.name.clone();
            return Err(SourceError::NoColumn {
                table,
                index,
                column_count,
            });
        }
        let fields = projection
            .iter()
            .map(|&index| Arc::clone(&table.schema.fields()[index]));
        let schema = Arc::new(arrow::datatypes::Schema::new(fields.collect::<Vec<_>>()));
        let columns = projection.iter().map(|&index| &table.expressions[index]);
        let selected: Vec<&str> = columns
            .chain(table.key.expressions())
            .map(String::as_str)
            .collect();
        Ok(Self {
            schema,
            selected: selected.join(", "),
            column_count: projection.len(),
            last_key: None,
            is_at_end: false,
            table,
        })
    }

    /// The rows behind the last one, at most `row_count_max`; `None` if there are none.
    pub(super) fn next_batch(
        &mut self,
        file: &SqliteFile,
        connection: &Connection,
        row_count_max: usize,
    ) -> Result<Option<RecordBatch>, SqliteStop> {
        if self.is_at_end {
            return Ok(None);
        }
        let keys = self.table.key.expressions();
        let condition = match &self.last_key {
            Some(_) => format!(
                "WHERE ({}) > ({})",
                keys.join(", "),
                vec!["?"; keys.len()].join(", ")
            ),
            None => String::new(),
        };
        let (selected, from) = (&self.selected, &self.table.from);
        let sql = format!(
            "SELECT {selected} FROM {from} {condition} ORDER BY {} LIMIT {row_count_max}",
            keys.join(", ")
        );
        let parameters = self.last_key.clone().unwrap_or_default();
        self.collect(file, connection, &sql, parameters, row_count_max)
    }

    /// The rows from a rowid on, but none that was read before.
    pub(super) fn next_from_rowid(
        &mut self,
        file: &SqliteFile,
        connection: &Connection,
        rowid: i64,
        row_count_max: usize,
    ) -> Result<Option<RecordBatch>, SqliteStop> {
        let before = rowid.checked_sub(1);
        let last = match self.last_key.as_deref() {
            Some([RowKeyValue::Integer(last)]) => {
                before.map_or(Some(*last), |before| Some(before.max(*last)))
            }
            _ => before,
        };
        self.last_key = last.map(|last| vec![RowKeyValue::Integer(last)]);
        self.next_batch(file, connection, row_count_max)
    }

    /// The rows from a position on.
    pub(super) fn next_from_position(
        &mut self,
        file: &SqliteFile,
        connection: &Connection,
        position: u64,
        row_count_max: usize,
    ) -> Result<Option<RecordBatch>, SqliteStop> {
        let (selected, from) = (&self.selected, &self.table.from);
        let order = self.table.key.expressions().join(", ");
        let sql = format!(
            "SELECT {selected} FROM {from} ORDER BY {order} LIMIT {row_count_max} OFFSET {position}"
        );
        self.collect(file, connection, &sql, Vec::new(), row_count_max)
    }

    fn collect(
        &mut self,
        file: &SqliteFile,
        connection: &Connection,
        sql: &str,
        parameters: Vec<RowKeyValue>,
        row_count_max: usize,
    ) -> Result<Option<RecordBatch>, SqliteStop> {
        let mut builder = SourceBatchBuilder::new(&self.schema)
            .ok_or_else(|| file.internal("a column has none of our types"))?;
        let key_count = self.table.key.expressions().len();
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query(params_from_iter(parameters))?;
        while let Some(row) = rows.next()? {
            let key = || {
                (0..key_count)
                    .map(|index| {
                        row.get_ref(self.column_count + index)
                            .map(RowKeyValue::from)
                    })
                    .collect::<Result<Vec<RowKeyValue>, _>>()
            };
            for (index, column) in builder.columns.iter_mut().enumerate() {
                let appended = append(column, row.get_ref(index)?);
                builder.text_bytes += appended
                    .map_err(|problem| self.refused(index, &key().unwrap_or_default(), problem))?;
            }
            builder.end_row();
            if builder.is_full(row_count_max) {
                self.last_key = Some(key()?);
                break;
            }
        }
        self.is_at_end = !builder.is_full(row_count_max);
        if builder.row_count() == 0 {
            return Ok(None);
        }
        Ok(Some(
            builder.finish().map_err(|error| file.internal(error))?,
        ))
    }

    fn refused(&self, index: usize, key: &[RowKeyValue], problem: &str) -> SourceError {
        SourceError::Value {
            table: self.table.definition.name.clone(),
            row: self.table.key.shown(key),
            column: self.schema.field(index).name().clone(),
            problem: problem.to_owned(),
        }
    }
}
