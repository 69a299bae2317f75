//! A copy of the database in a new file, while it is in use.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_error::progress::Phase;
use quire_error::wait::wait;
use quire_store::{FileDisk, OpenMode};

use crate::session::Session;

/// See [`crate::Connection::backup`].
pub(crate) fn back_up(
    session: &Session,
    path: &Path,
    replaces: bool,
    token: &CancelToken,
) -> Result<u64, Error> {
    if wait(session.transaction.lock()).is_explicit() {
        let text = "a backup cannot be made inside a transaction block";
        return Err(Error::new("25001", text).with_hint("COMMIT or ROLLBACK before it."));
    }
    let target = BackupTarget::new(path, replaces)?;
    let engine = &session.database.engine;
    if !engine.volume().is_read_only() {
        // So that the copy has commits that nobody waits for, and no log. Where the disk is full, it has a log.
        match engine.checkpoint().map_err(Error::from) {
            Err(error) if error.sqlstate() == "53100" => {}
            checkpointed => checkpointed?,
        }
    }
    let pin = engine.volume().pin();
    let disk = Arc::new(FileDisk::open_or_create(&target.partial)?);
    let (cancelled, work) = (token.flag(), token.work());
    work.begin(Phase::Exporting, None);
    let (mut known_done, mut known_total) = (0, 0);
    pin.duplicate(disk, |done_bytes, total_bytes| {
        work.foresee(Some(0), total_bytes.saturating_sub(known_total));
        work.note_read(0, done_bytes.saturating_sub(known_done));
        (known_done, known_total) = (done_bytes, total_bytes);
        !cancelled.load(Ordering::Relaxed)
    })?;
    target.finish()
}

/// The file, which appears when it is complete. Dropped before that, nothing is left.
struct BackupTarget<'p> {
    path: &'p Path,
    partial: PathBuf,
    /// The file that will be replaced. As long as it is locked, nobody has it open.
    replaced: Option<FileDisk>,
}

impl<'p> BackupTarget<'p> {
    fn new(path: &'p Path, replaces: bool) -> Result<Self, Error> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let Some(name) = path.file_name() else {
            let text = format!("\"{}\" is not the name of a file", path.display());
            return Err(Error::new("42602", text));
        };
        let exists = fs::symlink_metadata(path).is_ok();
        if exists && !replaces {
            return Err(exists_already(path));
        }
        let replaced = if exists {
            Some(FileDisk::open(path, OpenMode::ReadWrite)?)
        } else {
            None
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut partial = std::ffi::OsString::from(".");
        partial.push(name);
        partial.push(format!(".{}.{number}.partial", std::process::id()));
        Ok(Self {
            path,
            partial: path.with_file_name(partial),
            replaced,
        })
    }

    /// Gives the file its name; says how long it is.
    fn finish(self) -> Result<u64, Error> {
        let bytes = fs::metadata(&self.partial).map_err(|error| self.failed("read", &error))?;
        if self.replaced.is_none() && fs::symlink_metadata(self.path).is_ok() {
            return Err(exists_already(self.path));
        }
        fs::rename(&self.partial, self.path).map_err(|error| self.failed("rename", &error))?;
        let folder = self
            .path
            .parent()
            .filter(|path| !path.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))
            .and_then(|folder| folder.sync_all())
            .map_err(|error| self.failed("sync the folder of", &error))?;
        Ok(bytes.len())
    }

    fn failed(&self, action: &str, error: &io::Error) -> Error {
        let text = format!("cannot {action} \"{}\": {error}", self.path.display());
        Error::new("58030", text)
    }
}

impl Drop for BackupTarget<'_> {
    fn drop(&mut self) {
        // It has another name if all went well; otherwise its name says what it is.
        let _ = fs::remove_file(&self.partial);
    }
}

fn exists_already(path: &Path) -> Error {
    let text = format!("file \"{}\" exists already", path.display());
    Error::new("58P02", text)
        .with_hint("Name another file, or say that this one is to be replaced.")
}
