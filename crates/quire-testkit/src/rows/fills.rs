//! Tables whose trees are built from below, with the model beside them.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryViewArray, Int32Array, Int64Array, RecordBatch, StringViewArray,
};
use quire_kv::{btree::Direction, mvcc::LockWait, mvcc::TableLockMode};
use quire_tables::row_table::Value;
use quire_tables::{
    RowChanges, RowTable, RowWriteError, ScanRowSource, SqlType, TableDefinition, Transaction,
    TransactionError,
};

use super::history::DiskActivity;
use super::schema::{Row, random_options};
use super::session::{WorkloadOutcome, read_rows, text, tuple_values};
use super::workload::{OpenWorkloadTransaction, RowWorkload};

/// Rows of a sample by which it is chosen how rows are stored.
const SAMPLE_ROWS: usize = 300;

/// The name of a table until it takes the place of another.
const REWRITTEN: &str = "rewritten";

impl RowWorkload {
    /// Fills a table that is empty, or is emptied now, in one statement.
    pub(super) fn fill(&mut self, open: &mut OpenWorkloadTransaction) -> Result<(), String> {
        if open.state.tables.is_empty() {
            return self.change_definitions(open);
        }
        let name = self.some_table(open)?;
        if name == "parent" && open.state.has_references() {
            return Ok(());
        }
        self.enter(DiskActivity::Fill);
        let savepoint = open.transaction.savepoint();
        let before = open.state.clone();
        if before.tables[&name].row_count() > 0 {
            self.truncate(open, &name)?;
        }
        let mut state = open.state.clone();
        let mut is_right = true;
        let mut rows = Vec::new();
        let is_many = name == "heap" && self.random.chance(self.variant.share_of_many());
        let count = if is_many {
            self.variant.many_rows(&mut self.random)
        } else {
            [0, 3, 40, 300][self.random.below(4) as usize]
        };
        let has_wrong_ones = self.random.chance(15);
        for _ in 0..count {
            let added = &state.tables[&name].added;
            let row = if is_many {
                self.variant.one_of_many(added, &mut self.random)
            } else {
                self.variant.random_row(&name, added, &mut self.random)
            };
            let is_accepted = state.accepts(&name, &row);
            if is_accepted || has_wrong_ones && self.random.chance(2) {
                is_right &= is_accepted;
                if let Some(table) = state.tables.get_mut(&name) {
                    table.add(row.clone());
                }
                rows.push(row);
            }
        }
        let outcome = fill(&mut open.transaction, &name, &rows)?;
        match (outcome, is_right) {
            (WorkloadOutcome::Done, true) => open.state = state,
            (WorkloadOutcome::Refused, false) => {
                open.transaction.roll_back_to(&savepoint);
                open.state = before;
            }
            _ => return Err(format!("{name}: filling it was {outcome:?}")),
        }
        Ok(())
    }

    /// All rows are written again, and stored in another way, as `ALTER TABLE` does.
    pub(super) fn rewrite(&mut self, open: &mut OpenWorkloadTransaction) -> Result<(), String> {
        if open.state.tables.is_empty() {
            return self.change_definitions(open);
        }
        self.enter(DiskActivity::Fill);
        let name = self.some_table(open)?;
        let transaction = &mut open.transaction;
        let id = transaction
            .snapshot()
            .id_of(&name)
            .ok_or("a table is missing")?;
        let (mode, wait) = (TableLockMode::AccessExclusive, LockWait::Wait);
        transaction.lock_table(id, mode, wait).map_err(text)?;
        transaction.begin_statement();
        let table = transaction.snapshot().row_table(&name).map_err(text)?;
        let table = table.ok_or("a table is missing")?;
        let all = ScanRowSource::all();
        let rows = read_rows(&table, all, Direction::Forward)?;
        let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
        let old = TableDefinition::clone(table.definition());
        let mut new = temporary(&old);
        new.options = random_options(&mut self.random);
        transaction
            .define(|tables| tables.create_table(new))
            .map_err(text)?;
        if fill(transaction, REWRITTEN, &rows)? != WorkloadOutcome::Done {
            return Err(format!("{name}: its rows cannot be written again"));
        }
        transaction
            .define(|tables| tables.replace_table(&name, REWRITTEN))
            .map_err(text)?;
        let snapshot = transaction.snapshot();
        let stored = snapshot.definition(&name).ok_or("a table is missing")?;
        let mut definition = TableDefinition::clone(stored);
        definition.primary_key = old.primary_key;
        definition.foreign_keys = old.foreign_keys;
        for (index, old) in definition.indexes.iter_mut().zip(old.indexes) {
            index.key = old.key;
        }
        transaction.alter_table(&name, definition).map_err(text)
    }
}

/// A table of another name that takes the rows.
fn temporary(definition: &TableDefinition) -> TableDefinition {
    let mut temporary = definition.clone();
    temporary.name = REWRITTEN.to_owned();
    let indexes = temporary.indexes.iter_mut().map(|index| &mut index.key);
    for key in temporary.primary_key.iter_mut().chain(indexes) {
        key.name = format!("{REWRITTEN} {}", key.name);
    }
    temporary.foreign_keys.clear();
    for column in &mut temporary.columns {
        column.added = None;
    }
    temporary
}

/// Fills a table as a statement does. When it was refused, the statement must be rolled back.
fn fill(
    transaction: &mut Transaction,
    name: &str,
    rows: &[Row],
) -> Result<WorkloadOutcome, String> {
    transaction.begin_statement();
    let table = transaction.snapshot().row_table(name).map_err(text)?;
    let table = table.ok_or("a table is missing")?;
    let sample = sample(table.definition(), &rows[..rows.len().min(SAMPLE_ROWS)])?;
    match try_fill(transaction, &table, sample, rows) {
        Ok(()) => Ok(WorkloadOutcome::Done),
        Err(TransactionError::Rows(
            RowWriteError::Duplicate { .. } | RowWriteError::NoReferenced { .. },
        )) => Ok(WorkloadOutcome::Refused),
        Err(error) => Err(format!("{name}: {error}")),
    }
}

fn try_fill(
    transaction: &mut Transaction,
    table: &RowTable,
    sample: RecordBatch,
    rows: &[Row],
) -> Result<(), TransactionError> {
    let fill = transaction.begin_fill(table, &[sample])?;
    // Nobody else uses the table, and it has no rows.
    let used = || TransactionError::TableExists(table.definition().name.clone());
    let mut fill = fill.ok_or_else(used)?;
    let mut changes = RowChanges::default();
    for row in rows {
        let values = tuple_values(row);
        fill.insert(&values)?;
        changes.note_inserted(fill.parts(), &values);
    }
    transaction.finish_fill(fill)?;
    Ok(changes.check_references(transaction)?)
}

/// Rows as a batch of the table's visible columns.
fn sample(definition: &TableDefinition, rows: &[Row]) -> Result<RecordBatch, String> {
    let integer = |row: &Row, place: usize| match row[place] {
        Value::Integer(value) => Some(value),
        _ => None,
    };
    let array = |(place, sql_type): (usize, SqlType)| -> ArrayRef {
        let values = rows.iter();
        match sql_type {
            SqlType::Integer => {
                let values = values.map(|row| integer(row, place).map(|value| value as i32));
                Arc::new(values.collect::<Int32Array>())
            }
            SqlType::Text => {
                let values = values.map(|row| match &row[place] {
                    Value::Text(text) => Some(&**text),
                    _ => None,
                });
                Arc::new(values.collect::<StringViewArray>())
            }
            SqlType::Bytea => {
                let values = values.map(|row| match &row[place] {
                    Value::Bytes(bytes) => Some(&**bytes),
                    _ => None,
                });
                Arc::new(values.collect::<BinaryViewArray>())
            }
            _ => Arc::new(
                values
                    .map(|row| integer(row, place))
                    .collect::<Int64Array>(),
            ),
        }
    };
    let columns = definition.visible_columns();
    let columns = columns.map(|(place, column)| array((place, column.sql_type)));
    RecordBatch::try_new(definition.arrow_schema(), columns.collect()).map_err(text)
}
