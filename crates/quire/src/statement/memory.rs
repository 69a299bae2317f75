//! What an execution needs besides its answer, and the next one of the same prepared statement can use again. Vectors whose elements
//! borrow are kept without elements.

use quire_exec::plan::PlanScalar;
use quire_tables::row_table::{RowBuffer, TupleValue};

use crate::result_rows::ResultRows;

/// Memory of a statement.
#[derive(Default)]
pub(super) struct StatementBuffers {
    pub(super) rows: ResultRows,
    pub(super) row_key: Vec<u8>,
    pub(super) given: GivenValues,
    pub(super) row: ChangedRow,
}

/// Memory of the values that a statement gives one row.
#[derive(Default)]
pub(super) struct GivenValues {
    pub(super) scalars: Vec<PlanScalar<'static>>,
    /// Of a new row.
    pub(super) row: Vec<TupleValue<'static>>,
    /// Of some columns.
    pub(super) columns: Vec<(usize, TupleValue<'static>)>,
}

/// Memory of a row that comes, changes or goes.
#[derive(Default)]
pub(super) struct ChangedRow {
    pub(super) tuple: Vec<u8>,
    pub(super) buffer: RowBuffer,
    pub(super) before: Vec<TupleValue<'static>>,
    pub(super) after: Vec<TupleValue<'static>>,
}
