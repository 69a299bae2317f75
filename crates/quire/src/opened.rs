//! What the connections of an open database share: its tables, its threads, its memory.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::execution::runtime_env::RuntimeEnv;
use quire_device::DataSetVolume;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_exec::tuple::TemporaryDisks;
use quire_store::pool::PoolOptions;
use quire_store::{Disk, OpenMode, Volume, VolumeOptions};
use quire_tables::{Engine, EngineOptions};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinError, JoinHandle};

use crate::experiment_options::ExperimentOptions;
use crate::memory::{Shares, StatementMemory, environment_of};
use crate::merging::{ChangedRows, Merging};
use crate::options::DatabaseOptions;
use crate::plan_cache::PlanCache;
use crate::planners::Planners;
use crate::sessions::Sessions;
use crate::settings::COMPRESSION_THREADS_MAX;
use crate::tuple_counts::TupleCounts;

/// Stack of a thread that plans and runs statements; nested expressions need it.
const STACK_BYTES: usize = 8 << 20;

/// How long closing waits for tasks that were told to stop.
const LAST_TASKS_WAIT: Duration = Duration::from_secs(10);

/// What a load keeps of its pages before it writes them, column by column: much, so that a column's segments lie in long pieces, but not
/// much of the memory.
fn staging_bytes(cache_bytes: usize) -> usize {
    const BYTES_MIN: usize = 4 << 20;
    const BYTES_MAX: usize = 32 << 20;
    (cache_bytes / 8).clamp(BYTES_MIN, BYTES_MAX)
}

fn engine_options(options: &DatabaseOptions, finds_dictionaries: bool) -> EngineOptions {
    let defaults = PoolOptions::default();
    let threads = options.compression_threads;
    let threads = threads.map(|count| count.min(COMPRESSION_THREADS_MAX));
    EngineOptions {
        staging_bytes: staging_bytes(options.cache_bytes),
        pool: PoolOptions {
            budget_bytes: options.cache_bytes,
            policy: options.pool_policy,
            compression_threads: threads.unwrap_or(defaults.compression_threads),
            ..defaults
        },
        finds_dictionaries,
        ..EngineOptions::default()
    }
}

/// A volume of data sets has no tables.
fn refuse_data_sets(volume: &Volume) -> Result<(), Error> {
    if !DataSetVolume::is_in(volume) {
        return Ok(());
    }
    let text = format!("{} holds data sets, not tables", volume.file());
    let hint = "mount it with `quire mount`, or list them with `quire dataset list`";
    Err(Error::new("08001", text).with_hint(hint))
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
    let pool = Arc::new(StatementMemory::new(shares.pool_bytes));
    Ok(environment_of(pool, shares.merged_files)?)
}

pub(crate) struct Opened {
    pub(crate) engine: Engine,
    /// Taken when the last owner goes, which may be a thread that must not wait.
    runtime: Option<Runtime>,
    pub(crate) environment: Arc<RuntimeEnv>,
    pub(crate) options: DatabaseOptions,
    /// Where the tuple engine writes rows that do not fit memory.
    pub(crate) temporary_disks: TemporaryDisks,
    pub(crate) planners: Planners,
    pub(crate) plans: PlanCache,
    pub(crate) tuple_counts: TupleCounts,
    pub(crate) sessions: Sessions,
    merging: Merging,
}

impl Opened {
    /// Opens the database on a disk, and starts its threads.
    pub(crate) fn on_disk(
        disk: Arc<dyn Disk>,
        mode: OpenMode,
        options: DatabaseOptions,
        experiment: ExperimentOptions,
    ) -> Result<Self, Error> {
        let volume_options = VolumeOptions {
            cache_bytes: options.cache_bytes,
            ..Default::default()
        };
        let volume = match mode {
            OpenMode::ReadWrite => Volume::open_or_create(disk, volume_options)?,
            OpenMode::ReadOnly => Volume::open_with(disk, mode, volume_options)?,
        };
        refuse_data_sets(&volume)?;
        let engine_options = engine_options(&options, experiment.finds_dictionaries);
        Ok(Self {
            engine: Engine::open_with(volume, engine_options)?,
            runtime: Some(start_threads(&options)?),
            environment: environment(&options)?,
            options,
            temporary_disks: experiment.temporary_disks,
            planners: Planners::default(),
            plans: PlanCache::default(),
            tuple_counts: TupleCounts::default(),
            sessions: Sessions::default(),
            merging: Merging::default(),
        })
    }

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

    /// What statements that run at the same time have of memory together.
    pub(crate) fn statements_memory_bytes(&self) -> usize {
        match self.environment.memory_pool.memory_limit() {
            MemoryLimit::Finite(bytes) => bytes,
            _ => self.options.memory_bytes,
        }
    }

    /// What running statements have left of their memory for another one.
    pub(crate) fn free_memory_bytes(&self) -> usize {
        let reserved_bytes = self.environment.memory_pool.reserved();
        self.statements_memory_bytes()
            .saturating_sub(reserved_bytes)
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
