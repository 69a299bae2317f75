//! Is a definition acceptable by itself? What it says of other tables is the transaction's business.

use std::collections::HashSet;

use quire_codec::CodecId;

use super::name_rules::check_name;
use super::{
    ColumnDefinition, ForeignKeyDefinition, KeyDefinition, MAX_COLUMNS, MAX_KEY_COLUMNS,
    SequenceDefinition, TableDefinition, TableStorage,
};
use crate::error::DefinitionError;

impl ColumnDefinition {
    fn validate(&self, storage: TableStorage) -> Result<(), DefinitionError> {
        let column = || self.name.clone();
        check_name("column", &self.name)?;
        if let Some(what) = self.sql_type.declaration_error() {
            return Err(DefinitionError::Type {
                column: column(),
                what,
            });
        }
        if let Some(codec) = self.compression {
            self.validate_codec(codec, storage)?;
        }
        if self.sequence.is_some() {
            self.validate_generated()?;
        }
        if storage == TableStorage::Column && (self.is_dropped || self.added.is_some()) {
            let what = format!("a dropped or added column ({:?})", self.name);
            return Err(DefinitionError::NeedsRowTable { what });
        }
        if self.nullable && !self.stores_null {
            return Err(DefinitionError::Type {
                column: column(),
                what: "its rows have no NULL, so it must be NOT NULL".to_owned(),
            });
        }
        let missing = self.added.as_ref().map(|added| &added.missing);
        let missing_type = missing
            .and_then(Option::as_ref)
            .map(|value| value.physical_type());
        let is_null = self.added.is_some() && missing_type.is_none();
        if missing_type.is_some_and(|found| found != self.sql_type.physical_type())
            || (is_null && !self.nullable && !self.is_dropped)
        {
            return Err(DefinitionError::Missing { column: column() });
        }
        Ok(())
    }

    fn validate_codec(&self, codec: CodecId, storage: TableStorage) -> Result<(), DefinitionError> {
        let what = || format!("COMPRESSION {} (column {:?})", codec.name(), self.name);
        let has_codec = match (storage, codec) {
            (TableStorage::Row, CodecId::Plain | CodecId::Dictionary) => {
                codec.supports(self.sql_type.physical_type())
            }
            // Rows have strings in codes as text.
            (TableStorage::Row, CodecId::Fsst | CodecId::Huffman) => self.sql_type.is_text(),
            (TableStorage::Row, _) => {
                return Err(DefinitionError::NeedsColumnTable { what: what() });
            }
            (TableStorage::Column, CodecId::Huffman) => {
                return Err(DefinitionError::NeedsRowTable { what: what() });
            }
            (TableStorage::Column, _) => codec.supports(self.sql_type.physical_type()),
        };
        if has_codec {
            return Ok(());
        }
        Err(DefinitionError::Codec {
            column: self.name.clone(),
            codec: codec.name(),
            sql_type: self.sql_type,
        })
    }

    fn validate_generated(&self) -> Result<(), DefinitionError> {
        let what = if SequenceDefinition::type_bounds(self.sql_type).is_none() {
            "it is generated, so its type must be SMALLINT, INTEGER or BIGINT"
        } else if self.nullable && !self.is_dropped {
            "it is generated, so it must be NOT NULL"
        } else if self.default.is_some() {
            "it is generated and has a default; leave one of them out"
        } else {
            return Ok(());
        };
        Err(DefinitionError::Type {
            column: self.name.clone(),
            what: what.to_owned(),
        })
    }
}

impl TableDefinition {
    /// Checks names, types, codecs, keys, constraints and options before the table is created.
    pub fn validate(&self) -> Result<(), DefinitionError> {
        check_name("table", &self.name)?;
        let visible = self.visible_columns().count();
        if visible == 0 || self.columns.len() > MAX_COLUMNS {
            return Err(DefinitionError::ColumnCount {
                table: self.name.clone(),
                columns: if visible == 0 { 0 } else { self.columns.len() },
            });
        }
        let mut names = HashSet::new();
        for column in &self.columns {
            column.validate(self.storage)?;
            if !column.is_dropped && !names.insert(column.name.as_str()) {
                return Err(DefinitionError::DuplicateColumn {
                    column: column.name.clone(),
                });
            }
        }
        if let Some(what) = self.options.error() {
            return Err(DefinitionError::Option { what });
        }
        if self.storage == TableStorage::Row && self.options.block_bytes.is_some() {
            let what = "block_bytes".to_owned();
            return Err(DefinitionError::NeedsColumnTable { what });
        }
        if self.storage == TableStorage::Column {
            self.check_column_table_has_no_constraints()?;
        }
        self.validate_keys()?;
        self.validate_constraint_names()
    }

    fn check_column_table_has_no_constraints(&self) -> Result<(), DefinitionError> {
        let index = self.indexes.first();
        let key = self.primary_key.as_ref();
        let found = [
            key.map(|key| format!("PRIMARY KEY {:?}", key.name)),
            index.map(|index| format!("the index {:?}", index.key.name)),
            self.checks
                .first()
                .map(|check| format!("CHECK {:?}", check.name)),
            self.foreign_keys
                .first()
                .map(|key| format!("FOREIGN KEY {:?}", key.name)),
        ];
        match found.into_iter().flatten().next() {
            Some(what) => Err(DefinitionError::NeedsRowTable { what }),
            None => Ok(()),
        }
    }

    fn validate_keys(&self) -> Result<(), DefinitionError> {
        if let Some(key) = &self.primary_key {
            self.validate_key(key)?;
            let mut columns = key.columns.iter().map(|part| &self.columns[part.column]);
            if let Some(column) = columns.find(|column| column.nullable) {
                return Err(DefinitionError::NullableKey {
                    column: column.name.clone(),
                });
            }
        }
        for index in &self.indexes {
            self.validate_key(&index.key)?;
        }
        for key in &self.foreign_keys {
            self.validate_foreign_key(key)?;
        }
        Ok(())
    }

    fn validate_key(&self, key: &KeyDefinition) -> Result<(), DefinitionError> {
        check_name("index", &key.name)?;
        let columns = key
            .columns
            .iter()
            .map(|part| part.column)
            .collect::<Vec<_>>();
        self.validate_columns(&key.name, &columns)
    }

    /// Between one column and so many, which there are, each once.
    fn validate_columns(&self, key: &str, columns: &[usize]) -> Result<(), DefinitionError> {
        if columns.is_empty() || columns.len() > MAX_KEY_COLUMNS {
            return Err(DefinitionError::KeyColumnCount {
                key: key.to_owned(),
                columns: columns.len(),
            });
        }
        let mut seen = HashSet::new();
        for &index in columns {
            let column = self.columns.get(index).filter(|column| !column.is_dropped);
            let Some(column) = column else {
                return Err(DefinitionError::KeyColumn {
                    key: key.to_owned(),
                    index,
                });
            };
            if !seen.insert(index) {
                return Err(DefinitionError::DuplicateKeyColumn {
                    key: key.to_owned(),
                    column: column.name.clone(),
                });
            }
        }
        Ok(())
    }

    fn validate_foreign_key(&self, key: &ForeignKeyDefinition) -> Result<(), DefinitionError> {
        self.validate_columns(&key.name, &key.columns)?;
        let distinct: HashSet<_> = key.referenced_columns.iter().collect();
        if key.columns.len() != key.referenced_columns.len() {
            return Err(DefinitionError::ForeignKey {
                key: key.name.clone(),
                what: "number of referencing and referenced columns for foreign key disagree"
                    .to_owned(),
            });
        }
        if distinct.len() != key.referenced_columns.len() {
            return Err(DefinitionError::ForeignKey {
                key: key.name.clone(),
                what: "it refers to a column twice".to_owned(),
            });
        }
        Ok(())
    }

    /// Names of all constraints: primary key, UNIQUE, CHECK, foreign keys.
    pub fn constraint_names(&self) -> impl Iterator<Item = &str> {
        let unique = self.indexes.iter().filter(|index| index.is_constraint);
        let keys = self
            .primary_key
            .iter()
            .chain(unique.map(|index| &index.key));
        let names = keys.map(|key| key.name.as_str());
        names
            .chain(self.checks.iter().map(|check| check.name.as_str()))
            .chain(self.foreign_keys.iter().map(|key| key.name.as_str()))
    }

    fn validate_constraint_names(&self) -> Result<(), DefinitionError> {
        let mut names = HashSet::new();
        for name in self.constraint_names() {
            check_name("constraint", name)?;
            if !names.insert(name) {
                return Err(DefinitionError::DuplicateConstraint {
                    constraint: name.to_owned(),
                    table: self.name.clone(),
                });
            }
        }
        Ok(())
    }

    /// The columns of the primary key, or of a unique index of `columns` in any order: for each of `columns`, in their
    /// order, nothing needs to be known but that no two rows agree in all of them.
    pub fn has_unique_key(&self, columns: &[usize]) -> bool {
        let unique = self.indexes.iter().filter(|index| index.is_unique);
        let mut keys = self
            .primary_key
            .iter()
            .chain(unique.map(|index| &index.key));
        keys.any(|key| {
            key.columns.len() == columns.len()
                && key
                    .columns
                    .iter()
                    .all(|part| columns.contains(&part.column))
        })
    }
}
