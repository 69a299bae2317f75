//! The errors of the rooms below, with PostgreSQL's SQLSTATE codes.

use quire_store::{
    BatchWriteError, CheckpointError, CleanError, CommitError, DuplicateError, PageReadError,
    VolumeOpenError,
};
use quire_tables::{
    DefinitionError, EngineError, MaintenanceError, ScanError, TableAppendError, TransactionError,
};

use super::Error;

/// Data is damaged.
const CORRUPT: &str = "XX001";
/// The system refused an operation on the file.
const IO: &str = "58030";

impl From<VolumeOpenError> for Error {
    fn from(error: VolumeOpenError) -> Self {
        let sqlstate = match &error {
            VolumeOpenError::Locked { .. } => "55006",
            VolumeOpenError::Io { .. } => IO,
            VolumeOpenError::DirectRefused { .. } => "0A000",
            VolumeOpenError::NotQuire { .. } | VolumeOpenError::NewerVersion { .. } => "08001",
            VolumeOpenError::NotEmpty { .. } | VolumeOpenError::Unfinished { .. } => "58P02",
            _ => CORRUPT,
        };
        Error::new(sqlstate, error.to_string())
    }
}

impl From<PageReadError> for Error {
    fn from(error: PageReadError) -> Self {
        let sqlstate = if matches!(error, PageReadError::Io { .. }) {
            IO
        } else {
            CORRUPT
        };
        Error::new(sqlstate, error.to_string())
    }
}

impl From<BatchWriteError> for Error {
    fn from(error: BatchWriteError) -> Self {
        let sqlstate = match &error {
            BatchWriteError::ReadOnly { .. } => "25006",
            BatchWriteError::Full { .. } => "53100",
            BatchWriteError::TooLarge { .. } => "54000",
            BatchWriteError::NotFound { .. } => CORRUPT,
            _ => IO,
        };
        Error::new(sqlstate, error.to_string())
    }
}

impl From<CommitError> for Error {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Write(inner) => inner.into(),
            other => Error::new("40003", other.to_string()),
        }
    }
}

impl From<CheckpointError> for Error {
    fn from(error: CheckpointError) -> Self {
        match error {
            CheckpointError::Write(inner) => inner.into(),
            other => Error::new(IO, other.to_string()),
        }
    }
}

impl From<MaintenanceError> for Error {
    fn from(error: MaintenanceError) -> Self {
        match error {
            MaintenanceError::Rows(inner) => inner.into(),
            MaintenanceError::Clean(inner) => inner.into(),
            MaintenanceError::Checkpoint(inner) => inner.into(),
            MaintenanceError::Lock(inner) => inner.into(),
        }
    }
}

impl From<CleanError> for Error {
    fn from(error: CleanError) -> Self {
        match error {
            CleanError::Write(inner) => inner.into(),
            CleanError::Commit(inner) => inner.into(),
            other => Error::new(IO, other.to_string()),
        }
    }
}

impl From<DuplicateError> for Error {
    fn from(error: DuplicateError) -> Self {
        match error {
            DuplicateError::Open(inner) => inner.into(),
            DuplicateError::Read(inner) => inner.into(),
            DuplicateError::Write(inner) => inner.into(),
            DuplicateError::Commit(inner) => inner.into(),
            DuplicateError::Checkpoint(inner) => inner.into(),
            DuplicateError::Stopped => Error::cancelled(),
            other => Error::new(IO, other.to_string()),
        }
    }
}

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Read(inner) => inner.into(),
            EngineError::Write(inner) => inner.into(),
            EngineError::TransactionEnded => Error::new("25P01", error.to_string()),
            EngineError::NewerVersion { .. } => Error::new("08001", error.to_string()),
            other => Error::new(CORRUPT, other.to_string()),
        }
    }
}

impl From<DefinitionError> for Error {
    fn from(error: DefinitionError) -> Self {
        let sqlstate = match &error {
            DefinitionError::Name { .. } => "42602",
            DefinitionError::ColumnCount { .. } => "54011",
            DefinitionError::DuplicateColumn { .. } => "42701",
            DefinitionError::Type { .. } => "22023",
            DefinitionError::Codec { .. } | DefinitionError::NullableKey { .. } => "42P16",
            DefinitionError::NeedsRowTable { .. } | DefinitionError::NeedsColumnTable { .. } => {
                "0A000"
            }
            DefinitionError::Missing { .. } => "23502",
            DefinitionError::Option { .. } | DefinitionError::Sequence { .. } => "22023",
            DefinitionError::KeyColumnCount { .. } => "54011",
            DefinitionError::KeyColumn { .. } => "42703",
            DefinitionError::DuplicateKeyColumn { .. } => "42701",
            DefinitionError::DuplicateConstraint { .. } => "42710",
            DefinitionError::ForeignKey { .. } => "42830",
        };
        Error::new(sqlstate, error.to_string())
    }
}

impl From<TransactionError> for Error {
    fn from(error: TransactionError) -> Self {
        match error {
            TransactionError::TableExists(name) => {
                Error::new("42P07", format!("relation \"{name}\" already exists"))
            }
            changed @ TransactionError::Changed { .. } => Error::new("40001", changed.to_string()),
            exists @ TransactionError::RoleExists(_) => Error::new("42710", exists.to_string()),
            missing @ TransactionError::NotFound { .. } => {
                let sqlstate = match &missing {
                    TransactionError::NotFound {
                        kind: "index" | "role",
                        ..
                    } => "42704",
                    _ => "42P01",
                };
                Error::new(sqlstate, missing.to_string())
            }
            needed @ TransactionError::Dependents { .. } => Error::new("2BP01", needed.to_string()),
            other @ TransactionError::Alteration { .. } => Error::new("0A000", other.to_string()),
            full @ TransactionError::PagesUsedUp => Error::new("54000", full.to_string()),
            TransactionError::TableNotFound(name) => Error::unknown_table(&name),
            TransactionError::Definition(inner) => inner.into(),
            TransactionError::Engine(inner) => inner.into(),
            TransactionError::Commit(inner) => inner.into(),
            TransactionError::Lock(inner) => inner.into(),
            TransactionError::Rows(inner) => inner.into(),
            TransactionError::Tree(inner) => inner.into(),
            TransactionError::Scan(inner) => inner.into(),
            TransactionError::Append(inner) => (*inner).into(),
            full @ TransactionError::CatalogFull { .. } => Error::new("54000", full.to_string()),
            other @ TransactionError::AppendUnfinished(_) => Error::new("25P02", other.to_string()),
        }
    }
}

impl From<TableAppendError> for Error {
    fn from(error: TableAppendError) -> Self {
        let sqlstate = match error {
            TableAppendError::Scan(inner) => return inner.into(),
            TableAppendError::Engine(inner) => return inner.into(),
            TableAppendError::Null { .. } => "23502",
            TableAppendError::TooLong { .. } => "22001",
            TableAppendError::Precision { .. } => "22003",
            TableAppendError::TooLarge { .. } => "54000",
            _ => "XX000",
        };
        Error::new(sqlstate, error.to_string())
    }
}

impl From<ScanError> for Error {
    fn from(error: ScanError) -> Self {
        match error {
            ScanError::Engine(inner) => inner.into(),
            ScanError::Changes(inner) => inner.into(),
            ScanError::Predicate(text) => super::from_planner::from_message(&text),
            corrupt @ ScanError::Corrupt { .. } => Error::new(CORRUPT, corrupt.to_string()),
            other => Error::new("XX000", other.to_string()),
        }
    }
}
