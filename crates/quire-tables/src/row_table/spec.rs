//! What a row layout is made of: plain data that the catalog can keep.

use std::sync::Arc;

use quire_codec::text::StringCodes;
use quire_format::key::KeyCode;
use quire_format::tuple::TupleType;

use super::value::Value;
use crate::types::SqlType;

/// The date whose compressed form is the shortest, 2000-01-01: 179 years around it take 2 bytes.
const DATE_BASE_DAYS: i32 = 10_957;

/// How the values of a column are stored in tuples. Columns of the primary key are not in tuples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldStorage {
    /// As they are, in fixed width; strings with a length of 4 bytes.
    Plain,
    /// Only the bytes that matter.
    NullSuppressed,
    /// Frequent values as codes, others with only the bytes that matter. Not for `BOOLEAN` and `REAL`. A longer list that starts
    /// with the same entries, and has codes of as many bits, does not read the tuples of the shorter one: a value that got a
    /// code is no longer stored as others are.
    Dictionary {
        /// Bits of a code, 1 to 16. One code is for the other values.
        code_bits: u32,
        /// The values, none twice; not NULL, and no `BYTEA` that begins with 0xFF, by which marks are known.
        entries: Vec<Value>,
    },
    /// Strings in the codes of a table where that is shorter, with a null-suppressed length. For text.
    StringCodes(Arc<StringCodes>),
    /// Strings with blanks up to so many bytes, at least one; longer ones are stored, too. For text.
    Padded {
        /// Width of the field.
        bytes: u8,
    },
}

/// A column of a row table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowColumn {
    /// Type of its values.
    pub sql_type: SqlType,
    /// Whether the stored form has NULL. It stays as it was when the column was made: `SET NOT NULL` needs no other
    /// form, `DROP NOT NULL` needs the table to be rewritten.
    pub nullable: bool,
    /// How its values are stored.
    pub storage: FieldStorage,
    /// What keys have in place of its strings.
    pub key_code: Option<KeyCode>,
    /// Whether the column was dropped. Its place stays.
    pub dropped: bool,
}

/// Columns that came to a table together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowSection {
    /// The columns, in order.
    pub columns: Vec<RowColumn>,
    /// What rows older than the section have in each column. Empty in the first section: no row is older.
    pub missing: Vec<Value>,
}

/// A column of the primary key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrimaryKeyPart {
    /// Ordinal of the column, which must be one of the first section.
    pub ordinal: usize,
    /// Whether larger values come first.
    pub descending: bool,
}

/// Everything a layout depends on. The same description always gives the same layout.
///
/// The ordinal of a column is its number through all sections. `ALTER TABLE ADD COLUMN` appends a section, `DROP
/// COLUMN` sets `dropped`, a rewrite starts again with one section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLayoutSpec {
    /// All columns the table has had since it was written last.
    pub sections: Vec<RowSection>,
    /// The columns the table is clustered by; none for numbered rows.
    pub primary_key: Vec<PrimaryKeyPart>,
    /// Length of a page of the tree, which bounds what a row may take.
    pub page_bytes: usize,
}

impl RowLayoutSpec {
    /// The columns by their ordinals.
    pub fn columns(&self) -> impl Iterator<Item = &RowColumn> {
        self.sections.iter().flat_map(|section| &section.columns)
    }
}

/// How tuples and keys see values of an SQL type.
pub(crate) fn tuple_type(sql_type: SqlType) -> TupleType {
    match sql_type {
        SqlType::Boolean => TupleType::Bool,
        SqlType::SmallInt => TupleType::Int16,
        SqlType::Integer => TupleType::Int32,
        SqlType::BigInt => TupleType::Int64,
        SqlType::Real => TupleType::Float32,
        SqlType::Double => TupleType::Float64,
        SqlType::Decimal { precision, .. } => TupleType::Int128 { digits: precision },
        SqlType::Date => TupleType::Date {
            base_days: DATE_BASE_DAYS,
        },
        SqlType::Timestamp | SqlType::TimestampTz => TupleType::Timestamp,
        SqlType::Text | SqlType::VarChar(_) | SqlType::Char(_) => TupleType::Text,
        SqlType::Bytea => TupleType::Bytes,
    }
}
