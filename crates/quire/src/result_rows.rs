//! The rows of a result, in memory that rows to come can use.

use std::cmp::Ordering;
use std::ops::Range;

use quire_exec::plan::{EvaluationError, PlanScalar};
use quire_tables::row_table::{Decimal, Value};

use crate::value_ref::ValueRef;

/// Values of rows, one row after the other. What is longer than a number is in two buffers that all rows share, so that rows which come and
/// go allocate nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResultRows {
    cells: Vec<ResultCell>,
    texts: String,
    bytes: Vec<u8>,
    pub(crate) row_count: usize,
}

/// A value, or where it is.
#[derive(Debug, Clone, Copy)]
enum ResultCell {
    Null,
    Boolean(bool),
    Integer(i64),
    Decimal(Decimal),
    Real(f32),
    Double(f64),
    Text { start: usize, end: usize },
    Bytes { start: usize, end: usize },
}

impl ResultRows {
    /// Forgets the rows and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.cells.clear();
        self.texts.clear();
        self.bytes.clear();
        self.row_count = 0;
    }

    /// Bytes that it holds for rows to come.
    pub(crate) fn memory_bytes(&self) -> usize {
        let cells = self.cells.capacity() * size_of::<ResultCell>();
        cells + self.texts.capacity() + self.bytes.capacity()
    }

    /// The next value of the row that is being written; `is_text` says what its bytes are.
    pub(crate) fn push(
        &mut self,
        value: PlanScalar<'_>,
        is_text: bool,
    ) -> Result<(), EvaluationError> {
        let cell = match value {
            PlanScalar::Null => ResultCell::Null,
            PlanScalar::Boolean(value) => ResultCell::Boolean(value),
            PlanScalar::Integer(value) => ResultCell::Integer(value),
            PlanScalar::Decimal(value) => ResultCell::Decimal(value.into()),
            PlanScalar::Real(value) => ResultCell::Real(value),
            PlanScalar::Double(value) => ResultCell::Double(value),
            PlanScalar::Bytes(bytes) if is_text => {
                let text = std::str::from_utf8(&bytes).map_err(|_| EvaluationError::NotText)?;
                self.push_text(text)
            }
            PlanScalar::Bytes(bytes) => self.push_bytes(&bytes),
        };
        self.cells.push(cell);
        Ok(())
    }

    fn push_text(&mut self, text: &str) -> ResultCell {
        let start = self.texts.len();
        self.texts.push_str(text);
        let end = self.texts.len();
        ResultCell::Text { start, end }
    }

    fn push_bytes(&mut self, bytes: &[u8]) -> ResultCell {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let end = self.bytes.len();
        ResultCell::Bytes { start, end }
    }

    /// A row whose values are owned.
    pub(crate) fn push_row(&mut self, row: &[Value]) {
        for value in row {
            let cell = match value {
                Value::Null => ResultCell::Null,
                Value::Boolean(value) => ResultCell::Boolean(*value),
                Value::Integer(value) => ResultCell::Integer(*value),
                Value::Decimal(value) => ResultCell::Decimal(*value),
                Value::Real(value) => ResultCell::Real(*value),
                Value::Double(value) => ResultCell::Double(*value),
                Value::Text(text) => self.push_text(text),
                Value::Bytes(bytes) => self.push_bytes(bytes),
            };
            self.cells.push(cell);
        }
        self.row_count += 1;
    }

    /// A value, counted through all rows; NULL behind the last.
    pub(crate) fn value(&self, index: usize) -> ValueRef<'_> {
        match self.cells.get(index) {
            Some(cell) => self.of_cell(*cell),
            None => ValueRef::Null,
        }
    }

    /// All values.
    #[cfg(test)]
    pub(crate) fn values(&self) -> impl Iterator<Item = ValueRef<'_>> {
        self.cells.iter().map(|cell| self.of_cell(*cell))
    }

    fn of_cell(&self, cell: ResultCell) -> ValueRef<'_> {
        match cell {
            ResultCell::Null => ValueRef::Null,
            ResultCell::Boolean(value) => ValueRef::Boolean(value),
            ResultCell::Integer(value) => ValueRef::Integer(value),
            ResultCell::Decimal(value) => ValueRef::Decimal(value),
            ResultCell::Real(value) => ValueRef::Real(value),
            ResultCell::Double(value) => ValueRef::Double(value),
            ResultCell::Text { start, end } => {
                ValueRef::Text(self.texts.get(start..end).unwrap_or_default())
            }
            ResultCell::Bytes { start, end } => {
                ValueRef::Bytes(self.bytes.get(start..end).unwrap_or_default())
            }
        }
    }

    /// Puts rows of so many values in order, leaves those that are wanted, and of each its first `shown` values.
    pub(crate) fn arrange(
        &mut self,
        (width, shown): (usize, usize),
        wanted: Range<usize>,
        order: impl Fn(RowOf<'_>, RowOf<'_>) -> Ordering,
    ) {
        let row = |index: usize| RowOf {
            rows: self,
            start: index * width,
        };
        let mut rows: Vec<usize> = (0..self.row_count).collect();
        rows.sort_by(|left, right| order(row(*left), row(*right)));
        let end = wanted.end.min(rows.len());
        let kept = rows.get(wanted.start.min(end)..end).unwrap_or_default();
        let cells = kept.iter().flat_map(|row| {
            let start = row * width;
            self.cells.get(start..start + shown).unwrap_or_default()
        });
        let cells = cells.copied().collect();
        self.row_count = kept.len();
        self.cells = cells;
    }
}

/// One row.
#[derive(Clone, Copy)]
pub(crate) struct RowOf<'r> {
    rows: &'r ResultRows,
    start: usize,
}

impl<'r> RowOf<'r> {
    pub(crate) fn value(self, column: usize) -> ValueRef<'r> {
        self.rows.value(self.start + column)
    }
}
