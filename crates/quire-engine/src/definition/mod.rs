//! What tables, views and sequences are declared to be.

mod default_name;
mod options;
mod record;
mod sequence;
mod validate;

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};
use quire_codec::{CodecId, Scalar};

use crate::types::SqlType;

pub use default_name::default_name;
pub use options::{StorageFormat, TableOptions};
pub use quire_format::catalog::{
    CheckRecord as CheckDefinition, ColumnSequence, ForeignKeyRecord as ForeignKeyDefinition,
    GeneratedKind, IndexRecord as IndexDefinition, KeyPart, KeyRecord as KeyDefinition,
    ReferentialAction, SequenceOwner, Storage, TreeRecord, TreeRole, ViewRecord as ViewDefinition,
};
pub use sequence::SequenceDefinition;
pub(crate) use validate::check_name;

/// Largest number of columns of a table (as in PostgreSQL), dropped ones included.
pub const MAX_COLUMNS: usize = 1600;
/// Largest number of columns of a key (as in PostgreSQL).
pub const MAX_KEY_COLUMNS: usize = 32;
/// Longest name of a table, column, index, constraint, view or sequence, in bytes.
pub const MAX_NAME_BYTES: usize = 255;

/// One column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDefinition {
    /// Name as SQL resolved it: unquoted names arrive in lower case.
    pub name: String,
    /// Type of the values.
    pub sql_type: SqlType,
    /// Whether NULL may be stored.
    pub nullable: bool,
    /// Codec demanded by `COMPRESSION name`; `None` lets every row group choose its own.
    pub compression: Option<CodecId>,
    /// SQL text of the value of a row that gives none; `None` is NULL, or the sequence's next.
    pub default: Option<String>,
    /// `SERIAL` and `GENERATED … AS IDENTITY`: the sequence that gives values.
    pub sequence: Option<ColumnSequence>,
    /// The column is gone. Its place stays, because stored rows have it; only the storage of rows looks at it.
    pub is_dropped: bool,
    /// `ALTER TABLE ADD COLUMN`: there may be stored rows without the column.
    pub added: Option<AddedColumn>,
    /// Whether the layout of a row table has NULL for the column. The transaction that creates the column decides it, and it
    /// stays: `SET NOT NULL` needs no other layout, `DROP NOT NULL` may need the rows to be written again.
    pub stores_null: bool,
}

/// What rows that are older than a column have in it.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedColumn {
    /// A value of the physical type of the column; `None` is NULL.
    pub missing: Option<Scalar>,
}

/// What a table is: columns, keys, constraints, options.
#[derive(Debug, Clone, PartialEq)]
pub struct TableDefinition {
    /// Name as SQL resolved it.
    pub name: String,
    /// How its rows are kept.
    pub storage: Storage,
    /// Columns in declared order, dropped ones too. Keys and constraints name columns by their place here.
    pub columns: Vec<ColumnDefinition>,
    /// The primary key, by which a row table is clustered. Its columns are not nullable.
    pub primary_key: Option<KeyDefinition>,
    /// Indexes, among them those of UNIQUE constraints. The transaction that creates one gives it its id.
    pub indexes: Vec<IndexDefinition>,
    /// CHECK constraints.
    pub checks: Vec<CheckDefinition>,
    /// Foreign keys.
    pub foreign_keys: Vec<ForeignKeyDefinition>,
    /// How row pages are kept.
    pub options: TableOptions,
}

impl ColumnDefinition {
    /// A nullable column without anything special.
    pub fn new(name: impl Into<String>, sql_type: SqlType) -> Self {
        ColumnDefinition {
            name: name.into(),
            sql_type,
            nullable: true,
            compression: None,
            default: None,
            sequence: None,
            is_dropped: false,
            added: None,
            stores_null: true,
        }
    }
}

impl TableDefinition {
    /// A column table without constraints.
    pub fn new(name: impl Into<String>, columns: Vec<ColumnDefinition>) -> Self {
        TableDefinition {
            name: name.into(),
            storage: Storage::Column,
            columns,
            primary_key: None,
            indexes: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            options: TableOptions::default(),
        }
    }

    /// The columns that there are, each with its place among all that there ever were.
    pub fn visible_columns(&self) -> impl Iterator<Item = (usize, &ColumnDefinition)> {
        let columns = self.columns.iter().enumerate();
        columns.filter(|(_, column)| !column.is_dropped)
    }

    /// Schema of the batches that are appended to and scanned from the table: its visible columns.
    pub fn arrow_schema(&self) -> SchemaRef {
        let field = |(_, column): (usize, &ColumnDefinition)| {
            Field::new(&column.name, column.sql_type.arrow_type(), column.nullable)
        };
        Arc::new(Schema::new(
            self.visible_columns().map(field).collect::<Vec<_>>(),
        ))
    }

    /// Place of the visible column called `name` among all columns.
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.visible_columns()
            .find(|(_, column)| column.name == name)
            .map(|(index, _)| index)
    }

    /// Names of the primary key and of the indexes, which no other table, view or sequence may have.
    pub fn index_names(&self) -> impl Iterator<Item = &str> {
        let indexes = self.indexes.iter().map(|index| &index.key);
        let keys = self.primary_key.iter().chain(indexes);
        keys.map(|key| key.name.as_str())
    }
}
