//! Indexes come and go. Filling a new one is the business of who creates it.

use std::sync::Arc;

use quire_format::key::KeyCode;

use super::WriteTransaction;
use crate::catalog::RowTableEntry;
use crate::definition::{IndexDefinition, TableDefinition, TreeRecord, TreeRole};
use crate::error::{DefinitionError, TransactionError};

impl WriteTransaction {
    /// Adds an index to a row table, with a tree that is empty: entries for the rows that there are must be added before the
    /// transaction commits. Returns its tree.
    ///
    /// # Errors
    /// No such table, a column table, a name that is taken, or a definition that is not acceptable. The transaction can go on.
    pub fn create_index(
        &mut self,
        table: &str,
        index: IndexDefinition,
    ) -> Result<TreeRecord, TransactionError> {
        self.create_index_with(table, index, Vec::new())
    }

    /// The same; columns, of which no key has an entry, get codes for their strings.
    pub(super) fn create_index_with(
        &mut self,
        table: &str,
        mut index: IndexDefinition,
        codes: Vec<(usize, KeyCode)>,
    ) -> Result<TreeRecord, TransactionError> {
        self.lock_name(table)?;
        self.lock_name(&index.key.name)?;
        self.check_new_name("index", &index.key.name)?;
        let entry = self.row_table(table, || format!("the index {:?}", index.key.name))?;
        index.id = self.next_id();
        let role = TreeRole::Index(index.id);
        let mut definition = TableDefinition::clone(&entry.definition);
        definition.indexes.push(index);
        definition.validate()?;
        for (ordinal, code) in codes {
            if let Some(column) = definition.columns.get_mut(ordinal) {
                column.key_code = Some(code);
            }
        }
        let tree = self.new_tree(role)?;
        let trees = entry.trees.iter().copied().chain([tree]).collect();
        self.put_row_table(entry.id, definition, trees);
        Ok(tree)
    }

    /// Drops an index, or the UNIQUE constraint of that name.
    ///
    /// # Errors
    /// No such index, or foreign keys depend on it. The transaction can go on.
    pub fn drop_index(&mut self, name: &str) -> Result<(), TransactionError> {
        self.lock_name(name)?;
        let (entry, _) = self.index(name)?;
        self.lock_name(&entry.definition.name)?;
        let (entry, position) = self.index(name)?;
        let mut definition = TableDefinition::clone(&entry.definition);
        let role = TreeRole::Index(definition.indexes.remove(position).id);
        let dependents = self.foreign_keys_without(&definition);
        if !dependents.is_empty() {
            let what = format!("index {name}");
            return Err(TransactionError::Dependents { what, dependents });
        }
        let (dropped, trees) = entry.trees.iter().partition(|tree| tree.role == role);
        self.put_row_table(entry.id, definition, trees);
        let dropped: Vec<TreeRecord> = dropped;
        self.catalog.dropped_trees.extend(dropped);
        Ok(())
    }

    /// The table that has the index called `name`, and its place there.
    fn index(&self, name: &str) -> Result<(Arc<RowTableEntry>, usize), TransactionError> {
        let mut tables = self.catalog.row_tables.values();
        let found = tables.find_map(|table| {
            let mut indexes = table.definition.indexes.iter();
            let position = indexes.position(|index| index.key.name == name)?;
            Some((Arc::clone(table), position))
        });
        found.ok_or_else(|| TransactionError::NotFound {
            kind: "index",
            name: name.to_owned(),
        })
    }

    /// The foreign keys to a table that would have nothing unique to refer to, if it were defined so.
    fn foreign_keys_without(&self, definition: &TableDefinition) -> Vec<String> {
        let tables = self.catalog.row_tables.values();
        let keys = tables.flat_map(|table| {
            let keys = table.definition.foreign_keys.iter();
            keys.map(move |key| (&table.definition.name, key))
        });
        keys.filter(|(_, key)| key.referenced_table == definition.name)
            .filter(|(_, key)| !definition.has_unique_key(&key.referenced_columns))
            .map(|(table, key)| format!("constraint {} on table {table}", key.name))
            .collect()
    }

    /// The row table called `name`, for which `what` is wanted.
    fn row_table(
        &self,
        name: &str,
        what: impl FnOnce() -> String,
    ) -> Result<Arc<RowTableEntry>, TransactionError> {
        self.table_id(name)?;
        let entry = self.catalog.row_tables.get(name).cloned();
        entry.ok_or_else(|| DefinitionError::NeedsRowTable { what: what() }.into())
    }

    pub(super) fn put_row_table(
        &mut self,
        id: u64,
        definition: TableDefinition,
        trees: Vec<TreeRecord>,
    ) {
        let name = definition.name.clone();
        let definition = Arc::new(definition);
        let entry = RowTableEntry {
            id,
            definition,
            trees,
        };
        self.catalog.row_tables.insert(name, Arc::new(entry));
        self.definitions_changed = true;
    }
}
