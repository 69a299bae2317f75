//! Options of volumes and engines, all repeatable from a seed.

use std::time::Duration;

use quire_store::VolumeOptions;
use quire_tables::EngineOptions;

use crate::random::TestRandom;

/// Options of the volumes, all repeatable from a seed.
#[must_use]
pub fn volume_options(seed: u64) -> VolumeOptions {
    VolumeOptions {
        cache_bytes: 1 << 20,
        growth_bytes: [0, 16 << 10][(seed % 2) as usize],
        discards: seed % 4 < 2,
        salt_seed: Some(seed),
        ..VolumeOptions::default()
    }
}

/// A small pool, and small staged batches. Without threads, what happens depends on the seed alone.
#[must_use]
pub fn engine_options(seed: u64, has_threads: bool) -> EngineOptions {
    let mut random = TestRandom::new(seed);
    let mut options = EngineOptions {
        staging_bytes: [1, 600, 5_000, 4 << 20][random.below(4) as usize],
        ..EngineOptions::default()
    };
    options.pool.budget_bytes = [32 << 10, 128 << 10, 1 << 20][random.below(3) as usize];
    options.pool.compression_threads = usize::from(has_threads);
    options.mvcc.has_background_thread = has_threads;
    options.mvcc.checkpoint_log_bytes = [4 << 10, 64 << 10][random.below(2) as usize];
    options.mvcc.row_locks_per_tree = [5, 20_000][random.below(2) as usize];
    // With the first, changes of most transactions go into a file, and their redo into parts.
    options.mvcc.write_set_bytes = [300, 8 << 10, 64 << 20, 64 << 20][random.below(4) as usize];
    options.mvcc.sync_interval = Duration::from_millis(random.below(4));
    options
}
