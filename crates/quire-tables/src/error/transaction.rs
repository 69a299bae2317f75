//! What can go wrong with transactions, and with the row groups of column tables.

use quire_codec::Corrupt;
use quire_store::CommitError;

use super::rows::{RowScanError, RowWriteError};
use super::{DefinitionError, EngineError};
use crate::types::SqlType;

/// A transaction over rows and tables was not committed.
#[derive(Debug, thiserror::Error)]
pub enum TransactionCommitError {
    /// The half with the rows, or the log.
    #[error(transparent)]
    Rows(#[from] quire_kv::mvcc::KvCommitError),
    /// The half with definitions and column tables.
    #[error(transparent)]
    Tables(#[from] TransactionError),
}

/// A change in a write transaction failed; the transaction can only be aborted.
#[derive(Debug, thiserror::Error)]
pub enum TransactionError {
    /// A table, index, view or sequence of this name exists.
    #[error("relation {0:?} already exists")]
    TableExists(String),
    /// A role of this name exists.
    #[error("role {0:?} already exists")]
    RoleExists(String),
    /// Another transaction has changed the same definition, or one that this one needs.
    #[error("{what} has been changed by another transaction; begin the transaction again")]
    Changed {
        /// What was changed.
        what: String,
    },
    /// No table of this name.
    #[error("table {0:?} does not exist")]
    TableNotFound(String),
    /// No index, view, sequence or role of this name.
    #[error("{kind} {name:?} does not exist")]
    NotFound {
        /// "index", "view", "sequence" or "role".
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// Something else needs what was to be dropped.
    #[error("cannot drop {what} because other objects depend on it: {}", .dependents.join(", "))]
    Dependents {
        /// What was to be dropped.
        what: String,
        /// What needs it.
        dependents: Vec<String>,
    },
    /// A change of a table that is not one of its definition alone.
    #[error("table {table:?} cannot be changed in place: {what}")]
    Alteration {
        /// Table name.
        table: String,
        /// What would have to be done.
        what: String,
    },
    /// All numbers of pages have been used.
    #[error("there are no page numbers left in this file; copy the tables to a new one")]
    PagesUsedUp,
    /// The definition is not acceptable.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// The catalog no longer fits its page.
    #[error(
        "the catalog needs {bytes} bytes and can have {limit}; drop tables that are not needed"
    )]
    CatalogFull {
        /// Bytes the catalog would have.
        bytes: usize,
        /// Bytes it can have.
        limit: usize,
    },
    /// An append failed or was not finished, so nothing of the transaction can be kept.
    #[error(
        "an append to table {0:?} was not finished; the transaction is aborted, start it again"
    )]
    AppendUnfinished(String),
    /// A page could not be read or written.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The volume could not make the change durable.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// A table that others use could not be locked.
    #[error(transparent)]
    Lock(#[from] quire_kv::mvcc::LockError),
    /// Rows do not permit the change, or could not be read or written.
    #[error(transparent)]
    Rows(#[from] RowWriteError),
    /// Rows of a column table could not be read.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// Rows of a column table could not be written.
    #[error(transparent)]
    Append(#[from] Box<TableAppendError>),
    /// A tree could not be made.
    #[error(transparent)]
    Tree(#[from] quire_kv::btree::TreeError),
}

impl From<TableAppendError> for TransactionError {
    fn from(error: TableAppendError) -> Self {
        Self::Append(Box::new(error))
    }
}

/// Appending to a table failed; its transaction cannot commit any more.
#[derive(Debug, thiserror::Error)]
pub enum TableAppendError {
    /// The batch's columns are not the table's.
    #[error("batch does not fit the table: {0}")]
    Schema(String),
    /// NULL in a NOT NULL column.
    #[error("null value in column {column:?} violates not-null constraint (row {row})")]
    Null {
        /// Column name.
        column: String,
        /// Row, 0-based, counted from the first row of this append.
        row: u64,
    },
    /// Text longer than the column allows.
    #[error(
        "value of {characters} characters too long for {sql_type} in column {column:?} (row {row})"
    )]
    TooLong {
        /// Column name.
        column: String,
        /// Row, 0-based, counted from the first row of this append.
        row: u64,
        /// Length of the value in characters.
        characters: usize,
        /// Declared type.
        sql_type: SqlType,
    },
    /// A decimal with more digits than declared.
    #[error(
        "numeric field overflow: value in column {column:?} does not fit {sql_type} (row {row})"
    )]
    Precision {
        /// Column name.
        column: String,
        /// Row, 0-based, counted from the first row of this append.
        row: u64,
        /// Declared type.
        sql_type: SqlType,
    },
    /// A value longer than any column can hold.
    #[error("value of {bytes} bytes in column {column:?} is longer than {limit} bytes (row {row})")]
    TooLarge {
        /// Column name.
        column: String,
        /// Row, 0-based, counted from the first row of this append.
        row: u64,
        /// Length of the value.
        bytes: usize,
        /// Longest value that can be stored.
        limit: usize,
    },
    /// A column could not be encoded.
    #[error("column {column:?} could not be encoded: {what}")]
    Encode {
        /// Column name.
        column: String,
        /// What the encoder said.
        what: String,
    },
    /// An earlier append of the same appender failed.
    #[error("an earlier batch could not be appended; abort the transaction")]
    Failed,
    /// A worker thread could not be started or died.
    #[error("a thread that encodes row groups failed: {0}")]
    Worker(String),
    /// A row group to be merged with the new rows could not be read.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// A page could not be read or written.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// A scan failed.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// A projected or filtered column index is not one of the table's.
    #[error("column index {index} is out of range for table {table:?}")]
    Column {
        /// Index asked for.
        index: usize,
        /// Table name.
        table: String,
    },
    /// A predicate could not be evaluated.
    #[error("{0}")]
    Predicate(String),
    /// A segment does not mean anything, or not what its row group says.
    #[error(
        "table {table:?}, row group {row_group}, column {column:?}: {source}; run `quire check` on the file"
    )]
    Corrupt {
        /// Table name.
        table: String,
        /// Row group, 0-based.
        row_group: usize,
        /// Column name.
        column: String,
        /// What is wrong.
        source: Corrupt,
    },
    /// An output batch could not be built.
    #[error("building a batch of table {table:?} failed: {what}")]
    Batch {
        /// Table name.
        table: String,
        /// What Arrow said.
        what: String,
    },
    /// A page could not be read.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Changes since the last merge could not be read.
    #[error(transparent)]
    Changes(#[from] RowScanError),
}
