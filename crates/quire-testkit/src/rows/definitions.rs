//! Definitions, loads of column tables, and sequences, with the model beside them.

use std::sync::Arc;

use quire_engine::{
    AppendOptions, Engine, SequenceDefinition, SqlType, Synchronous, TransactionOptions,
};

use super::model::State;
use super::schema::{INDEXES, TABLES, definition, index_definition};
use super::workload::{Open, Workload, text};
use crate::engine::{batch, load_definition, random_rows};

const SEQUENCE: &str = "numbers";

impl Workload {
    pub(super) fn change_definitions(&mut self, open: &mut Open) -> Result<(), String> {
        let missing = |name: &&&str| !open.state.tables.contains_key(**name);
        if let Some(name) = TABLES.iter().find(missing) {
            let definition = definition(name, &self.variant);
            let created = open
                .transaction
                .define(|tables| tables.create_table(definition));
            created.map_err(text)?;
            let name = (*name).to_owned();
            open.state.tables.insert(name, Default::default());
            return Ok(());
        }
        match self.random.below(10) {
            0 => self.drop_or_truncate(open),
            _ => self.change_index(open),
        }
    }

    fn drop_or_truncate(&mut self, open: &mut Open) -> Result<(), String> {
        let name = ["child", "heap"][self.random.below(2) as usize];
        if self.random.chance(50) {
            open.transaction.drop_table(name).map_err(text)?;
            open.state.tables.remove(name);
        } else {
            open.transaction.truncate_table(name).map_err(text)?;
            if let Some(table) = open.state.tables.get_mut(name) {
                table.rows.clear();
            }
        }
        Ok(())
    }

    fn change_index(&mut self, open: &mut Open) -> Result<(), String> {
        let position = self.random.below(INDEXES.len() as u64) as usize;
        let (table, name, column, is_unique, _) = INDEXES[position];
        let has_index = open.state.tables[table].indexes.contains(name);
        if has_index {
            if self.random.chance(50) {
                let dropped = open.transaction.define(|tables| tables.drop_index(name));
                dropped.map_err(text)?;
                if let Some(table) = open.state.tables.get_mut(table) {
                    table.indexes.remove(name);
                }
            }
            return Ok(());
        }
        let savepoint = open.transaction.savepoint();
        let must_fail = is_unique && !open.state.is_unique(table, column);
        let created = open
            .transaction
            .create_index(table, index_definition(position));
        match created {
            Ok(()) if must_fail => Err(format!("{name} was made with two equal keys")),
            Ok(()) => {
                if let Some(table) = open.state.tables.get_mut(table) {
                    table.indexes.insert(name.to_owned());
                }
                Ok(())
            }
            Err(_) if must_fail => {
                open.transaction.roll_back_to(&savepoint);
                Ok(())
            }
            Err(error) => Err(text(error)),
        }
    }

    /// Loads, drops or empties a column table.
    pub(super) fn load(&mut self, open: &mut Open) -> Result<(), String> {
        let name = format!("load {}", self.random.below(2));
        let half = open.transaction.tables().map_err(text)?;
        if !open.state.loads.contains_key(&name) {
            half.create_table(load_definition(&name)).map_err(text)?;
            open.state.loads.insert(name.clone(), Vec::new());
        } else if self.random.chance(25) {
            half.drop_table(&name).map_err(text)?;
            open.state.loads.remove(&name);
            return Ok(());
        }
        let rows = random_rows(&mut self.random);
        let options = AppendOptions {
            workers: Some(1),
            row_group_rows: 1 + self.random.below(200) as usize,
            ..AppendOptions::default()
        };
        let mut appender = half.appender_with(&name, options).map_err(text)?;
        appender.append(&batch(&rows)?).map_err(text)?;
        appender.finish().map_err(text)?;
        open.state.loads.entry(name).or_default().extend(rows);
        Ok(())
    }

    /// Takes a value from a sequence, which no one has had before.
    pub(super) fn use_sequence(&mut self, engine: &Engine) -> Result<(), String> {
        if engine.snapshot().sequence(SEQUENCE).is_none() {
            let sequence = SequenceDefinition::ascending(SEQUENCE, SqlType::BigInt);
            let sequence = sequence.ok_or("BIGINT is an integer")?;
            let mut transaction = engine.transaction(TransactionOptions::default());
            let created = transaction.define(|tables| tables.create_sequence(sequence));
            created.map_err(text)?;
            let state = State::clone(&self.state);
            self.commit(state, Synchronous::Full, || {
                transaction.commit().map_err(text)
            })?;
        }
        let given = next_value(engine, self.state.given)?;
        Arc::make_mut(&mut self.state).given = given;
        Ok(())
    }
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
