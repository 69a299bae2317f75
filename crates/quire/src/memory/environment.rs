//! What the operators of DataFusion get their memory and their files from.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::disk_manager::DiskManagerBuilder;
use datafusion::execution::memory_pool::{MemoryLimit, MemoryPool};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};

use super::spill_files::SpillFiles;

/// Files that each sort of a plan of many sorts merges at a time. A merge takes all memory that is free, for as many files as it may read.
/// The first one would leave none to the others, which run beside it.
const FILES_OF_MANY_SORTS: usize = 4;

/// How many of their batches make one of other plans, so that a batch of each file of each sort has memory.
const BATCHES_OF_MANY_SORTS: usize = 4;

/// Memory that is worth another thread where it is short: each has sorts and groups of its own.
const THREAD_BYTES: usize = 64 << 20;

/// Memory from `pool`, and files of which a sort merges `merged_files` at a time.
pub(crate) fn environment_of(
    pool: Arc<dyn MemoryPool>,
    merged_files: usize,
) -> Result<Arc<RuntimeEnv>> {
    let files = DiskManagerBuilder::default()
        .with_temp_file_factory(Arc::new(SpillFiles))
        .with_max_spill_merge_fan_in(merged_files);
    RuntimeEnvBuilder::new()
        .with_memory_pool(pool)
        .with_disk_manager_builder(files)
        .build_arc()
}

/// The state for a plan whose sorts run beside each other, each with little of the memory.
pub(crate) fn with_many_sorts(state: SessionState) -> Result<SessionStateBuilder> {
    let pool = Arc::clone(&state.runtime_env().memory_pool);
    let environment = environment_of(pool, FILES_OF_MANY_SORTS)?;
    let batch_rows = state.config().batch_size() / BATCHES_OF_MANY_SORTS;
    let config = state.config().clone().with_batch_size(batch_rows.max(1));
    let partitions = config
        .target_partitions()
        .min(partitions_max(state.runtime_env()));
    let config = config.with_target_partitions(partitions);
    Ok(SessionStateBuilder::new_from_existing(state)
        .with_runtime_env(environment)
        .with_config(config))
}

/// Threads for a plan where memory is short.
fn partitions_max(environment: &RuntimeEnv) -> usize {
    match environment.memory_pool.memory_limit() {
        MemoryLimit::Finite(bytes) => (bytes / THREAD_BYTES).max(1),
        _ => usize::MAX,
    }
}
