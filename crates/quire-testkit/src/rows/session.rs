//! Statements on the engine's side.

use arrow::array::AsArray;
use quire_kv::btree::Direction;
use quire_kv::mvcc::{KeyWriteError, LockError};
use quire_tables::row_table::{TupleValue, Value};
use quire_tables::{
    ColumnDefinition, Engine, Insertion, RowChanges, RowScanOptions, RowTable, RowWriteError,
    ScanRowSource, Snapshot, Transaction,
};

use super::model::{ModelState, ModelTableState, RowChange};
use super::schema::{AddedColumnState, Row, first_columns};
use crate::engine::read_tables;

/// A row's key in its table, and the row.
pub type KeyedRow = (Box<[u8]>, Row);

pub(super) const SEQUENCE: &str = "numbers";

/// What became of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorkloadOutcome {
    /// It has been done.
    Done,
    /// A constraint forbids it.
    Refused,
    /// Another transaction keeps what it needs.
    Locked,
}

/// All rows of a source with their keys, in its order; NULL in columns that were dropped.
///
/// # Errors
/// The message of the engine.
pub fn read_rows(
    table: &RowTable,
    source: ScanRowSource,
    direction: Direction,
) -> Result<Vec<KeyedRow>, String> {
    let definition = table.definition();
    let visible: Vec<(usize, &ColumnDefinition)> = definition.visible_columns().collect();
    let options = RowScanOptions {
        projection: (0..visible.len()).collect(),
        with_row_key: true,
        source,
        direction,
        batch_rows: 64,
    };
    let mut scan = table.scan(&options).map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    while let Some(batch) = scan.next_batch().map_err(|error| error.to_string())? {
        let keys = batch.column(visible.len()).as_binary_view();
        for row in 0..batch.num_rows() {
            let mut values: Row = vec![Value::Null; definition.columns.len()];
            for (array, (place, column)) in batch.columns().iter().zip(&visible) {
                let value = Value::of_array(array, row, column.sql_type);
                values[*place] = value.ok_or("a column of another type")?;
            }
            rows.push((keys.value(row).into(), values));
        }
    }
    Ok(rows)
}

/// Everything a snapshot has.
///
/// # Errors
/// The message of the engine.
pub(super) fn read_state(snapshot: &Snapshot) -> Result<ModelState, String> {
    let mut state = ModelState {
        loads: read_tables(snapshot)?,
        ..ModelState::default()
    };
    // A change moves a row, and so does a merge.
    state.loads.values_mut().for_each(|rows| rows.sort());
    for table in snapshot.row_tables().map_err(|error| error.to_string())? {
        let mut found = ModelTableState::default();
        let all = ScanRowSource::all();
        for (_, row) in read_rows(&table, all, Direction::Forward)? {
            found.add(row);
        }
        let indexes = table.indexes().iter();
        found.indexes = indexes
            .map(|index| index.definition.key.name.clone())
            .collect();
        let definition = table.definition();
        let added = definition.columns.iter();
        let added = added.skip(first_columns(&definition.name));
        found.added = added
            .map(|column| {
                if column.is_dropped {
                    AddedColumnState::Dropped
                } else {
                    AddedColumnState::Kept
                }
            })
            .collect();
        state.tables.insert(definition.name.clone(), found);
    }
    Ok(state)
}

/// Does a change of one row as a statement does.
///
/// # Errors
/// Anything but a violated constraint.
pub(super) fn perform(
    transaction: &mut Transaction,
    name: &str,
    row_key: &[u8],
    change: &RowChange,
) -> Result<WorkloadOutcome, String> {
    match try_perform(transaction, name, row_key, change) {
        Ok(outcome) => Ok(outcome),
        Err(
            RowWriteError::Duplicate { .. }
            | RowWriteError::NoReferenced { .. }
            | RowWriteError::StillReferenced { .. },
        ) => Ok(WorkloadOutcome::Refused),
        Err(
            RowWriteError::Lock(LockError::Timeout)
            | RowWriteError::Write(KeyWriteError::Lock(LockError::Timeout)),
        ) => Ok(WorkloadOutcome::Locked),
        Err(error) => Err(format!("{name}: {error}")),
    }
}

fn try_perform(
    transaction: &mut Transaction,
    name: &str,
    row_key: &[u8],
    change: &RowChange,
) -> Result<WorkloadOutcome, RowWriteError> {
    let table = transaction.snapshot().row_table(name)?;
    let missing = || RowWriteError::Reference(format!("table {name} is not there"));
    let parts = table.ok_or_else(missing)?.parts().clone();
    let mut changes = RowChanges::new(transaction.is_referenced(name));
    if !matches!(change, RowChange::Insert(_)) {
        changes.lock(transaction, &parts, row_key)?;
    }
    match change {
        RowChange::Insert(row) => {
            let values = tuple_values(row);
            if let Insertion::Conflict(_) = changes.insert(transaction, &parts, &values)? {
                return Ok(WorkloadOutcome::Refused);
            }
        }
        RowChange::Update(_, row) => {
            changes.update(transaction, &parts, row_key, &tuple_values(row))?;
        }
        RowChange::Delete(_) => changes.delete(transaction, &parts, row_key)?,
    }
    changes.check_references(transaction)?;
    Ok(WorkloadOutcome::Done)
}

pub(super) fn tuple_values(row: &Row) -> Vec<TupleValue<'_>> {
    row.iter().map(Value::as_tuple_value).collect()
}

/// The next value of the sequence, which must be greater than those before.
pub(super) fn next_value(engine: &Engine, given: i64) -> Result<i64, String> {
    let snapshot = engine.snapshot();
    let sequence = snapshot.sequence(SEQUENCE).ok_or("the sequence is gone")?;
    let value = snapshot.next_value(&sequence).map_err(text)?;
    if value <= given {
        return Err(format!("the sequence gave {value} after {given}"));
    }
    Ok(value)
}

/// An error of any kind, in words.
pub(super) fn text(error: impl ToString) -> String {
    error.to_string()
}
