//! What can go wrong with rows of a table.

use quire_codec::Corrupt;
use quire_kv::mvcc;
use quire_kv::progress::Cancelled;

use super::EngineError;
use crate::row_table::RowError;

/// Why rows could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowScanError {
    /// The statement was cancelled: SQLSTATE 57014.
    #[error("canceling statement due to user request")]
    Stopped,
    /// A column that the table does not have.
    #[error("column index {index} is out of range")]
    Column {
        /// Position asked for.
        index: usize,
    },
    /// An index that the table does not have.
    #[error("index number {index} is out of range")]
    Index {
        /// Position asked for.
        index: usize,
    },
    /// The columns asked for make no batch.
    #[error(transparent)]
    Row(#[from] RowError),
    /// Bytes of a row mean nothing.
    #[error("a row is damaged: {0}; run `quire check` on the file, and restore it from a copy")]
    Corrupt(#[from] Corrupt),
    /// An index has an entry for a row that is not there.
    #[error(
        "index {index:?} of table {table:?} has an entry without a row; run `quire check` on the file, and create the index again"
    )]
    IndexWithoutRow {
        /// Name of the table.
        table: String,
        /// Name of the index.
        index: String,
    },
    /// Pages cannot be read.
    #[error(transparent)]
    Read(#[from] mvcc::TreeReadError),
}

impl From<Cancelled> for RowScanError {
    fn from(Cancelled: Cancelled) -> Self {
        Self::Stopped
    }
}

/// Why a row was not changed. What the statement has done before must be taken back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowWriteError {
    /// A value does not fit.
    #[error(transparent)]
    Row(#[from] RowError),
    /// Another row has the same key.
    #[error("duplicate key value violates unique constraint {constraint:?}")]
    Duplicate {
        /// Name of the table.
        table: String,
        /// Name of the constraint or index.
        constraint: String,
        /// Columns and their values.
        detail: String,
    },
    /// A row refers to one that is not there.
    #[error("insert or update on table {table:?} violates foreign key constraint {constraint:?}")]
    NoReferenced {
        /// Name of the table that refers.
        table: String,
        /// Name of the constraint.
        constraint: String,
        /// Which key is missing where.
        detail: String,
    },
    /// A row that goes is still referred to.
    #[error(
        "update or delete on table {referenced:?} violates foreign key constraint {constraint:?} on table {table:?}"
    )]
    StillReferenced {
        /// Name of the table whose row goes.
        referenced: String,
        /// Name of the table that refers.
        table: String,
        /// Name of the constraint.
        constraint: String,
        /// Which key is referred to.
        detail: String,
    },
    /// NULL where there must be a value.
    #[error("null value in column {column:?} of relation {table:?} violates not-null constraint")]
    Null {
        /// Name of the table.
        table: String,
        /// Name of the column.
        column: String,
    },
    /// A foreign key asks for what is not there.
    #[error("{0}")]
    Reference(String),
    /// A table that belongs to it cannot be opened.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Rows cannot be read.
    #[error(transparent)]
    Scan(#[from] RowScanError),
    /// A row cannot be locked.
    #[error(transparent)]
    Lock(#[from] mvcc::LockError),
    /// A row cannot be written.
    #[error(transparent)]
    Write(#[from] mvcc::KeyWriteError),
}

impl From<mvcc::TreeReadError> for RowWriteError {
    fn from(error: mvcc::TreeReadError) -> Self {
        Self::Scan(error.into())
    }
}

impl From<Corrupt> for RowWriteError {
    fn from(error: Corrupt) -> Self {
        Self::Scan(error.into())
    }
}
