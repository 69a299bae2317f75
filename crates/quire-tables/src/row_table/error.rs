//! What can go wrong with a layout, and with a row.

use quire_format::tuple::{DictionaryError, LayoutError, ValueError};

use crate::types::SqlType;

/// A description that no layout can be made of. Columns are numbered by their ordinals.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RowLayoutError {
    /// Key or index of a column that is not there or was dropped, or twice of the same.
    #[error("key has column {ordinal}, which is not there, dropped, younger or in it already")]
    Key {
        /// The ordinal that was given.
        ordinal: usize,
    },
    /// A section without one value for each column.
    #[error(
        "section {section} has {columns} columns and {missing} values for older rows; give one each"
    )]
    Missing {
        /// Number of the section.
        section: usize,
        /// Its columns.
        columns: usize,
        /// Values for rows that are older.
        missing: usize,
    },
    /// Not one of the lengths a page can have.
    #[error("a page has no {page_bytes} bytes; use 4096 to 65536, a power of two")]
    PageBytes {
        /// The length that was given.
        page_bytes: usize,
    },
    /// More columns than ordinals.
    #[error("{columns} columns, but a table has at most 65535 in its life; rewrite it")]
    ColumnCount {
        /// Columns in all sections.
        columns: usize,
    },
    /// A dictionary that is none.
    #[error("dictionary of column {ordinal}: {source}")]
    Dictionary {
        /// Ordinal of the column.
        ordinal: usize,
        /// What is wrong.
        source: DictionaryError,
    },
    /// Columns of tuples that are none.
    #[error(transparent)]
    Tuple(#[from] LayoutError),
}

/// Why a row cannot be stored. Columns are numbered by their ordinals.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// A value that its column does not hold.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The values that the table is clustered or indexed by are too long together.
    #[error(
        "key takes {bytes} bytes, but at most {limit} are possible; shorten its columns, or turn key_compression off if the table has it"
    )]
    KeyTooLong {
        /// Bytes of the key.
        bytes: usize,
        /// Most bytes of a key in a page of that length.
        limit: usize,
    },
    /// The columns that cannot be stored aside are too long together.
    #[error(
        "row takes {bytes} bytes besides its long values, but at most {limit} are possible; use larger pages"
    )]
    RowTooLong {
        /// Bytes of key and tuple.
        bytes: usize,
        /// Most bytes of an entry in a page of that length.
        limit: usize,
    },
    /// A string that is too long for any column.
    #[error("column {column}: a value of {bytes} bytes, but at most {limit} are possible")]
    ValueTooLong {
        /// Ordinal of the column.
        column: usize,
        /// Bytes of the value.
        bytes: usize,
        /// Most bytes of a value.
        limit: usize,
    },
    /// A string with more characters than its column was declared with.
    #[error("value of {characters} characters is too long for {sql_type}")]
    TooManyCharacters {
        /// Characters of the value.
        characters: usize,
        /// Type of the column.
        sql_type: SqlType,
    },
    /// A batch whose columns are not those of the table.
    #[error("batch has no column {column} in the Arrow type of {sql_type}")]
    Batch {
        /// Position in the batch.
        column: usize,
        /// Type of the table's column.
        sql_type: SqlType,
    },
    /// A batch with another number of columns than the table.
    #[error("batch has {given} columns instead of {expected}")]
    BatchColumns {
        /// Columns of the batch.
        given: usize,
        /// Columns of the table that were not dropped.
        expected: usize,
    },
}

impl RowError {
    /// An error about a column by the number that a tuple or a key gives it, whose ordinal is in `ordinals`.
    pub(super) fn value(error: ValueError, ordinals: &[usize]) -> Self {
        let ordinal = |column: usize| ordinals.get(column).copied().unwrap_or(column);
        Self::Value(match error {
            ValueError::NotNull { column } => ValueError::NotNull {
                column: ordinal(column),
            },
            ValueError::WrongType {
                column,
                column_type,
                value,
            } => ValueError::WrongType {
                column: ordinal(column),
                column_type,
                value,
            },
            ValueError::OutOfRange {
                column,
                column_type,
                value,
            } => ValueError::OutOfRange {
                column: ordinal(column),
                column_type,
                value,
            },
            ValueError::NotInDictionary { column } => ValueError::NotInDictionary {
                column: ordinal(column),
            },
            ValueError::Field { column, source } => ValueError::Field {
                column: ordinal(column),
                source,
            },
            other => other,
        })
    }
}
