//! Opens a SQLite file so that it stays as it is, and says SQLite's errors in our words.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, Error, ErrorCode, OpenFlags};

use quire_files::CopyControl;

use crate::error::{SourceError, stopped};

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const LOCK_WAIT: Duration = Duration::from_secs(5);
/// Steps of SQLite's virtual machine between two looks at the control: below a millisecond.
const STEPS_PER_LOOK: i32 = 10_000;

/// Whether the file can be read and begins as SQLite's do.
pub(crate) fn is_sqlite_file(location: &str) -> bool {
    begins_with_magic(Path::new(location)).unwrap_or(false)
}

fn begins_with_magic(path: &Path) -> std::io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?
        .take(MAGIC.len() as u64)
        .read_to_end(&mut head)?;
    Ok(head == MAGIC)
}

/// Why a step ended: for SQLite's reason, whose file the step need not know, or for ours.
#[derive(Debug)]
pub(super) enum SqliteStop {
    Sqlite(Error),
    Source(SourceError),
}

impl From<Error> for SqliteStop {
    fn from(error: Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<SourceError> for SqliteStop {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

/// A file with a read transaction that lasts as long as this does.
#[derive(Debug)]
pub(crate) struct SqliteFile {
    pub(super) shown_name: Arc<str>,
    path: PathBuf,
    /// Whether a log was there before us.
    had_log: bool,
    /// `None` while it is dropped.
    connection: Mutex<Option<Connection>>,
}

impl SqliteFile {
    pub(super) fn open(location: &str) -> Result<Self, SourceError> {
        let shown_name: Arc<str> = location.into();
        let io = |action, source| SourceError::Io {
            action,
            file: Arc::clone(&shown_name),
            source,
        };
        // The file behind links: SQLite puts the log beside that one.
        let path = fs::canonicalize(location).map_err(|source| io("open", source))?;
        if !begins_with_magic(&path).map_err(|source| io("read", source))? {
            return Err(SourceError::NotADatabase { file: shown_name });
        }
        let had_log = log_path(&path).exists();
        // Without SQLITE_OPEN_URI a file name is a file name, whatever characters it has.
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened =
            Connection::open_with_flags(&path, flags).map_err(|error| said(&shown_name, error))?;
        let file = Self {
            shown_name,
            path,
            had_log,
            connection: Mutex::new(Some(opened)),
        };
        file.run(&CopyControl::default(), |connection| {
            connection.busy_timeout(LOCK_WAIT)?;
            // Views of the file may call functions; those with effects are refused.
            connection
                .execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; BEGIN")?;
            // The transaction sees the file as of its first read.
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            Ok(())
        })?;
        Ok(file)
    }

    /// Does something with the connection, alone. A cancelled control ends it at SQLite's next step.
    pub(super) fn run<T>(
        &self,
        control: &CopyControl,
        work: impl FnOnce(&Connection) -> Result<T, SqliteStop>,
    ) -> Result<T, SourceError> {
        control.check().map_err(stopped)?;
        let guard = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(connection) = guard.as_ref() else {
            return Err(self.internal("the connection is closed"));
        };
        let looking = control.clone();
        let handler = move || looking.check().is_err();
        connection
            .progress_handler(STEPS_PER_LOOK, Some(handler))
            .map_err(|error| said(&self.shown_name, error))?;
        let done = work(connection);
        connection
            .progress_handler(0, None::<fn() -> bool>)
            .map_err(|error| said(&self.shown_name, error))?;
        // SQLite ends a transaction when a statement that writes, such as the copy of a view, is interrupted.
        let is_lost = connection.is_autocommit();
        match done {
            Err(SqliteStop::Source(error)) => Err(error),
            Err(SqliteStop::Sqlite(error)) => Err(said(&self.shown_name, error)),
            Ok(_) if is_lost => Err(SourceError::SnapshotLost {
                file: Arc::clone(&self.shown_name),
            }),
            Ok(value) => Ok(value),
        }
    }

    pub(super) fn internal(&self, detail: impl ToString) -> SourceError {
        SourceError::Internal {
            database: Arc::clone(&self.shown_name),
            detail: detail.to_string(),
        }
    }
}

impl Drop for SqliteFile {
    /// A reader of a file in WAL mode has SQLite make an empty log and its index, and leaves them. A connection that may write removes
    /// them when it closes, if it is the last one, under SQLite's own locks.
    fn drop(&mut self) {
        drop(
            self.connection
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        let is_empty = |log: &Path| fs::metadata(log).is_ok_and(|log| log.len() == 0);
        if self.had_log || !is_empty(&log_path(&self.path)) {
            return;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if let Ok(connection) = Connection::open_with_flags(&self.path, flags) {
            // Whoever else has the file, or forbids us to write it, keeps its log: nothing is lost.
            let _ = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
        }
    }
}

fn log_path(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

/// SQLite's error as ours.
fn said(file: &Arc<str>, error: Error) -> SourceError {
    let file = Arc::clone(file);
    let detail = error.to_string();
    let Error::SqliteFailure(failure, _) = &error else {
        return SourceError::Sqlite { file, detail };
    };
    match failure.code {
        ErrorCode::OperationInterrupted => SourceError::Cancelled,
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => SourceError::Locked { file },
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            SourceError::Damaged { file, detail }
        }
        ErrorCode::ReadOnly => SourceError::Unrecovered { file, detail },
        _ => SourceError::Sqlite { file, detail },
    }
}

/// A name as SQL quotes it.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
