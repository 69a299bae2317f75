//! What a caller may decide when opening a database.

use std::num::NonZeroUsize;
use std::thread;

use quire_device::DeviceSpecification;
use quire_store::pool::PoolPolicy;

use crate::memory_limits::DefaultBudget;

/// How a database is opened. `DatabaseOptions::default()` suits a machine of one's own.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    /// Opens the file without the right to change it; several processes may do so at a time.
    pub read_only: bool,
    /// Bytes of pages kept in memory: a third of what there is for them and for statements, 512 MiB at most.
    pub cache_bytes: usize,
    /// Bytes that running statements may hold together (hash tables, sorts) before they spill to
    /// temporary files: with the cache, 60 % of the memory of the machine or of the control group (container) around the process.
    pub memory_bytes: usize,
    /// How row pages and their compressed images share `cache_bytes`.
    pub pool_policy: PoolPolicy,
    /// Threads that compress pages of row tables in the background, 64 at most; 0: whoever fills the log of a page compresses it; `None`: half of the processors, 1 to 16.
    pub compression_threads: Option<usize>,
    /// Threads that run statements.
    pub threads: usize,
    /// Reads and writes the file past the system's page cache, so that `cache_bytes` is all the memory that its pages have. File systems and
    /// machines without direct I/O refuse it.
    pub direct_io: bool,
    /// The database lies on a device that compresses what is written to it, inside this process: the file is a volume of data sets, one of
    /// which has the database's file. For experiments; Quire's own compression is best switched off there.
    pub device: Option<DeviceSpecification>,
    /// Whether changed rows of column tables become row groups in the background when there are many; otherwise only by
    /// `VACUUM`.
    pub merges_in_background: bool,
}

impl Default for DatabaseOptions {
    fn default() -> Self {
        let budget = DefaultBudget::here();
        Self {
            read_only: false,
            cache_bytes: budget.cache_bytes,
            memory_bytes: budget.memory_bytes,
            pool_policy: PoolPolicy::Tuned,
            compression_threads: None,
            threads: thread::available_parallelism().map_or(1, NonZeroUsize::get),
            direct_io: false,
            device: None,
            merges_in_background: true,
        }
    }
}
