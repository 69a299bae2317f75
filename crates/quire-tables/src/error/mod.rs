//! What can go wrong, one type per operation.

mod rows;
mod transaction;

use quire_codec::Corrupt;
use quire_kv::btree::StoredTreeError;
use quire_store::{BatchWriteError, CheckpointError, CleanError, PageReadError};

use crate::types::SqlType;

pub use rows::{RowScanError, RowWriteError};
pub use transaction::{ScanError, TableAppendError, TransactionCommitError, TransactionError};

/// A table definition that cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    /// Empty or over-long name.
    #[error("{kind} name {name:?} must have 1 to 255 bytes")]
    Name {
        /// "table", "column", "index" …
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// No columns, or too many.
    #[error("table {table:?} has {columns} columns; it must have 1 to 1600")]
    ColumnCount {
        /// Table name.
        table: String,
        /// Number of columns asked for.
        columns: usize,
    },
    /// Two columns of one name.
    #[error("column {column:?} appears more than once")]
    DuplicateColumn {
        /// The name.
        column: String,
    },
    /// A length, precision or scale out of bounds.
    #[error("column {column:?}: {what}")]
    Type {
        /// Column name.
        column: String,
        /// What is wrong.
        what: String,
    },
    /// The demanded codec cannot hold the type.
    #[error(
        "column {column:?}: codec {codec} cannot store {sql_type}; choose another or leave it out"
    )]
    Codec {
        /// Column name.
        column: String,
        /// Codec name.
        codec: &'static str,
        /// Declared type.
        sql_type: SqlType,
    },
    /// A column table cannot have it.
    #[error("{what} needs a row table; create the table USING row")]
    NeedsRowTable {
        /// The constraint, index or column.
        what: String,
    },
    /// A row table cannot have it.
    #[error("{what} needs a column table; leave it out, or create the table USING column")]
    NeedsColumnTable {
        /// The clause.
        what: String,
    },
    /// The value of older rows is not of the column's type, or NULL where that is not allowed.
    #[error("column {column:?} has no acceptable value for rows that are older; give it a default")]
    Missing {
        /// Column name.
        column: String,
    },
    /// A table option out of bounds.
    #[error("{what}")]
    Option {
        /// What is wrong.
        what: String,
    },
    /// A column of the primary key may be NULL.
    #[error("column {column:?} is in the primary key; declare it NOT NULL")]
    NullableKey {
        /// Column name.
        column: String,
    },
    /// No columns, or too many.
    #[error("key {key:?} has {columns} columns; it must have 1 to 32")]
    KeyColumnCount {
        /// Name of the key, index or foreign key.
        key: String,
        /// Number of columns asked for.
        columns: usize,
    },
    /// A column that the table does not have.
    #[error("key {key:?} names a column {index} that is not there")]
    KeyColumn {
        /// Name of the key, index or foreign key.
        key: String,
        /// The column's place.
        index: usize,
    },
    /// A column twice in a key.
    #[error("column {column:?} appears twice in key {key:?}")]
    DuplicateKeyColumn {
        /// Name of the key, index or foreign key.
        key: String,
        /// The column.
        column: String,
    },
    /// Two constraints of one name.
    #[error("constraint {constraint:?} for relation {table:?} already exists")]
    DuplicateConstraint {
        /// Name of the constraint.
        constraint: String,
        /// Name of the table.
        table: String,
    },
    /// A foreign key that cannot be.
    #[error("foreign key {key:?}: {what}")]
    ForeignKey {
        /// Name of the constraint.
        key: String,
        /// What is wrong.
        what: String,
    },
    /// A sequence that cannot be.
    #[error("sequence {sequence:?}: {what}")]
    Sequence {
        /// Name of the sequence.
        sequence: String,
        /// What is wrong.
        what: String,
    },
}

/// The pages that hold the tables could not be read, understood or written.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The volume could not hand out a page.
    #[error(transparent)]
    Read(#[from] PageReadError),
    /// The volume could not take a page.
    #[error(transparent)]
    Write(#[from] BatchWriteError),
    /// A metadata page does not mean anything.
    #[error("{what}: {source}; run `quire check` on the file, and restore it from a copy")]
    Corrupt {
        /// Which page, of which table.
        what: String,
        /// What is wrong with it.
        source: Corrupt,
    },
    /// Written by a later program.
    #[error("{what}; it was written by a newer version of Quire: open the file with that version")]
    NewerVersion {
        /// What this program does not know, and where.
        what: String,
    },
    /// A row group that the table does not have.
    #[error("table {table:?} has {count} row groups; there is none with index {index}")]
    NoRowGroup {
        /// Table name.
        table: String,
        /// Index asked for.
        index: usize,
        /// Number of row groups.
        count: usize,
    },
    /// The log of row tables cannot be read.
    #[error(transparent)]
    Log(#[from] quire_store::log::LogError),
    /// The row tables cannot be opened.
    #[error(transparent)]
    Rows(#[from] quire_kv::mvcc::TreesOpenError),
    /// The write transaction whose view this was has ended.
    #[error(
        "the transaction that this view of the tables belongs to has ended; take a new snapshot"
    )]
    TransactionEnded,
}

impl From<StoredTreeError> for EngineError {
    fn from(error: StoredTreeError) -> Self {
        match error {
            StoredTreeError::Read(error) => Self::Read(error),
            StoredTreeError::Corrupt { what, source } => Self::Corrupt { what, source },
        }
    }
}

/// Giving back dead space failed; nothing is lost.
#[derive(Debug, thiserror::Error)]
pub enum MaintenanceError {
    /// Moving what is alive failed.
    #[error(transparent)]
    Clean(#[from] CleanError),
    /// Storing the page map failed.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Storing the changed pages of row tables failed.
    #[error(transparent)]
    Rows(#[from] quire_kv::mvcc::TreeCheckpointError),
    /// The wait for who changes definitions has ended otherwise, or the statement was cancelled.
    #[error(transparent)]
    Lock(#[from] quire_kv::mvcc::LockError),
}

/// A sequence has no value to give.
#[derive(Debug, thiserror::Error)]
pub enum SequenceError {
    /// It has given its last value.
    #[error("nextval: reached maximum or minimum value of sequence {sequence:?}")]
    Exhausted {
        /// Name of the sequence.
        sequence: String,
    },
    /// A value that the sequence cannot have.
    #[error("setval: value {value} is out of bounds for sequence {sequence:?} ({min}..{max})")]
    OutOfBounds {
        /// Name of the sequence.
        sequence: String,
        /// The value.
        value: i64,
        /// Its least value.
        min: i64,
        /// Its greatest value.
        max: i64,
    },
    /// What is stored of it means nothing.
    #[error("the stored value of sequence {sequence:?} is damaged; set it again with setval")]
    Damaged {
        /// Name of the sequence.
        sequence: String,
    },
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] quire_kv::mvcc::TreeReadError),
    /// It cannot be locked.
    #[error(transparent)]
    Lock(#[from] quire_kv::mvcc::LockError),
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] quire_kv::mvcc::KeyWriteError),
    /// What was taken of it cannot be logged.
    #[error(transparent)]
    Commit(#[from] quire_kv::mvcc::KvCommitError),
}
