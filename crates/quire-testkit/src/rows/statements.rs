//! Statements that change rows, with the model beside them.

use std::time::Duration;

use quire_kv::{btree::Direction, mvcc::LockWait, mvcc::TableLockMode, mvcc::TransactionOptions};
use quire_tables::row_table::KeyRange;
use quire_tables::{Engine, RowSource};

use super::model::{Change, State};
use super::schema::Row;
use super::session::text;
use super::session::{Outcome, perform, read_rows};
use super::workload::{Open, Workload};

/// With more rows a table is emptied at once soon: all of them are read again and again.
const MANY_ROWS: usize = 400;

/// The key of a row, and what becomes of the row.
type KeyedChange = (Box<[u8]>, Change);

impl Workload {
    /// Some statements that change a row of one table each.
    pub(super) fn change_rows(&mut self, open: &mut Open) -> Result<(), String> {
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
                Some((Box::default(), Change::Insert(row)))
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
        open: &Open,
        name: &str,
        only_deletes: bool,
    ) -> Result<Option<KeyedChange>, String> {
        let table = open.transaction.snapshot().row_table(name).map_err(text)?;
        let table = table.ok_or("a table is missing")?;
        let all = RowSource::Range(KeyRange::all());
        let mut rows = read_rows(&table, all, Direction::Forward)?;
        if rows.is_empty() {
            return Ok(None);
        }
        let (row_key, row) = rows.swap_remove(self.random.below(rows.len() as u64) as usize);
        if only_deletes || self.random.chance(40) {
            return Ok(Some((row_key, Change::Delete(row))));
        }
        let mut after: Row = row.clone();
        let other = self.random_row(open, name);
        for (value, other) in after.iter_mut().zip(other) {
            if self.random.chance(40) {
                *value = other;
            }
        }
        Ok(Some((row_key, Change::Update(row, after))))
    }

    fn statement(
        &mut self,
        open: &mut Open,
        name: &str,
        row_key: &[u8],
        change: &Change,
    ) -> Result<(), String> {
        let savepoint = open.transaction.savepoint();
        let outcome = perform(&mut open.transaction, name, row_key, change)?;
        let mut state = open.state.clone();
        let expected = if state.apply(name, change, &self.variant) {
            Outcome::Done
        } else {
            Outcome::Refused
        };
        if outcome != expected {
            return Err(format!(
                "{name}: {change:?} was {outcome:?}, not {expected:?}"
            ));
        }
        match outcome {
            Outcome::Done => open.state = state,
            Outcome::Refused | Outcome::Locked => open.transaction.roll_back_to(&savepoint),
        }
        Ok(())
    }

    fn random_row(&mut self, open: &Open, table: &str) -> Row {
        let state = open.state.tables.get(table);
        let added = state.map_or(&[][..], |state| &state.added);
        self.variant.random_row(table, added, &mut self.random)
    }

    /// So many rows that pages are flushed while their commit changes them.
    pub(super) fn insert_many(&mut self, open: &mut Open) -> Result<(), String> {
        const NAME: &str = "heap";
        open.transaction.begin_statement();
        let Some(table) = open.state.tables.get_mut(NAME) else {
            return self.change_definitions(open);
        };
        for _ in 0..self.variant.many_rows(&mut self.random) {
            let row = self.variant.one_of_many(&table.added, &mut self.random);
            table.add(row.clone());
            let inserted = perform(&mut open.transaction, NAME, &[], &Change::Insert(row))?;
            if inserted != Outcome::Done {
                return Err("a row without a key was refused".to_owned());
            }
        }
        Ok(())
    }

    /// Another transaction commits a row of a table without a key while this one is open.
    pub(super) fn commit_beside(&mut self, engine: &Engine, open: &mut Open) -> Result<(), String> {
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
        let change = Change::Insert(row.clone());
        match perform(&mut other, NAME, &[], &change)? {
            Outcome::Done => {}
            // With many rows of it this one may have locked the whole tree.
            Outcome::Locked => return Ok(()),
            Outcome::Refused => return Err("a row without a key was refused".to_owned()),
        }
        let mut state = State::clone(&self.state);
        let savepoints = open.savepoints.iter_mut().map(|(_, state)| state);
        for state in savepoints.chain([&mut state, &mut open.state]) {
            if let Some(table) = state.tables.get_mut(NAME) {
                table.add(row.clone());
            }
        }
        self.commit(state, synchronous, || other.commit().map_err(text))
    }
}
