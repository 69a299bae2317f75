//! What can go wrong, one type per operation.

use quire_codec::Corrupt;
use quire_kv::btree::StoredTreeError;
use quire_store::{BatchWriteError, CheckpointError, CleanError, CommitError, PageReadError};

use crate::types::SqlType;

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
    Rows(#[from] crate::rows::RowWriteError),
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

impl From<StoredTreeError> for EngineError {
    fn from(error: StoredTreeError) -> Self {
        match error {
            StoredTreeError::Read(error) => Self::Read(error),
            StoredTreeError::Corrupt { what, source } => Self::Corrupt { what, source },
        }
    }
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
    Changes(#[from] crate::rows::RowScanError),
}
