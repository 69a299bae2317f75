//! An open database file.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use datafusion::execution::disk_manager::DiskManagerBuilder;
use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_store::pool::PoolOptions;
use quire_store::{
    CheckReport, Disk, FileDisk, Finding, MemDisk, OpenMode, RebuildReport, Volume, VolumeOptions,
};
use quire_tables::{Engine, EngineOptions};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinError, JoinHandle};

use crate::connection::Connection;
use crate::memory::{Shares, SpillFiles, StatementMemory};
use crate::merging::{ChangedRows, Merging};
use crate::options::DatabaseOptions;
use crate::roles::Role;
use crate::session::Planners;
use crate::sessions::Sessions;
use crate::sql::TupleCounts;
use crate::statement::StatementCache;

/// Stack of a thread that plans and runs statements; nested expressions need it.
const STACK_BYTES: usize = 8 << 20;

/// How long closing waits for tasks that were told to stop.
const LAST_TASKS_WAIT: Duration = Duration::from_secs(10);

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
        let disk = open_file(path.as_ref(), options.read_only)?;
        Self::on_disk(disk, mode, options)
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
        Self::on_disk(Arc::new(MemDisk::new()), OpenMode::ReadWrite, options)
    }

    /// A database on any disk, for tests that make disks fail.
    #[doc(hidden)]
    pub fn on_disk(
        disk: Arc<dyn Disk>,
        mode: OpenMode,
        options: DatabaseOptions,
    ) -> Result<Self, Error> {
        let volume_options = VolumeOptions {
            cache_bytes: options.cache_bytes,
            ..Default::default()
        };
        let volume = match mode {
            OpenMode::ReadWrite => Volume::open_or_create(disk, volume_options)?,
            OpenMode::ReadOnly => Volume::open_with(disk, mode, volume_options)?,
        };
        let opened = Opened {
            engine: Engine::open_with(volume, engine_options(&options))?,
            runtime: Some(start_threads(&options)?),
            environment: environment(&options)?,
            options,
            statements: StatementCache::default(),
            planners: Planners::default(),
            tuple_counts: TupleCounts::default(),
            sessions: Sessions::default(),
            merging: Merging::default(),
        };
        Ok(Self {
            opened: Arc::new(opened),
        })
    }

    /// Starts a conversation; connections of one database may be used on different threads.
    pub fn connect(&self) -> Connection {
        Connection::new(Arc::clone(&self.opened))
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

    /// Checks every invariant of the database file at `path`, pages and tables, without changing it.
    ///
    /// # Errors
    /// When the file cannot be opened at all; what is wrong inside is in the report.
    pub fn check(path: impl AsRef<Path>) -> Result<CheckReport, Error> {
        let disk = open_file(path.as_ref(), true)?;
        let volume = Volume::open(disk, OpenMode::ReadOnly)?;
        let mut report = volume.check();
        let tables = Engine::check(&volume);
        report
            .findings
            .extend(tables.into_iter().map(|finding| Finding {
                invariant: finding.invariant,
                page: finding.page,
                offset: None,
                what: match finding.table {
                    Some(table) => format!("table {table:?}: {}", finding.what),
                    None => finding.what,
                },
                advice: "restore a backup, or copy out what can still be read",
            }));
        Ok(report)
    }

    /// Makes a file that [`Database::open`] refuses readable again, from the pages that are whole.
    /// It writes to the file, also over what looks free: work on a copy.
    ///
    /// # Errors
    /// When the disk fails, or no page of the file is whole.
    pub fn rebuild(path: impl AsRef<Path>) -> Result<RebuildReport, Error> {
        let disk = open_file(path.as_ref(), false)?;
        let (volume, report) = Volume::rebuild(disk, VolumeOptions::default())?;
        volume.close()?;
        Ok(report)
    }
}

fn open_file(path: &Path, read_only: bool) -> Result<Arc<dyn Disk>, Error> {
    let disk = if read_only {
        FileDisk::open(path, OpenMode::ReadOnly)
    } else {
        FileDisk::open_or_create(path)
    };
    Ok(Arc::new(disk?))
}

fn engine_options(options: &DatabaseOptions) -> EngineOptions {
    EngineOptions {
        pool: PoolOptions {
            budget_bytes: options.cache_bytes,
            ..PoolOptions::default()
        },
        ..EngineOptions::default()
    }
}

fn start_threads(options: &DatabaseOptions) -> Result<Runtime, Error> {
    Builder::new_multi_thread()
        .worker_threads(options.threads.max(1))
        .thread_stack_size(STACK_BYTES)
        .thread_name("quire")
        .enable_all()
        .build()
        .map_err(|error| Error::new("53000", format!("cannot start threads: {error}")))
}

fn environment(options: &DatabaseOptions) -> Result<Arc<RuntimeEnv>, Error> {
    let shares = Shares::of(options);
    let files = DiskManagerBuilder::default()
        .with_temp_file_factory(Arc::new(SpillFiles))
        .with_max_spill_merge_fan_in(shares.merged_files);
    Ok(RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(StatementMemory::new(shares.pool_bytes)))
        .with_disk_manager_builder(files)
        .build_arc()?)
}

/// What the clones and connections of a database share.
pub(crate) struct Opened {
    pub(crate) engine: Engine,
    /// Taken when the last owner goes, which may be a thread that must not wait.
    runtime: Option<Runtime>,
    pub(crate) environment: Arc<RuntimeEnv>,
    pub(crate) options: DatabaseOptions,
    pub(crate) statements: StatementCache,
    pub(crate) planners: Planners,
    pub(crate) tuple_counts: TupleCounts,
    pub(crate) sessions: Sessions,
    merging: Merging,
}

impl Opened {
    /// Runs `work` on the database's threads and waits for it. May be called from any thread.
    pub(crate) fn run<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        self.run_with(work, quire_error::wait::wait)
    }

    /// The same for the work of a statement, which is stopped when its time is up.
    pub(crate) fn run_in_time<T, F>(&self, token: &CancelToken, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        self.run_with(work, |task| quire_error::wait::wait_in_time(token, task))
    }

    fn run_with<T, F>(
        &self,
        work: F,
        wait: impl FnOnce(JoinHandle<Result<T, Error>>) -> Result<Result<T, Error>, JoinError>,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let Some(runtime) = &self.runtime else {
            return Err(Error::new("57P01", "the database is closing"));
        };
        wait(runtime.spawn(work)).unwrap_or_else(|error| {
            let error = match error.try_into_panic() {
                Ok(panic) => of_panic(&*panic),
                Err(_) => Error::cancelled(),
            };
            Err(error)
        })
    }

    /// What running statements have left of their memory for another one.
    pub(crate) fn free_memory_bytes(&self) -> usize {
        let pool = &self.environment.memory_pool;
        match pool.memory_limit() {
            MemoryLimit::Finite(bytes) => bytes.saturating_sub(pool.reserved()),
            _ => self.options.memory_bytes,
        }
    }

    /// A transaction that is committed has changed so many rows of column tables.
    pub(crate) fn note_changes(&self, changed: ChangedRows) {
        if let Some(runtime) = &self.runtime
            && self.options.merges_in_background
        {
            self.merging.note(&self.engine, runtime, changed);
        }
    }

    /// Starts a task that outlives the statement's call, such as the producer of its rows.
    pub(crate) fn spawn<F>(&self, work: F) -> Result<tokio::task::AbortHandle, Error>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Ok(self.start(work)?.abort_handle())
    }

    /// The same, of whose end somebody wants to hear.
    pub(crate) fn start<T, F>(&self, work: F) -> Result<JoinHandle<T>, Error>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        match &self.runtime {
            Some(runtime) => Ok(runtime.spawn(work)),
            None => Err(Error::new("57P01", "the database is closing")),
        }
    }
}

/// What is said of a statement that has panicked.
pub(crate) fn of_panic(panic: &(dyn std::any::Any + Send)) -> Error {
    Error::new("XX000", format!("internal error: {}", panic_text(panic)))
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic")
}

impl Drop for Opened {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else {
            return;
        };
        self.merging.close();
        if tokio::runtime::Handle::try_current().is_ok() {
            // This thread must not wait.
            runtime.shutdown_background();
        } else {
            // Tasks that were told to stop still hold the tables; the file is free when they end.
            runtime.shutdown_timeout(LAST_TASKS_WAIT);
        }
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
