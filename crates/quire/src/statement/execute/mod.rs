//! Runs compiled statements on the caller's thread, over whatever keeps the rows.

mod batch;
mod change;
mod select;

use quire_exec::plan::{Environment, EvaluationError, PlanScalar, Row};
use quire_tables::row_table::{TupleValue, Value};

pub(super) use select::passes;

use super::access::KeyBounds;
use super::compiled::{Compiled, ConflictAction, OutputColumn};
use super::lock_mode::LockMode;
use super::memory::GivenValues;
use super::table::TableKey;
use quire_error::Error;

use crate::result_rows::ResultRows;

/// Looks at a row; says whether to go on.
pub(super) type Visit<'v> = &'v mut dyn FnMut(Row<'_>) -> Result<bool, Error>;

/// Tells of a row whether it is meant.
pub(super) type Test<'t> = &'t dyn Fn(Row<'_>) -> Result<bool, Error>;

/// Does with a row, whose columns it sees all, what is to become of it; false when it is not meant after all.
pub(super) type Decide<'d> = &'d mut dyn FnMut(Row<'_>, Apply<'_>) -> Result<bool, Error>;

/// Does that with the row that was shown.
pub(super) type Apply<'a> = &'a mut dyn FnMut(NewRow<'_>) -> Result<(), Error>;

/// What becomes of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum NewRow<'a> {
    /// Some columns get new values.
    Changed(&'a [(usize, TupleValue<'a>)]),
    Deleted,
}

/// Which rows to read, and what of them.
#[derive(Clone, Copy)]
pub(super) struct RowRange<'a> {
    pub(super) key: &'a TableKey,
    pub(super) bounds: &'a KeyBounds,
    /// Against the order of the key.
    pub(super) is_reversed: bool,
    /// Ordinals of columns.
    pub(super) wanted: &'a [usize],
}

/// The rows of one table, in one transaction.
pub(super) trait TableRows: NewRows {
    /// Visits the rows of a range, in the order of its key or backwards, with the values of the wanted columns.
    fn scan(&mut self, range: RowRange<'_>, visit: Visit<'_>) -> Result<(), Error>;

    /// The same with the rows that pass `test` locked. If a row has changed before its lock was had, it is visited as it is now.
    fn scan_locked(
        &mut self,
        range: RowRange<'_>,
        lock: LockMode,
        test: Test<'_>,
        visit: Visit<'_>,
    ) -> Result<(), Error>;

    /// Locks the rows within bounds that pass `test`, all columns given, and does with each what `decide` says of it as it is when
    /// the lock is had. Returns how many were changed or deleted.
    fn change(
        &mut self,
        key: &TableKey,
        bounds: &KeyBounds,
        test: Test<'_>,
        decide: Decide<'_>,
    ) -> Result<u64, Error>;
}

/// A table that rows are added to. Nothing is read but the newest state of rows that are in the way.
pub(super) trait NewRows {
    /// The next value of the sequence with that id.
    fn next_value(&mut self, sequence: u64) -> Result<i64, Error>;

    /// Inserts a row, or does what `conflict` says when another row has one of its keys: `decide` says what becomes of that one,
    /// which is locked.
    fn insert(
        &mut self,
        row: Row<'_>,
        conflict: &ConflictAction,
        decide: Decide<'_>,
    ) -> Result<Inserted, Error>;
}

/// What became of a row that was to be inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inserted {
    New,
    /// The row that was there has been changed.
    Updated,
    LeftOut,
}

/// What an execution did.
#[derive(Debug)]
pub(super) enum Executed {
    Rows(ResultRows),
    /// Nothing: there are more rows than may be read here.
    TooMany,
    /// Number of rows inserted, updated or deleted, and those of `RETURNING`.
    Changed(u64, Option<ResultRows>),
}

impl Compiled {
    /// Runs the statement.
    pub(super) fn execute(
        &self,
        rows: &mut dyn TableRows,
        environment: &Environment<'_>,
    ) -> Result<Executed, Error> {
        let mut given = GivenValues::default();
        match self {
            Self::Select(select) => {
                let found = select.execute(rows, environment)?;
                Ok(found.map_or(Executed::TooMany, Executed::Rows))
            }
            Self::Insert(insert) => insert.execute(rows, environment, &mut given),
            Self::Change(change) => change.execute(rows, environment, &mut given),
        }
    }
}

impl OutputColumn {
    fn value<'a>(&'a self, row: Row<'a>, environment: &Environment<'a>) -> Result<Value, Error> {
        let value = self.node.evaluate(row, environment)?;
        Ok(value.into_value(self.is_text)?)
    }

    /// The same, borrowed where it can be.
    fn scalar<'a>(
        &'a self,
        row: Row<'a>,
        environment: &Environment<'a>,
    ) -> Result<PlanScalar<'a>, Error> {
        let value = self.node.evaluate(row, environment)?;
        match &value {
            PlanScalar::Bytes(bytes) if self.is_text && std::str::from_utf8(bytes).is_err() => {
                Err(EvaluationError::NotText.into())
            }
            _ => Ok(value),
        }
    }
}
