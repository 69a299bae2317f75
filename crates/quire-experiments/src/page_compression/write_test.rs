//! Rows inserted in random order (§VI-C): figures 8 and 9, table VIII.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use quire_kv::btree::BTree;
use quire_store::MemDisk;
use quire_store::disk::DiskTraffic;
use quire_store::pool::PoolStats;

use super::record_tree::{RecordVolume, TreeSetup, in_threads, mixed};
use super::storage::RecordStorage;
use super::{PageCompressionError, PageCompressionSetup};

/// §VI-C: "each thread inserts records to 6 tables".
const TABLES_PER_THREAD: u64 = 6;

/// §V-D: "16 by default".
const ASYNC_THREADS: usize = 16;

/// Who compresses pages, and what becomes of those that are full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompressionMode {
    /// Whoever fills a log; what fails is split.
    Sync,
    /// Threads, before a log is full; what was just compressed is split.
    Async,
    /// Threads, and what fails is split: to see what advance split saves.
    AsyncWithoutAdvanceSplit,
}

impl CompressionMode {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Async => "async",
            Self::AsyncWithoutAdvanceSplit => "async, no advance split",
        }
    }

    fn threads(self) -> usize {
        match self {
            Self::Sync => 0,
            Self::Async | Self::AsyncWithoutAdvanceSplit => ASYNC_THREADS,
        }
    }
}

/// All that was measured.
#[derive(Clone, Debug)]
pub struct WriteTest {
    pub(crate) cases: Vec<WriteCase>,
}

/// One curve of figures 8 and 9.
#[derive(Clone, Debug)]
pub(crate) struct WriteCase {
    pub(crate) storage: RecordStorage,
    pub(crate) mode: CompressionMode,
    /// By the numbers of threads of the setup.
    pub(crate) runs: Vec<WriteRun>,
}

/// Insertions by so many threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteRun {
    pub(crate) rows_per_second: f64,
    pub(crate) seconds: f64,
    pub(crate) traffic: DiskTraffic,
    pub(crate) stats: PoolStats,
}

impl WriteRun {
    /// Compressions while rows were inserted: by threads, and by those who insert.
    pub(crate) fn compressions(&self) -> [u64; 2] {
        let stats = &self.stats;
        [stats.background_compressions, stats.foreground_compressions]
    }

    /// Percent of them by threads; nothing if there was none.
    pub(crate) fn async_percent(&self) -> Option<f64> {
        let [background, foreground] = self.compressions();
        percent(background, background + foreground)
    }

    /// Percent of the compressions that did not fit into 8 KiB.
    pub(crate) fn failed_percent(&self) -> Option<f64> {
        percent(self.stats.target_failures, self.stats.target_compressions)
    }
}

fn percent(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| 100.0 * part as f64 / all as f64)
}

pub(crate) fn run(
    setup: &PageCompressionSetup,
    progress: &mut dyn FnMut(&str),
) -> Result<WriteTest, PageCompressionError> {
    use CompressionMode::{Async, AsyncWithoutAdvanceSplit, Sync};
    let mut cases = vec![(RecordStorage::Uncompressed, Sync)];
    for storage in RecordStorage::COMPRESSED {
        cases.extend([Sync, Async, AsyncWithoutAdvanceSplit].map(|mode| (storage, mode)));
    }
    let mut measured = Vec::new();
    for (storage, mode) in cases {
        let mut runs = Vec::new();
        for threads in &setup.connections {
            runs.push(insert(setup, storage, mode, *threads)?);
        }
        progress(&format!(
            "insertions, {}, {}: {:.0} rows/s with one thread",
            storage.name(),
            mode.name(),
            runs.first().map_or(0.0, |run| run.rows_per_second)
        ));
        measured.push(WriteCase {
            storage,
            mode,
            runs,
        });
    }
    Ok(WriteTest { cases: measured })
}

/// Inserts all rows by so many threads, each into its tables in turn.
fn insert(
    setup: &PageCompressionSetup,
    storage: RecordStorage,
    mode: CompressionMode,
    threads: usize,
) -> Result<WriteRun, PageCompressionError> {
    let tree_setup = TreeSetup {
        storage,
        policy: storage.policy(),
        pool_bytes: setup.write_pool_bytes,
        compression_threads: mode.threads(),
        splits_in_advance: mode == CompressionMode::Async,
    };
    let records = RecordVolume::open(Arc::new(MemDisk::new()), setup.device, tree_setup)?;
    let tables = threads as u64 * TABLES_PER_THREAD;
    let trees = (1..=tables).map(|number| records.create_tree(number));
    let trees: Vec<BTree> = trees.collect::<Result<_, _>>()?;
    let before = records.volume.disk_traffic();
    let start = Instant::now();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let flusher = scope.spawn(|| records.flush_until(&is_over));
        let inserted = in_threads(threads, |thread| {
            let rows = (thread as u64..setup.inserted_rows).step_by(threads);
            for (turn, row) in rows.enumerate() {
                let table = thread as u64 * TABLES_PER_THREAD + turn as u64 % TABLES_PER_THREAD;
                records.insert(&trees[table as usize], mixed(row), &setup.records)?;
            }
            Ok(())
        });
        let seconds = start.elapsed().as_secs_f64();
        is_over.store(true, Ordering::Relaxed);
        let flushed = flusher.join().map_err(|_| PageCompressionError::Panicked);
        inserted?;
        flushed??;
        Ok(WriteRun {
            rows_per_second: setup.inserted_rows as f64 / seconds,
            seconds,
            traffic: records.volume.disk_traffic().since(&before),
            stats: records.pool.stats(),
        })
    })
}
