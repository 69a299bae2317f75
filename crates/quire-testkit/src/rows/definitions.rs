//! Definitions and sequences, with the model beside them.

use std::sync::Arc;

use quire_codec::CodecScalar;
use quire_kv::{mvcc::Synchronous, mvcc::TransactionOptions};
use quire_tables::row_table::Value;
use quire_tables::{
    AddedColumn, BlockCodecId, ColumnDefinition, Engine, PageTarget, SequenceDefinition, SqlType,
    TableDefinition,
};

use super::model::ModelState;
use super::schema::{
    AddedColumnState, INDEXES, TABLES, definition, first_columns, index_definition, random_options,
};
use super::session::{SEQUENCE, next_value, text};
use super::workload::{OpenWorkloadTransaction, RowWorkload};

/// Columns that are added to a table, dropped ones too.
const ADDED_MAX: usize = 4;

impl RowWorkload {
    pub(super) fn change_definitions(
        &mut self,
        open: &mut OpenWorkloadTransaction,
    ) -> Result<(), String> {
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
        match self.random.below(16) {
            0 | 1 => self.drop_or_truncate(open),
            2 | 3 => self.add_column(open),
            4 => self.drop_column(open),
            5 => self.set_codec(open),
            6 => self.analyze(open),
            _ => self.change_index(open),
        }
    }

    /// Any of the row tables.
    pub(super) fn some_table(&mut self, open: &OpenWorkloadTransaction) -> Result<String, String> {
        let names: Vec<&String> = open.state.tables.keys().collect();
        let place = self.random.below(names.len() as u64) as usize;
        names
            .get(place)
            .map(|name| (*name).clone())
            .ok_or_else(|| "there is no table".to_owned())
    }

    fn alter(
        &mut self,
        open: &mut OpenWorkloadTransaction,
        name: &str,
        change: impl FnOnce(&mut TableDefinition),
    ) -> Result<(), String> {
        let snapshot = open.transaction.snapshot();
        let definition = snapshot.definition(name).ok_or("a table is missing")?;
        let mut definition = TableDefinition::clone(definition);
        change(&mut definition);
        open.transaction.alter_table(name, definition).map_err(text)
    }

    /// Rows that are there have a value that they need not be written for.
    fn add_column(&mut self, open: &mut OpenWorkloadTransaction) -> Result<(), String> {
        let name = self.some_table(open)?;
        let position = open.state.tables[&name].added.len();
        if position == ADDED_MAX {
            return Ok(());
        }
        let missing = [None, Some(7)][self.random.below(2) as usize];
        self.alter(open, &name, |definition| {
            let name = format!("added {position}");
            definition.columns.push(ColumnDefinition {
                added: Some(AddedColumn {
                    missing: missing.map(CodecScalar::Int64),
                }),
                ..ColumnDefinition::new(name, SqlType::BigInt)
            });
        })?;
        if let Some(table) = open.state.tables.get_mut(&name) {
            table.added.push(AddedColumnState::Kept);
            let value = missing.map_or(Value::Null, Value::Integer);
            table.change_all(|row| row.push(value.clone()));
        }
        Ok(())
    }

    fn drop_column(&mut self, open: &mut OpenWorkloadTransaction) -> Result<(), String> {
        let name = self.some_table(open)?;
        let added = &open.state.tables[&name].added;
        let Some(position) = added
            .iter()
            .position(|column| *column == AddedColumnState::Kept)
        else {
            return Ok(());
        };
        let place = first_columns(&name) + position;
        self.alter(open, &name, |definition| {
            definition.columns[place].is_dropped = true;
        })?;
        if let Some(table) = open.state.tables.get_mut(&name) {
            table.added[position] = AddedColumnState::Dropped;
            table.change_all(|row| row[place] = Value::Null);
        }
        Ok(())
    }

    /// Pages written from now on are compressed in another way.
    fn set_codec(&mut self, open: &mut OpenWorkloadTransaction) -> Result<(), String> {
        let name = self.some_table(open)?;
        let options = random_options(&mut self.random);
        self.alter(open, &name, |definition| {
            definition.options.page_codec = options.page_codec;
            definition.options.device_codec = options.device_codec;
            let slot_bytes = match options.page_codec {
                // What is not compressed takes whole pages, whose size stays.
                BlockCodecId::None => Some(definition.options.page_bytes),
                _ => None,
            };
            definition.options.page_target = options.page_target.map(|target| PageTarget {
                slot_bytes: slot_bytes.unwrap_or(target.slot_bytes),
                ..target
            });
        })
    }

    fn analyze(&mut self, open: &mut OpenWorkloadTransaction) -> Result<(), String> {
        let name = self.some_table(open)?;
        open.transaction.analyze(&name).map_err(text)
    }

    fn drop_or_truncate(&mut self, open: &mut OpenWorkloadTransaction) -> Result<(), String> {
        let name = ["child", "heap"][self.random.below(2) as usize];
        if self.random.chance(50) {
            open.transaction.drop_table(name).map_err(text)?;
            open.state.tables.remove(name);
            return Ok(());
        }
        self.truncate(open, name)
    }

    pub(super) fn truncate(
        &mut self,
        open: &mut OpenWorkloadTransaction,
        name: &str,
    ) -> Result<(), String> {
        open.transaction.truncate_table(name).map_err(text)?;
        if let Some(table) = open.state.tables.get_mut(name) {
            table.rows.clear();
        }
        Ok(())
    }

    fn change_index(&mut self, open: &mut OpenWorkloadTransaction) -> Result<(), String> {
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

    /// Takes a value from a sequence, which no one has had before.
    pub(super) fn use_sequence(&mut self, engine: &Engine) -> Result<(), String> {
        if engine.snapshot().sequence(SEQUENCE).is_none() {
            let sequence = SequenceDefinition::ascending(SEQUENCE, SqlType::BigInt);
            let sequence = sequence.ok_or("BIGINT is an integer")?;
            let mut transaction = engine.transaction(TransactionOptions::default());
            let created = transaction.define(|tables| tables.create_sequence(sequence));
            created.map_err(text)?;
            let state = ModelState::clone(&self.state);
            self.commit(state, Synchronous::Full, || {
                transaction.commit().map_err(text)
            })?;
        }
        let given = next_value(engine, self.state.given)?;
        Arc::make_mut(&mut self.state).given = given;
        Ok(())
    }
}
