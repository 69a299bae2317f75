//! How a volume is opened.

use quire_format::volume::BLOCK_BYTES;

/// A checkpoint is not worth its syncs before the log is this long.
const LOG_BYTES_MIN: u64 = 1 << 20;

/// The same in a file that is as long: a start reads that much in a few hundredths of a second.
const LOG_BYTES_MIN_LARGE: u64 = 16 << 20;

/// When a commit is on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Durability {
    /// Before it returns.
    Synced,
    /// With the next synced commit, checkpoint or close. A system that stops before that may undo it, and then every
    /// later commit with it; a process that is killed undoes nothing.
    Unsynced,
}

/// What a volume may use, and when it tidies up.
#[derive(Clone, Debug)]
pub struct VolumeOptions {
    /// Budget of the warm cache, payloads and bookkeeping together.
    pub cache_bytes: usize,
    /// A commit is followed by a checkpoint when the log is longer than this, or longer than an eighth of the live
    /// data and 16 MiB (in a smaller file: than the live data and 1 MiB). It bounds what the next start has to read.
    pub checkpoint_log_bytes: u64,
    /// Small commits make the file longer by this much at a time, at most 16 MiB, and the next ones fill it: their
    /// syncs need not store a new length. Cut off again when the session ends.
    pub growth_bytes: u64,
    /// Closing cleans first when more than this share of the file is dead or free; 100: never.
    pub clean_dead_percent: u8,
    /// A batch is written in runs of about this length, at most 2 MiB. Larger runs are read and
    /// written with fewer calls; space is given back run by run.
    pub run_bytes: usize,
    /// Tells the disk which space is free ([`crate::Disk::discard`]), once a checkpoint that does not name it is durable. Then the file takes as much of
    /// the disk as is alive, and what the volume promises on a full disk is less: see "Discarding" in the crate's README. A disk that wants it
    /// ([`crate::Disk::wants_discards`]) is told anyway.
    pub discards: bool,
    /// Makes the random marks of volume and session repeatable, for simulations. Two sessions of
    /// one file must not share a seed and a superblock generation.
    pub salt_seed: Option<u64>,
}

impl Default for VolumeOptions {
    fn default() -> Self {
        Self {
            cache_bytes: 64 << 20,
            checkpoint_log_bytes: 64 << 20,
            growth_bytes: 1 << 20,
            clean_dead_percent: 50,
            run_bytes: 1 << 20,
            discards: false,
            salt_seed: None,
        }
    }
}

impl VolumeOptions {
    /// The length at which a run is written: with the largest payload and a list of freed pages
    /// on top, it is still a run that a reader accepts.
    pub(super) fn run_bytes_wanted(&self) -> usize {
        self.run_bytes.min(2 << 20)
    }

    /// Length of the log at which a checkpoint is due.
    pub(super) fn log_limit_bytes(&self, live_bytes: u64) -> u64 {
        (live_bytes / 8)
            .max(live_bytes.clamp(LOG_BYTES_MIN, LOG_BYTES_MIN_LARGE))
            .min(self.checkpoint_log_bytes)
    }

    /// Blocks by which the file grows for small commits.
    pub(super) fn growth_blocks(&self) -> u64 {
        self.growth_bytes.min(16 << 20) / BLOCK_BYTES
    }

    /// A number that no other session of the file has used: random, or made from the seed.
    pub(super) fn fresh_mark(&self, generation: u64) -> u64 {
        use std::hash::{BuildHasher, Hasher, RandomState};
        let mut hasher = RandomState::new().build_hasher();
        if let Some(seed) = self.salt_seed {
            return seed ^ generation.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        hasher.write_u64(generation);
        hasher.write_u32(std::process::id());
        if let Ok(time) = std::time::UNIX_EPOCH.elapsed() {
            hasher.write_u128(time.as_nanos());
        }
        hasher.finish()
    }
}
