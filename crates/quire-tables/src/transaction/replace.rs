//! One table takes the place of another: how rows become others.

use std::sync::Arc;

use super::WriteTransaction;
use crate::catalog::{RowTableEntry, TableEntry};
use crate::definition::{SequenceOwner, TableDefinition};
use crate::error::TransactionError;

impl WriteTransaction {
    /// Puts the table called `with` in the place of that called `name`, of the same storage, whose id and name it gets, and
    /// whose rows are gone. Sequences that belong to columns of the old table belong to those of the same name.
    ///
    /// # Errors
    /// No such tables; or foreign keys would have nothing unique to refer to (the transaction can go on); or the volume fails.
    pub fn replace_table(&mut self, name: &str, with: &str) -> Result<(), TransactionError> {
        self.lock_name(name)?;
        self.lock_name(with)?;
        let id = self.table_id(name)?;
        self.check_appends_finished()?;
        let old = self.catalog.definition(name).cloned();
        let old = old.ok_or_else(|| TransactionError::TableNotFound(name.to_owned()))?;
        let before = self.catalog.clone();
        if let Some(entry) = self.catalog.row_tables.get(with).cloned() {
            self.replace_row_table(id, &old, &entry)?;
        } else {
            let entry = self.catalog.tables.get(with).cloned();
            let entry = entry.ok_or_else(|| TransactionError::TableNotFound(with.to_owned()))?;
            self.replace_column_table(id, &old, &entry)?;
        }
        self.definitions_changed = true;
        let checked = self.check_foreign_keys();
        if checked.is_err() {
            self.catalog = before;
        }
        checked
    }

    fn replace_column_table(
        &mut self,
        id: u64,
        old: &TableDefinition,
        new: &TableEntry,
    ) -> Result<(), TransactionError> {
        let name = &old.name;
        if !self.catalog.tables.contains_key(name) {
            return Err(TransactionError::TableNotFound(name.clone()));
        }
        let state = new.state(&self.source)?;
        self.discard_rows(name)?;
        let definition = self.definition_in_place_of(id, old, &new.definition);
        let entry = new.in_place_of(id, Arc::new(definition), &state);
        self.catalog.tables.remove(&new.definition.name);
        self.changed_tables.remove(&new.definition.name);
        self.catalog.tables.insert(name.clone(), Arc::new(entry));
        self.changed_tables.insert(name.clone());
        Ok(())
    }

    fn replace_row_table(
        &mut self,
        id: u64,
        old: &TableDefinition,
        new: &RowTableEntry,
    ) -> Result<(), TransactionError> {
        let name = &old.name;
        if !self.catalog.row_tables.contains_key(name) {
            return Err(TransactionError::TableNotFound(name.clone()));
        }
        self.discard_rows(name)?;
        let definition = self.definition_in_place_of(id, old, &new.definition);
        self.catalog.row_tables.remove(&new.definition.name);
        self.put_row_table(id, definition, new.trees.clone());
        Ok(())
    }

    /// The new definition under the old name, with the sequences of the old one.
    pub(super) fn definition_in_place_of(
        &mut self,
        id: u64,
        old: &TableDefinition,
        new: &TableDefinition,
    ) -> TableDefinition {
        let definition = TableDefinition {
            name: old.name.clone(),
            ..new.clone()
        };
        self.catalog.sequences.retain(|_, sequence| {
            let owner = sequence.owner.filter(|owner| owner.table == id);
            let Some(owner) = owner else { return true };
            let column = old.columns.get(owner.column);
            let place = column.and_then(|column| definition.column_index(&column.name));
            if let Some(column) = place {
                let table = id;
                Arc::make_mut(sequence).owner = Some(SequenceOwner { table, column });
            }
            place.is_some()
        });
        self.own_sequences(id, &definition);
        definition
    }
}
