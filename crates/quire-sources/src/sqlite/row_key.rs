//! The order in which the rows of a table are read, and the place of a row in it.

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};

/// Characters of a key's text in a message.
const SHOWN_CHARACTERS: usize = 60;

/// What the rows are ordered by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RowKey {
    /// The rowid under this name.
    Rowid(String),
    /// The columns of the primary key, with the collations of its index.
    Columns(Vec<String>),
}

impl RowKey {
    /// What to select after the columns.
    pub(super) fn expressions(&self) -> &[String] {
        match self {
            Self::Rowid(name) => std::slice::from_ref(name),
            Self::Columns(columns) => columns,
        }
    }

    /// The place of a row for a message.
    pub(super) fn shown(&self, values: &[RowKeyValue]) -> String {
        let shown: Vec<String> = values.iter().map(RowKeyValue::shown).collect();
        match self {
            Self::Rowid(_) => format!("rowid {}", shown.join("")),
            Self::Columns(_) => format!("the row of key ({})", shown.join(", ")),
        }
    }
}

/// A value of a key. A text keeps its bytes: they may be no UTF-8, and have a place in the order all the same.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RowKeyValue {
    Null,
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

impl RowKeyValue {
    fn shown(&self) -> String {
        match self {
            Self::Null => "NULL".to_owned(),
            Self::Integer(integer) => integer.to_string(),
            Self::Real(real) => real.to_string(),
            Self::Text(bytes) => {
                let head = &bytes[..bytes.len().min(SHOWN_CHARACTERS * 4)];
                let text = String::from_utf8_lossy(head);
                format!(
                    "'{}'",
                    text.chars().take(SHOWN_CHARACTERS).collect::<String>()
                )
            }
            Self::Blob(bytes) => format!("{} bytes", bytes.len()),
        }
    }
}

impl From<ValueRef<'_>> for RowKeyValue {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(integer) => Self::Integer(integer),
            ValueRef::Real(real) => Self::Real(real),
            ValueRef::Text(bytes) => Self::Text(bytes.to_vec()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_vec()),
        }
    }
}

impl ToSql for RowKeyValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(integer) => ValueRef::Integer(*integer),
            Self::Real(real) => ValueRef::Real(*real),
            Self::Text(bytes) => ValueRef::Text(bytes),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
