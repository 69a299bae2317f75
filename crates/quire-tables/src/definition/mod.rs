//! What tables, views, sequences and roles are declared to be.

mod default_name;
mod name_rules;
mod options;
mod padding;
mod record;
mod sequence;
mod validate;

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};
use quire_codec::text::StringCodes;
use quire_codec::{CodecId, CodecScalar};
use quire_format::key::KeyCode;

use crate::types::SqlType;

pub use default_name::default_name;
pub(crate) use name_rules::check_name;
pub use options::{BLOCK_BYTES_DEFAULT, StorageFormat, TableOptions};
pub use quire_format::catalog::{
    CatalogKeyPart, CheckRecord as CheckDefinition, ColumnSequence,
    ForeignKeyRecord as ForeignKeyDefinition, GeneratedKind, IndexRecord as IndexDefinition,
    KeyRecord as KeyDefinition, ReferentialAction, RoleRecord as RoleDefinition, SequenceOwner,
    TableStorage, TreeRecord, TreeRole, ViewRecord as ViewDefinition,
};
pub use quire_store::pool::PageTarget;
pub use sequence::SequenceDefinition;

/// Largest number of columns of a table (as in PostgreSQL), dropped ones included.
pub(crate) const MAX_COLUMNS: usize = 1600;
/// Largest number of columns of a key (as in PostgreSQL).
pub(crate) const MAX_KEY_COLUMNS: usize = 32;
/// Longest name of a table, column, index, constraint, view or sequence, in bytes.
pub(crate) const MAX_NAME_BYTES: usize = 255;

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
    /// Frequent values, which the rows of a row table have as codes. It is chosen whenever all rows are written, and stays until
    /// then.
    pub dictionary: Option<ColumnDictionary>,
    /// The table in whose codes the rows of a row table have the strings of the column, of FSST or of a Huffman code. It is chosen and
    /// stays like a dictionary; a column has one of both.
    pub string_codes: Option<Arc<StringCodes>>,
    /// Bytes to which the rows of a row table pad the strings of a `CHAR(n)`, as the paper's uncompressed tuples do. The transaction that
    /// creates the table decides it, and it stays until all rows are written, whatever becomes of n.
    pub padded_bytes: Option<u8>,
    /// The order-preserving code that the primary key and the indexes of a row table have in place of the strings of the column. It is
    /// chosen when a key with the column is filled, and stays as long as one is there.
    pub key_code: Option<KeyCode>,
}

/// Values that rows have as codes; other values are stored as they would be without it.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDictionary {
    /// Bits of a code, 1 to 16.
    pub code_bits: u8,
    /// Values of the physical type of the column, none twice.
    pub entries: Vec<CodecScalar>,
}

/// What rows that are older than a column have in it.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedColumn {
    /// A value of the physical type of the column; `None` is NULL.
    pub missing: Option<CodecScalar>,
}

/// What a table is: columns, keys, constraints, options.
#[derive(Debug, Clone, PartialEq)]
pub struct TableDefinition {
    /// Name as SQL resolved it.
    pub name: String,
    /// How its rows are kept.
    pub storage: TableStorage,
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
    /// How row pages are kept, and the blocks of a PAX table.
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
            dictionary: None,
            string_codes: None,
            padded_bytes: None,
            key_code: None,
        }
    }

    /// The default as people know it, or what generates values.
    pub fn shown_default(&self) -> Option<String> {
        let kind = self.sequence.map(|sequence| sequence.kind);
        match kind {
            Some(GeneratedKind::Serial) => Some("serial".to_owned()),
            Some(GeneratedKind::ByDefault) => Some("generated by default as identity".to_owned()),
            Some(GeneratedKind::Always) => Some("generated always as identity".to_owned()),
            None => self.default.clone(),
        }
    }
}

impl TableDefinition {
    /// A column table without constraints.
    pub fn new(name: impl Into<String>, columns: Vec<ColumnDefinition>) -> Self {
        TableDefinition {
            name: name.into(),
            storage: TableStorage::Column,
            columns,
            primary_key: None,
            indexes: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            options: TableOptions::default(),
        }
    }

    /// Whether rows that were made for a column table that is defined as `planned` can be appended to this one as they are.
    pub fn takes_rows_of(&self, planned: &Self) -> bool {
        self.storage == planned.storage
            && self.options.block_bytes == planned.options.block_bytes
            && self.columns == planned.columns
            && self.checks == planned.checks
    }

    /// The table as a row table whose primary key is these columns, given by their places, in ascending order.
    #[must_use]
    pub fn clustered_by(mut self, columns: &[usize]) -> Self {
        let part = |&column: &usize| CatalogKeyPart {
            column,
            is_descending: false,
        };
        self.storage = TableStorage::Row;
        self.primary_key = Some(KeyDefinition {
            name: format!("{}_pkey", self.name),
            columns: columns.iter().map(part).collect(),
        });
        self
    }

    /// The table as a PAX table with blocks of about so many bytes.
    #[must_use]
    pub fn in_blocks_of(mut self, block_bytes: usize) -> Self {
        self.storage = TableStorage::Column;
        self.options.block_bytes = Some(block_bytes);
        self
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
