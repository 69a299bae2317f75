//! Tables come and go.

use std::sync::Arc;

use quire_store::{PageId, PageReadError};

use super::WriteTransaction;
use crate::catalog::{RowTableEntry, TableEntry};
use crate::definition::{TableDefinition, TableStorage, TreeRecord, TreeRole};
use crate::error::{EngineError, TransactionError};

impl WriteTransaction {
    /// Creates an empty table. Columns of the primary key become NOT NULL; indexes get their ids; sequences that columns take
    /// their values from belong to the table from now on.
    ///
    /// # Errors
    /// A name that it needs is taken, or the definition is not acceptable. The transaction can go on.
    pub fn create_table(
        &mut self,
        mut definition: TableDefinition,
    ) -> Result<(), TransactionError> {
        let key_columns = definition.primary_key.iter().flat_map(|key| &key.columns);
        for index in key_columns.map(|part| part.column).collect::<Vec<_>>() {
            if let Some(column) = definition.columns.get_mut(index) {
                column.nullable = false;
            }
        }
        for column in &mut definition.columns {
            column.stores_null = column.nullable || definition.storage == TableStorage::Column;
        }
        definition.validate()?;
        definition.choose_padding();
        self.lock_names_of(&definition)?;
        self.check_names_are_free(&definition)?;
        let before = self.catalog.clone();
        let added = self.add_table(definition);
        if added.is_err() {
            self.catalog = before;
        }
        added
    }

    fn add_table(&mut self, mut definition: TableDefinition) -> Result<(), TransactionError> {
        let id = self.next_id();
        for index in &mut definition.indexes {
            index.id = self.next_id();
        }
        self.own_sequences(id, &definition);
        let name = definition.name.clone();
        match definition.storage {
            TableStorage::Column => {
                let entry = TableEntry::new(id, Arc::new(definition));
                self.catalog.tables.insert(name.clone(), Arc::new(entry));
                self.changed_tables.insert(name);
            }
            TableStorage::Row => {
                let trees = self.new_trees(&definition)?;
                let definition = Arc::new(definition);
                let entry = RowTableEntry {
                    id,
                    definition,
                    trees,
                };
                self.catalog.row_tables.insert(name, Arc::new(entry));
                self.check_foreign_keys()?;
            }
        }
        self.definitions_changed = true;
        Ok(())
    }

    /// Its own name, those of its indexes, and the tables that it refers to.
    pub(super) fn lock_names_of(
        &mut self,
        definition: &TableDefinition,
    ) -> Result<(), TransactionError> {
        self.lock_name(&definition.name)?;
        for index in definition.index_names() {
            self.lock_name(index)?;
        }
        for key in &definition.foreign_keys {
            if key.referenced_table != definition.name {
                self.lock_name(&key.referenced_table)?;
            }
        }
        Ok(())
    }

    fn check_names_are_free(&self, definition: &TableDefinition) -> Result<(), TransactionError> {
        let own = definition.index_names().collect::<Vec<_>>();
        let names = own.iter().copied().chain([definition.name.as_str()]);
        for (index, name) in names.enumerate() {
            if self.catalog.has_name(name) || own.iter().take(index).any(|other| *other == name) {
                return Err(TransactionError::TableExists(name.to_owned()));
            }
        }
        Ok(())
    }

    pub(super) fn check_foreign_keys(&self) -> Result<(), TransactionError> {
        match self.catalog.foreign_key_error() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    pub(super) fn next_id(&mut self) -> u64 {
        let engine = self.ticket.engine().clone();
        engine.row_half().numbers.give(&mut self.catalog)
    }

    fn new_trees(
        &mut self,
        definition: &TableDefinition,
    ) -> Result<Vec<TreeRecord>, TransactionError> {
        let indexes = definition.indexes.iter();
        let roles = [TreeRole::Rows, TreeRole::Overflow]
            .into_iter()
            .chain(indexes.map(|index| TreeRole::Index(index.id)));
        roles.map(|role| self.new_tree(role)).collect()
    }

    /// A tree without pages: its root page has a name, and will be written with the first change of the tree.
    pub(super) fn new_tree(&mut self, role: TreeRole) -> Result<TreeRecord, TransactionError> {
        let root = self.ticket.volume().allocate_page();
        let root = root.ok_or(TransactionError::PagesUsedUp)?;
        let engine = self.ticket.engine().clone();
        let id = engine.row_half().numbers.give_tree(&mut self.catalog);
        Ok(TreeRecord { role, id, root })
    }

    /// Drops a table with its indexes and the sequences that it owns. A damaged column table can be dropped too: pages that
    /// only its unreadable metadata knows of stay behind and are reported by the check of the file. The trees of a row table
    /// become [`Snapshot::dropped_trees`](crate::Snapshot::dropped_trees).
    ///
    /// # Errors
    /// No such table, or views or foreign keys of other tables depend on it (the transaction can go on), or the volume fails.
    pub fn drop_table(&mut self, name: &str) -> Result<(), TransactionError> {
        self.lock_name(name)?;
        let id = self.table_id(name)?;
        let dependents = self.dependents_of_table(id, name);
        if !dependents.is_empty() {
            let what = format!("table {name}");
            return Err(TransactionError::Dependents { what, dependents });
        }
        self.pages.set_makes_room()?;
        self.discard_rows(name)?;
        self.catalog.tables.remove(name);
        self.catalog.row_tables.remove(name);
        let is_kept = |table| table != Some(id);
        let owner = |owner: crate::definition::SequenceOwner| owner.table;
        self.catalog
            .sequences
            .retain(|_, sequence| is_kept(sequence.owner.map(owner)));
        self.changed_tables.remove(name);
        self.definitions_changed = true;
        Ok(())
    }

    /// Removes all rows of a table at once.
    ///
    /// # Errors
    /// No such table (the transaction can go on), or the volume fails.
    pub fn truncate_table(&mut self, name: &str) -> Result<(), TransactionError> {
        self.lock_name(name)?;
        let id = self.table_id(name)?;
        self.check_appends_finished()?;
        self.pages.set_makes_room()?;
        self.discard_rows(name)?;
        if let Some(entry) = self.catalog.tables.get(name) {
            // A definition of its own: positions of rows that were there mean nothing now.
            let definition = TableDefinition::clone(&entry.definition);
            let entry = TableEntry::new(id, Arc::new(definition));
            self.catalog.tables.insert(name.to_owned(), Arc::new(entry));
            self.changed_tables.insert(name.to_owned());
        } else if let Some(entry) = self.catalog.row_tables.get(name).cloned() {
            let trees = self.new_trees(&entry.definition)?;
            let definition = Arc::clone(&entry.definition);
            let entry = RowTableEntry {
                id,
                definition,
                trees,
            };
            self.catalog
                .row_tables
                .insert(name.to_owned(), Arc::new(entry));
        }
        // Who has looked up the trees must look again.
        self.definitions_changed = true;
        Ok(())
    }

    /// Another definition for a row table without rows, which are to be stored in another way.
    pub(super) fn redefine_empty(
        &mut self,
        definition: TableDefinition,
    ) -> Result<(), TransactionError> {
        let name = definition.name.clone();
        self.lock_name(&name)?;
        let entry = self.catalog.row_tables.get(&name).cloned();
        let entry = entry.ok_or(TransactionError::TableNotFound(name))?;
        self.put_row_table(entry.id, definition, entry.trees.clone());
        Ok(())
    }

    pub(super) fn table_id(&self, name: &str) -> Result<u64, TransactionError> {
        let columnar = self.catalog.tables.get(name).map(|table| table.id);
        let rows = || self.catalog.row_tables.get(name).map(|table| table.id);
        columnar
            .or_else(rows)
            .ok_or_else(|| TransactionError::TableNotFound(name.to_owned()))
    }

    /// Frees the pages of a table, or has them freed.
    pub(super) fn discard_rows(&mut self, name: &str) -> Result<(), TransactionError> {
        if let Some(entry) = self.catalog.row_tables.get(name) {
            self.catalog.dropped_trees.extend(entry.trees.iter());
        }
        let Some(entry) = self.catalog.tables.get(name).cloned() else {
            return Ok(());
        };
        if let Some(state) = unless_damaged(entry.state(&self.source))? {
            for (index, row_group) in state.row_groups.iter().enumerate() {
                let loaded =
                    row_group.row_group(&entry.definition, index, |pages| self.source.read(pages));
                if let Some(loaded) = unless_damaged(loaded)? {
                    self.pages.free_segments(&loaded)?;
                }
                self.pages.free(&row_group.pointer.pages)?;
            }
            let dictionaries: Vec<PageId> = state.root.dictionary_pages().copied().collect();
            self.pages.free(&dictionaries)?;
        }
        self.pages.free(&entry.root_pages)?;
        self.catalog.dropped_trees.extend(entry.trees.iter());
        Ok(())
    }

    /// The views and foreign keys that would be left without the table.
    fn dependents_of_table(&self, id: u64, name: &str) -> Vec<String> {
        let tables = self.catalog.row_tables.values();
        let others = tables.filter(|table| table.id != id);
        let keys = others.flat_map(|table| {
            let keys = table.definition.foreign_keys.iter();
            let keys = keys.filter(|key| key.referenced_table == name);
            keys.map(|key| format!("constraint {} on table {}", key.name, table.definition.name))
        });
        self.dependent_views(id).into_iter().chain(keys).collect()
    }
}

/// `None` instead of an error that says the file is damaged.
fn unless_damaged<T>(result: Result<T, EngineError>) -> Result<Option<T>, EngineError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(
            EngineError::Corrupt { .. }
            | EngineError::Read(PageReadError::Corrupt { .. } | PageReadError::NotFound { .. }),
        ) => Ok(None),
        Err(error) => Err(error),
    }
}
