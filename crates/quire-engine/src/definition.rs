//! What a table is declared to be.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};
use quire_codec::{CodecId, Corrupt};
use quire_format::catalog::ColumnRecord;

use crate::error::DefinitionError;
use crate::types::SqlType;

/// Largest number of columns of a table (as in PostgreSQL).
pub const MAX_COLUMNS: usize = 1600;
/// Longest name of a table or column, in bytes.
pub const MAX_NAME_BYTES: usize = 255;

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// Name as SQL resolved it: unquoted names arrive in lower case.
    pub name: String,
    /// Type of the values.
    pub sql_type: SqlType,
    /// Whether NULL may be stored.
    pub nullable: bool,
    /// Codec demanded by `COMPRESSION name`; `None` lets every row group choose its own.
    pub compression: Option<CodecId>,
}

/// A table's name and its columns in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDefinition {
    /// Name as SQL resolved it.
    pub name: String,
    /// Columns in declared order.
    pub columns: Vec<ColumnDefinition>,
}

impl TableDefinition {
    /// Schema of the batches that are appended to and scanned from the table.
    pub fn arrow_schema(&self) -> SchemaRef {
        let field = |column: &ColumnDefinition| {
            Field::new(&column.name, column.sql_type.arrow_type(), column.nullable)
        };
        Arc::new(Schema::new(
            self.columns.iter().map(field).collect::<Vec<_>>(),
        ))
    }

    /// Position of the column called `name`.
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Checks names, types and codecs before the table is created.
    pub fn validate(&self) -> Result<(), DefinitionError> {
        check_name("table", &self.name)?;
        if self.columns.is_empty() || self.columns.len() > MAX_COLUMNS {
            return Err(DefinitionError::ColumnCount {
                table: self.name.clone(),
                columns: self.columns.len(),
            });
        }
        let mut names = HashSet::new();
        for column in &self.columns {
            check_name("column", &column.name)?;
            if !names.insert(column.name.as_str()) {
                return Err(DefinitionError::DuplicateColumn {
                    column: column.name.clone(),
                });
            }
            if let Some(what) = column.sql_type.declaration_error() {
                return Err(DefinitionError::Type {
                    column: column.name.clone(),
                    what,
                });
            }
            if let Some(codec) = column.compression
                && !codec.supports(column.sql_type.physical_type())
            {
                return Err(DefinitionError::Codec {
                    column: column.name.clone(),
                    codec: codec.name(),
                    sql_type: column.sql_type,
                });
            }
        }
        Ok(())
    }
}

fn check_name(kind: &'static str, name: &str) -> Result<(), DefinitionError> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return Err(DefinitionError::Name {
            kind,
            name: name.to_owned(),
        });
    }
    Ok(())
}

impl ColumnDefinition {
    pub(crate) fn to_record(&self) -> ColumnRecord {
        ColumnRecord {
            name: self.name.clone(),
            column_type: self.sql_type.to_record(),
            nullable: self.nullable,
            compression: self.compression,
        }
    }

    pub(crate) fn from_record(record: &ColumnRecord) -> Result<Self, Corrupt> {
        Ok(ColumnDefinition {
            name: record.name.clone(),
            sql_type: SqlType::from_record(record.column_type)?,
            nullable: record.nullable,
            compression: record.compression,
        })
    }
}
