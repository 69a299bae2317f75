//! What follows from how much memory statements have: how much of it is given out, and how much work goes on at a time.

use crate::options::DatabaseOptions;

const MIB: usize = 1 << 20;

/// Memory for which another partition of a plan is worth its buffers.
const PARTITION_BYTES: usize = 96 * MIB;

/// Rows of a batch where there is memory enough: one vector group of a column table.
const BATCH_ROWS: usize = 8192;

/// Batches of that many rows between the operators of a plan are few beside this much memory.
const WHOLE_BATCHES_BYTES: usize = 512 * MIB;

/// What a sort keeps free to merge what it has sorted, where there is memory enough.
const MERGE_BYTES: usize = 10 * MIB;

/// Batches of a file that is merged, which are read ahead, compared and not yet given on.
const FILE_BYTES: usize = 4 * MIB;
/// Fewer files mean to read and write rows more often, more of them to wait for more places of the disk.
const FILES_MIN: usize = 8;
const FILES_MAX: usize = 128;

/// Kept back for batches between operators, and for memory that operators do not report: per statement, and per partition. With 4 MiB less,
/// a sort and a full join under `--memory 85MiB` peak 4 MiB above their limit (`make bench-memory`).
const BETWEEN_BYTES: usize = 20 * MIB;
const PARTITION_BETWEEN_BYTES: usize = 8 * MIB;

/// How memory is shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shares {
    /// Given out to operators that say what they hold. The rest is for batches between them, and for what they do not say.
    pub(crate) pool_bytes: usize,
    /// Parts of a plan that run at a time.
    pub(crate) partitions: usize,
    pub(crate) batch_rows: usize,
    /// What a sort keeps free to merge what it has sorted.
    pub(crate) merge_bytes: usize,
    /// Files that are merged at a time.
    pub(crate) merged_files: usize,
}

impl Shares {
    pub(crate) fn of(options: &DatabaseOptions) -> Self {
        let memory_bytes = options.memory_bytes;
        let partitions = (memory_bytes / PARTITION_BYTES).clamp(1, options.threads.max(1));
        let between_bytes = BETWEEN_BYTES + PARTITION_BETWEEN_BYTES * partitions;
        let pool_bytes = memory_bytes - between_bytes.min(memory_bytes / 3);
        Self {
            pool_bytes,
            partitions,
            batch_rows: match memory_bytes {
                ..WHOLE_BATCHES_BYTES => BATCH_ROWS / 4,
                _ => BATCH_ROWS,
            },
            merge_bytes: (pool_bytes / 32).min(MERGE_BYTES),
            merged_files: (pool_bytes / FILE_BYTES).clamp(FILES_MIN, FILES_MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(memory_bytes: usize, threads: usize) -> Shares {
        Shares::of(&DatabaseOptions {
            memory_bytes,
            threads,
            ..DatabaseOptions::default()
        })
    }

    #[test]
    fn little_memory_means_one_partition_of_small_batches() {
        let small = shares(85 * MIB, 8);
        assert_eq!(small.partitions, 1);
        assert_eq!(small.batch_rows, 2048);
        assert_eq!(small.pool_bytes, 85 * MIB - 28 * MIB);
        assert!(small.merge_bytes < 4 * MIB);
    }

    #[test]
    fn enough_memory_changes_nothing_but_the_pool() {
        let large = shares(16 << 30, 8);
        assert_eq!(large.partitions, 8);
        assert_eq!(large.batch_rows, 8192);
        assert_eq!(large.pool_bytes, (16 << 30) - 84 * MIB);
        assert_eq!(large.merge_bytes, 10 * MIB);
    }

    #[test]
    fn nothing_is_shared_out_as_nothing() {
        assert_eq!(shares(0, 0).partitions, 1);
        assert_eq!(shares(0, 0).pool_bytes, 0);
    }
}
