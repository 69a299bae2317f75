//! How an engine uses its volume.

use quire_kv::mvcc::MvccOptions;
use quire_store::log::LogOptions;
use quire_store::pool::PoolOptions;

/// How an engine uses its volume.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// A write transaction keeps about this much of its pages, and as much that is being written, in memory; more goes into
    /// the volume ahead of the commit.
    pub staging_bytes: usize,
    /// The pool of row pages, which takes charge of the volume's cache.
    pub pool: PoolOptions,
    /// How commits of rows are grouped.
    pub log: LogOptions,
    /// How transactions on rows run.
    pub mvcc: MvccOptions,
    /// Whether columns of row tables get dictionaries where a sample says that it pays; otherwise only those that ask for one.
    pub finds_dictionaries: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        EngineOptions {
            staging_bytes: 4 << 20,
            pool: PoolOptions::default(),
            log: LogOptions::default(),
            mvcc: MvccOptions::default(),
            finds_dictionaries: true,
        }
    }
}
