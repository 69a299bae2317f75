//! Statements that change rows, with the model beside them.

use std::time::Duration;

use quire_kv::{btree::Direction, mvcc::LockWait, mvcc::TableLockMode, mvcc::TransactionOptions};
use quire_tables::{Engine, ScanRowSource};

use super::model::{ModelState, RowChange};
use super::schema::Row;
use super::session::{WorkloadOutcome, perform, read_rows, text};
use super::workload::{OpenWorkloadTransaction, RowWorkload};

/// With more rows a table is emptied at once soon: all of them are read again and again.
const MANY_ROWS: usize = 400;

/// The key of a row, and what becomes of the row.
type KeyedChange = (Box<[u8]>, RowChange);

impl RowWorkload {
    /// Some statements that change a row of one table each.
    pub(super) fn change_rows(&mut self, open: &mut OpenWorkloadTransaction) -> Result<(), String> {
        let names: Vec<String> = open.state.tables.keys().cloned().collect();
        let Some(name) = names.get(self.random.below(names.len() as u64) as usize) else {
            return self.change_definitions(open);
        };
        let row_count = open.state.tables[name].row_count();
        if row_count > MANY_ROWS && name != "parent" && self.random.chance(30) {
            return self.truncate(open, name);
        }
        // Tables grow, and are emptied sometimes, so that pages are split and merged.
        let (count, inserts) = match self.random.below(12) {
            0 => (10 + self.random.below(60), 100),
            1 if row_count > 60 => (row_count.min(MANY_ROWS) as u64 - 10, 0),
            _ => (1 + self.random.below(4), 45),
        };
        for _ in 0..count {
            open.transaction.begin_statement();
            let change = if self.random.chance(inserts) {
                let row = self.random_row(open, name);
                Some((Box::default(), RowChange::Insert(row)))
            } else {
                self.change_of_row(open, name, inserts == 0)?
            };
            let Some((row_key, change)) = change else {
                continue;
            };
            self.statement(open, name, &row_key, &change)?;
        }
        Ok(())
    }

    fn change_of_row(
        &mut self,
        open: &OpenWorkloadTransaction,
        name: &str,
        only_deletes: bool,
    ) -> Result<Option<KeyedChange>, String> {
        let table = open.transaction.snapshot().row_table(name).map_err(text)?;
        let table = table.ok_or("a table is missing")?;
        let all = ScanRowSource::all();
        let mut rows = read_rows(&table, all, Direction::Forward)?;
        if rows.is_empty() {
            return Ok(None);
        }
        let (row_key, row) = rows.swap_remove(self.random.below(rows.len() as u64) as usize);
        if only_deletes || self.random.chance(40) {
            return Ok(Some((row_key, RowChange::Delete(row))));
        }
        let mut after: Row = row.clone();
        let other = self.random_row(open, name);
        for (value, other) in after.iter_mut().zip(other) {
            if self.random.chance(40) {
                *value = other;
            }
        }
        Ok(Some((row_key, RowChange::Update(row, after))))
    }

    fn statement(
        &mut self,
        open: &mut OpenWorkloadTransaction,
        name: &str,
        row_key: &[u8],
        change: &RowChange,
    ) -> Result<(), String> {
        let savepoint = open.transaction.savepoint();
        let outcome = perform(&mut open.transaction, name, row_key, change)?;
        let mut state = open.state.clone();
        let expected = if state.apply(name, change, &self.variant) {
            WorkloadOutcome::Done
        } else {
            WorkloadOutcome::Refused
        };
        if outcome != expected {
            return Err(format!(
                "{name}: {change:?} was {outcome:?}, not {expected:?}"
            ));
        }
        match outcome {
            WorkloadOutcome::Done => open.state = state,
            WorkloadOutcome::Refused | WorkloadOutcome::Locked => {
                open.transaction.roll_back_to(&savepoint)
            }
        }
        Ok(())
    }

    fn random_row(&mut self, open: &OpenWorkloadTransaction, table: &str) -> Row {
        let state = open.state.tables.get(table);
        let added = state.map_or(&[][..], |state| &state.added);
        self.variant.random_row(table, added, &mut self.random)
    }

    /// So many rows that pages are flushed while their commit changes them.
    pub(super) fn insert_many(&mut self, open: &mut OpenWorkloadTransaction) -> Result<(), String> {
        const NAME: &str = "heap";
        open.transaction.begin_statement();
        let Some(table) = open.state.tables.get_mut(NAME) else {
            return self.change_definitions(open);
        };
        for _ in 0..self.variant.many_rows(&mut self.random) {
            let row = self.variant.one_of_many(&table.added, &mut self.random);
            table.add(row.clone());
            let inserted = perform(&mut open.transaction, NAME, &[], &RowChange::Insert(row))?;
            if inserted != WorkloadOutcome::Done {
                return Err("a row without a key was refused".to_owned());
            }
        }
        Ok(())
    }

    /// Another transaction commits a row of a table without a key while this one is open.
    pub(super) fn commit_beside(
        &mut self,
        engine: &Engine,
        open: &mut OpenWorkloadTransaction,
    ) -> Result<(), String> {
        const NAME: &str = "heap";
        let synchronous = self.random_synchronous();
        let mut other = engine.transaction(TransactionOptions {
            synchronous,
            lock_timeout: Some(Duration::ZERO),
            ..TransactionOptions::default()
        });
        let Some(id) = other.snapshot().id_of(NAME) else {
            return Ok(());
        };
        // Whoever has dropped the table, or makes an index of it, has locked it.
        let mode = TableLockMode::RowExclusive;
        if other.lock_table(id, mode, LockWait::Fail).is_err() {
            return Ok(());
        }
        let added = &self.state.tables[NAME].added;
        let row = self.variant.random_row(NAME, added, &mut self.random);
        let change = RowChange::Insert(row.clone());
        match perform(&mut other, NAME, &[], &change)? {
            WorkloadOutcome::Done => {}
            // With many rows of it this one may have locked the whole tree.
            WorkloadOutcome::Locked => return Ok(()),
            WorkloadOutcome::Refused => return Err("a row without a key was refused".to_owned()),
        }
        let mut state = ModelState::clone(&self.state);
        let savepoints = open.savepoints.iter_mut().map(|(_, state)| state);
        for state in savepoints.chain([&mut state, &mut open.state]) {
            if let Some(table) = state.tables.get_mut(NAME) {
                table.add(row.clone());
            }
        }
        self.commit(state, synchronous, || other.commit().map_err(text))
    }
}
