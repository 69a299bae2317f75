//! An open database file.

use std::path::Path;
use std::sync::Arc;

use quire_error::Error;
use quire_store::{
    CheckReport, DirectFileDisk, Disk, FileDisk, MemDisk, OpenMode, RebuildReport, Volume,
    VolumeOptions,
};

use crate::check;
use crate::connection::Connection;
use crate::device;
use crate::experiment_options::ExperimentOptions;
use crate::opened::Opened;
use crate::options::DatabaseOptions;
use crate::roles::Role;
use crate::statement::StatementCache;

/// An open database. Cheap to clone; the file is closed with the last clone, connection and
/// unread result.
///
/// ```
/// use quire::{Database, Outcome};
///
/// let database = Database::in_memory()?;
/// let mut connection = database.connect();
/// connection.execute("CREATE TABLE t (a INTEGER, b TEXT)")?;
/// connection.execute("INSERT INTO t VALUES (1, 'one'), (2, 'two')")?;
/// if let Outcome::Rows(mut rows) = connection.execute("SELECT b FROM t WHERE a = 2")? {
///     let batch = rows.next_batch()?;
///     assert_eq!(batch.map(|batch| batch.num_rows()), Some(1));
/// }
/// # Ok::<(), quire_error::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Database {
    opened: Arc<Opened>,
    statements: Arc<StatementCache>,
}

impl Database {
    /// Opens the database file at `path`, or creates it.
    ///
    /// # Errors
    /// When the file is not a Quire database, is damaged, or is open in another process.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path, DatabaseOptions::default())
    }

    /// The same with options. Read-only, the file must exist.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub fn open_with(path: impl AsRef<Path>, options: DatabaseOptions) -> Result<Self, Error> {
        let mode = if options.read_only {
            OpenMode::ReadOnly
        } else {
            OpenMode::ReadWrite
        };
        let disk = open_file(path.as_ref(), options.read_only, options.direct_io)?;
        Self::on_disk(device::on(disk, mode, &options)?, mode, options)
    }

    /// A database in memory; it ends with its last clone and connection.
    ///
    /// # Errors
    /// When the threads that run statements cannot be started.
    pub fn in_memory() -> Result<Self, Error> {
        Self::in_memory_with(DatabaseOptions::default())
    }

    /// The same with options.
    ///
    /// # Errors
    /// As [`Database::in_memory`].
    pub fn in_memory_with(options: DatabaseOptions) -> Result<Self, Error> {
        let mode = OpenMode::ReadWrite;
        let disk = device::on(Arc::new(MemDisk::new()), mode, &options)?;
        Self::on_disk(disk, mode, options)
    }

    /// A database on any disk, for tests that make disks fail.
    #[doc(hidden)]
    pub fn on_disk(
        disk: Arc<dyn Disk>,
        mode: OpenMode,
        options: DatabaseOptions,
    ) -> Result<Self, Error> {
        Self::for_experiment(disk, mode, options, ExperimentOptions::default())
    }

    /// The same for an experiment.
    #[doc(hidden)]
    pub fn for_experiment(
        disk: Arc<dyn Disk>,
        mode: OpenMode,
        options: DatabaseOptions,
        experiment: ExperimentOptions,
    ) -> Result<Self, Error> {
        Ok(Self {
            opened: Arc::new(Opened::on_disk(disk, mode, options, experiment)?),
            statements: Arc::default(),
        })
    }

    /// Starts a conversation; connections of one database may be used on different threads.
    pub fn connect(&self) -> Connection {
        Connection::new(&self.opened, &self.statements)
    }

    /// The role called `name`, as it is now.
    pub fn role(&self, name: &str) -> Option<Role> {
        let snapshot = self.opened.engine.snapshot();
        snapshot.role(name).map(|role| Role::of(role))
    }

    /// Whether there is a role that can log in with a password.
    pub fn has_login_role(&self) -> bool {
        let snapshot = self.opened.engine.snapshot();
        let mut roles = snapshot.roles();
        roles.any(|role| role.can_log_in && role.verifier.is_some())
    }

    /// Things that opening the file noticed, for people: a recovery, a salvage. Often empty.
    pub fn notices(&self) -> &[String] {
        self.opened.engine.volume().notices()
    }

    /// Checks every invariant of the database file at `path`, pages and tables, or pages and data sets, without changing it.
    ///
    /// # Errors
    /// When the file cannot be opened at all; what is wrong inside is in the report.
    pub fn check(path: impl AsRef<Path>) -> Result<CheckReport, Error> {
        check::check(open_file(path.as_ref(), true, false)?)
    }

    /// Makes a file that [`Database::open`] refuses readable again, from the pages that are whole.
    /// It writes to the file, also over what looks free: work on a copy.
    ///
    /// # Errors
    /// When the disk fails, or no page of the file is whole.
    pub fn rebuild(path: impl AsRef<Path>) -> Result<RebuildReport, Error> {
        let disk = open_file(path.as_ref(), false, false)?;
        let (volume, report) = Volume::rebuild(disk, VolumeOptions::default())?;
        volume.close()?;
        Ok(report)
    }
}

fn open_file(path: &Path, read_only: bool, direct_io: bool) -> Result<Arc<dyn Disk>, Error> {
    Ok(match (read_only, direct_io) {
        (true, false) => Arc::new(FileDisk::open(path, OpenMode::ReadOnly)?),
        (false, false) => Arc::new(FileDisk::open_or_create(path)?),
        (true, true) => Arc::new(DirectFileDisk::open(path, OpenMode::ReadOnly)?),
        (false, true) => Arc::new(DirectFileDisk::open_or_create(path)?),
    })
}
