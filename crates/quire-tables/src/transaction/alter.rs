//! A table is defined differently, with its rows as they are.

use std::sync::Arc;

use super::WriteTransaction;
use crate::definition::{ColumnDefinition, TableDefinition, TableStorage};
use crate::error::TransactionError;

impl WriteTransaction {
    /// Puts another definition in the place of that of the table called `name`: another name of the table, of columns, indexes
    /// and constraints; other defaults, nullability, CHECK constraints, foreign keys, options for pages written from
    /// now on; in a row table columns that are dropped, and columns behind the others, which are
    /// [`added`](ColumnDefinition::added). That the rows satisfy what is new is the caller's knowledge.
    ///
    /// Sequences of dropped columns go with them, and foreign keys of other tables follow a new name. The texts of views, defaults and
    /// CHECK constraints are the caller's business.
    ///
    /// # Errors
    /// No such table, a name is taken, the definition is not acceptable, or the change needs other rows, keys or indexes.
    /// The transaction can go on.
    pub fn alter_table(
        &mut self,
        name: &str,
        mut definition: TableDefinition,
    ) -> Result<(), TransactionError> {
        self.lock_names_to_alter(name, &definition)?;
        let id = self.table_id(name)?;
        self.check_appends_finished()?;
        let old = self.catalog.definition(name).cloned();
        let old = old.ok_or_else(|| TransactionError::TableNotFound(name.to_owned()))?;
        for column in definition.columns.iter_mut().skip(old.columns.len()) {
            column.stores_null = column.nullable;
        }
        definition.validate()?;
        if let Some(what) = change_of_rows(&old, &definition) {
            let table = name.to_owned();
            return Err(TransactionError::Alteration { table, what });
        }
        self.check_new_names(&old, &definition)?;
        let before = self.catalog.clone();
        self.redefine(id, name, definition);
        let checked = self.check_foreign_keys();
        if checked.is_err() {
            self.catalog = before;
            return checked;
        }
        self.definitions_changed = true;
        Ok(())
    }

    /// Under a new name it is found by the foreign keys of others.
    fn lock_names_to_alter(
        &mut self,
        name: &str,
        definition: &TableDefinition,
    ) -> Result<(), TransactionError> {
        self.lock_name(name)?;
        self.lock_names_of(definition)?;
        if definition.name != name {
            for table in self.tables_that_refer_to(name) {
                self.lock_name(&table)?;
            }
        }
        Ok(())
    }

    fn tables_that_refer_to(&self, name: &str) -> Vec<String> {
        let tables = self.catalog.row_tables.values();
        let refers = tables.filter(|entry| {
            let mut keys = entry.definition.foreign_keys.iter();
            keys.any(|key| key.referenced_table == name)
        });
        refers.map(|entry| entry.definition.name.clone()).collect()
    }

    /// The names that the old definition does not have must be free, and differ.
    fn check_new_names(
        &self,
        old: &TableDefinition,
        new: &TableDefinition,
    ) -> Result<(), TransactionError> {
        let names = |definition: &TableDefinition| {
            let names = definition.index_names().map(str::to_owned);
            names.chain([definition.name.clone()]).collect::<Vec<_>>()
        };
        let (old, new) = (names(old), names(new));
        for (index, name) in new.iter().enumerate() {
            let is_taken = self.catalog.has_name(name) && !old.contains(name);
            if is_taken || new[..index].contains(name) {
                return Err(TransactionError::TableExists(name.clone()));
            }
        }
        Ok(())
    }

    fn redefine(&mut self, id: u64, name: &str, definition: TableDefinition) {
        self.own_sequences(id, &definition);
        let new_name = definition.name.clone();
        if let Some(entry) = self.catalog.tables.remove(name) {
            let entry = entry.with_definition(Arc::new(definition));
            self.catalog
                .tables
                .insert(new_name.clone(), Arc::new(entry));
            if self.changed_tables.remove(name) {
                self.changed_tables.insert(new_name.clone());
            }
        } else if let Some(entry) = self.catalog.row_tables.remove(name) {
            self.put_row_table(id, definition, entry.trees.clone());
        }
        if new_name != name {
            self.rename_references(name, &new_name);
        }
    }

    fn rename_references(&mut self, name: &str, new_name: &str) {
        for entry in self.catalog.row_tables.values_mut() {
            let keys = &entry.definition.foreign_keys;
            if keys.iter().any(|key| key.referenced_table == name) {
                let definition = Arc::make_mut(&mut Arc::make_mut(entry).definition);
                for key in &mut definition.foreign_keys {
                    if key.referenced_table == name {
                        key.referenced_table = new_name.to_owned();
                    }
                }
            }
        }
    }
}

/// Why the rows or indexes of a table that is defined as `old` are not those of one that is defined as `new`.
fn change_of_rows(old: &TableDefinition, new: &TableDefinition) -> Option<String> {
    if old.storage != new.storage {
        return Some("its rows would have to be stored in another way".to_owned());
    }
    if old.options.page_bytes != new.options.page_bytes {
        return Some("its pages would have to be of another length".to_owned());
    }
    if old.options.compresses_tuples != new.options.compresses_tuples {
        return Some("its rows would have to be stored in another way".to_owned());
    }
    let parts = |definition: &TableDefinition| {
        let key = definition.primary_key.as_ref();
        key.map(|key| key.columns.clone())
    };
    if parts(old) != parts(new) {
        return Some("its rows would have to be in another order".to_owned());
    }
    let mut pairs = old.indexes.iter().zip(&new.indexes);
    let same = |(one, other): (&crate::IndexDefinition, &crate::IndexDefinition)| {
        let is_same = (one.id, one.is_unique) == (other.id, other.is_unique);
        is_same && one.key.columns == other.key.columns
    };
    if old.indexes.len() != new.indexes.len() || !pairs.all(same) {
        return Some("its indexes would have to be built".to_owned());
    }
    change_of_columns(old, new)
}

fn change_of_columns(old: &TableDefinition, new: &TableDefinition) -> Option<String> {
    if new.columns.len() < old.columns.len() {
        return Some("columns would have to leave its rows".to_owned());
    }
    for (one, other) in old.columns.iter().zip(&new.columns) {
        if !has_values_of(one, other) {
            return Some(format!(
                "column {:?} would have to hold other values",
                one.name
            ));
        }
    }
    let mut added = new.columns[old.columns.len()..].iter();
    if new.storage == TableStorage::Column && added.len() > 0 {
        return Some("columns would have to be added to its rows".to_owned());
    }
    let column = added.find(|column| column.added.is_none())?;
    Some(format!(
        "what its rows have in column {:?} is unknown",
        column.name
    ))
}

/// Whether stored values of one column can be read as those of the other.
fn has_values_of(old: &ColumnDefinition, new: &ColumnDefinition) -> bool {
    let is_text = old.sql_type.is_text() && new.sql_type.is_text();
    (old.sql_type == new.sql_type || is_text)
        && (old.dictionary == new.dictionary && old.string_codes == new.string_codes)
        && (old.padded_bytes == new.padded_bytes && old.key_code == new.key_code)
        && old.compression == new.compression
        && (old.stores_null == new.stores_null && (new.stores_null || !new.nullable))
        && old.added == new.added
        && (new.is_dropped || !old.is_dropped)
}
