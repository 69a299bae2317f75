//! What is set aside for a full disk, and how long runs are so that it suffices. See "A full disk" in the crate's README.

use quire_format::volume::BLOCK_BYTES;

/// A file that ends its session with less alive keeps no reserve: it would be much of the file.
const RESERVED_LIVE_BYTES_MIN: u64 = 1 << 20;

/// Blocks for the chunks and the tail of a checkpoint besides those of a whole map, and for what a cleaning batch takes besides
/// its images. Whoever frees pages leaves these.
pub(super) const CHECKPOINT_BLOCKS: u64 = 4;

/// Runs are no longer than this in a short file, so that the reserve can take what is alive in any of them.
pub(super) const SHORT_RUN_BYTES: u64 = 32 << 10;
const LONG_RUN_BYTES: u64 = 2 << 20;

/// The same share of a longer file.
const RUNS_OF_FILE: u64 = 128;

/// What is set aside, in blocks, by who may use it. Each may use what those before may not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Floors {
    /// One step of cleaning, and a checkpoint with the whole map.
    cleaning: u64,
    /// A flush of what is changed in memory.
    flushes: u64,
    /// What may be dead without a step of cleaning that gains a block, less what is dead.
    unclean: u64,
    /// The log of deletions.
    deletions: u64,
}

/// What the floors depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloorBasis {
    /// Blocks of the file.
    pub(super) end: u64,
    pub(super) live_bytes: u64,
    /// Of the runs in use.
    pub(super) run_blocks: u64,
    /// Of a whole map.
    pub(super) map_blocks: u64,
    /// Images in memory.
    pub(super) flush_bytes: u64,
}

impl Floors {
    pub(super) fn new(basis: FloorBasis) -> Self {
        const DELETIONS_BYTES_MIN: u64 = 64 << 10;
        const DELETIONS_BYTES_MAX: u64 = 4 << 20;
        let deletions = basis.live_bytes / 32;
        let deletions = deletions.clamp(DELETIONS_BYTES_MIN, DELETIONS_BYTES_MAX);
        let step_blocks = step_blocks(basis.end);
        // If a larger share of the runs is dead than two blocks of what a step moves, there is a step that gains a block.
        let unclean = 2 * basis.end / step_blocks;
        let live_blocks = basis.live_bytes / BLOCK_BYTES;
        Self {
            cleaning: step_blocks + basis.map_blocks + CHECKPOINT_BLOCKS,
            flushes: basis.flush_bytes.div_ceil(BLOCK_BYTES),
            unclean: unclean.saturating_sub(basis.run_blocks.saturating_sub(live_blocks)),
            deletions: deletions / BLOCK_BYTES,
        }
    }

    /// Flushes leave what cleaning after them takes.
    pub(super) fn left_by_flushes(&self) -> u64 {
        self.cleaning
    }

    /// Deletions leave the flushes after them: what these write anew is dead at first, and cannot be cleaned before it is some.
    pub(super) fn left_by_deletions(&self) -> u64 {
        self.cleaning + self.flushes + self.unclean
    }

    /// All others leave some deletions.
    pub(super) fn left_by_others(&self) -> u64 {
        self.left_by_deletions() + self.deletions
    }

    /// Spare room beyond what others leave: enough for some of them.
    pub(super) fn room_for_some(&self) -> u64 {
        self.left_by_others() + self.deletions
    }
}

/// How long a run should be at most in a file that ends at block `end`.
pub(super) fn run_bytes_max(end: u64) -> u64 {
    (end * BLOCK_BYTES / RUNS_OF_FILE).clamp(SHORT_RUN_BYTES, LONG_RUN_BYTES)
}

/// What a step of cleaning may copy: two of the longest runs, or as much as makes both this and what cannot be cleaned least.
fn step_blocks(end: u64) -> u64 {
    (2 * end)
        .isqrt()
        .max(2 * (run_bytes_max(end) / BLOCK_BYTES))
}

/// On a full disk runs of copies are as long as this: what lies between the last image and the end of a block is a small part of them.
pub(super) fn cleaning_run_bytes(end: u64) -> u64 {
    step_blocks(end) / 2 * BLOCK_BYTES
}

/// What a closed file has set aside of all that, in blocks: so little that nobody sees it. A disk that was found full has more.
pub(super) fn closed_reserve_blocks(live_bytes: u64) -> u64 {
    const BYTES_MIN: u64 = 32 << 10;
    const BYTES_MAX: u64 = 1 << 20;
    if live_bytes < RESERVED_LIVE_BYTES_MIN {
        0
    } else {
        (live_bytes / 128).clamp(BYTES_MIN, BYTES_MAX) / BLOCK_BYTES
    }
}
