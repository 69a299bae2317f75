//! The errors of row tables and their transactions, with PostgreSQL's SQLSTATE codes.

use quire_kv::btree::TreeError;
use quire_kv::mvcc::{KeyWriteError, KvCommitError, LockError, TreeCheckpointError, TreeReadError};
use quire_tables::row_table::RowError;
use quire_tables::{RowScanError, RowWriteError, SequenceError, TransactionCommitError};

use super::Error;

/// Data is damaged, or cannot be read.
const CORRUPT: &str = "XX001";
const IO: &str = "58030";

impl From<LockError> for Error {
    fn from(error: LockError) -> Self {
        let sqlstate = match error {
            LockError::Deadlock => "40P01",
            LockError::Timeout | LockError::NotAvailable => "55P03",
            LockError::Cancelled => "57014",
            // Of a tree that was dropped meanwhile another try finds what took its place.
            LockError::Conflict | LockError::UnknownTree { .. } => "40001",
            _ => "XX000",
        };
        Error::new(sqlstate, error.to_string())
    }
}

impl From<TreeError> for Error {
    fn from(error: TreeError) -> Self {
        let sqlstate = match &error {
            TreeError::KeyTooLong { .. } | TreeError::EntryTooLong { .. } => "54000",
            TreeError::Add(_) => "53100",
            _ => CORRUPT,
        };
        Error::new(sqlstate, error.to_string())
    }
}

impl From<TreeReadError> for Error {
    fn from(error: TreeReadError) -> Self {
        match error {
            TreeReadError::Tree(inner) => inner.into(),
            // Another try finds what took the place of a tree that was dropped meanwhile.
            other => Error::new("40001", other.to_string()),
        }
    }
}

impl From<KeyWriteError> for Error {
    fn from(error: KeyWriteError) -> Self {
        match error {
            KeyWriteError::Lock(inner) => inner.into(),
            KeyWriteError::Tree(inner) => inner.into(),
            other => Error::new(IO, other.to_string()),
        }
    }
}

impl From<KvCommitError> for Error {
    fn from(error: KvCommitError) -> Self {
        match error {
            KvCommitError::Log(inner) => inner.into(),
            KvCommitError::Conflict => Error::new("40001", error.to_string()),
            other => Error::new(IO, other.to_string()),
        }
    }
}

impl From<TreeCheckpointError> for Error {
    fn from(error: TreeCheckpointError) -> Self {
        match error {
            TreeCheckpointError::Write(inner) => inner.into(),
            TreeCheckpointError::Commit(inner) => inner.into(),
            TreeCheckpointError::Tree(inner) => inner.into(),
            other => Error::new(IO, other.to_string()),
        }
    }
}

impl From<RowError> for Error {
    fn from(error: RowError) -> Self {
        let sqlstate = match &error {
            RowError::TooManyCharacters { .. } => "22001",
            RowError::KeyTooLong { .. }
            | RowError::RowTooLong { .. }
            | RowError::ValueTooLong { .. } => "54000",
            RowError::Value(_) => "22003",
            _ => "XX000",
        };
        Error::new(sqlstate, error.to_string())
    }
}

impl From<RowScanError> for Error {
    fn from(error: RowScanError) -> Self {
        match error {
            RowScanError::Read(inner) => inner.into(),
            RowScanError::Row(inner) => inner.into(),
            RowScanError::Stopped => Error::cancelled(),
            other => Error::new(CORRUPT, other.to_string()),
        }
    }
}

impl From<RowWriteError> for Error {
    fn from(error: RowWriteError) -> Self {
        let text = error.to_string();
        match error {
            RowWriteError::Duplicate { detail, .. } => {
                Error::new("23505", text).with_detail(detail)
            }
            RowWriteError::NoReferenced { detail, .. }
            | RowWriteError::StillReferenced { detail, .. } => {
                Error::new("23503", text).with_detail(detail)
            }
            RowWriteError::Null { .. } => Error::new("23502", text),
            RowWriteError::Row(inner) => inner.into(),
            RowWriteError::Engine(inner) => inner.into(),
            RowWriteError::Scan(inner) => inner.into(),
            RowWriteError::Lock(inner) => inner.into(),
            RowWriteError::Write(inner) => inner.into(),
            _ => Error::new("0A000", text),
        }
    }
}

impl From<SequenceError> for Error {
    fn from(error: SequenceError) -> Self {
        let sqlstate = match error {
            SequenceError::Exhausted { .. } => "2200H",
            SequenceError::OutOfBounds { .. } => "22003",
            SequenceError::Damaged { .. } => CORRUPT,
            SequenceError::Read(inner) => return inner.into(),
            SequenceError::Lock(inner) => return inner.into(),
            SequenceError::Write(inner) => return inner.into(),
            SequenceError::Commit(inner) => return inner.into(),
        };
        Error::new(sqlstate, error.to_string())
    }
}

impl From<TransactionCommitError> for Error {
    fn from(error: TransactionCommitError) -> Self {
        match error {
            TransactionCommitError::Rows(inner) => inner.into(),
            TransactionCommitError::Tables(inner) => inner.into(),
        }
    }
}
