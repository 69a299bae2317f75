//! The state of the one writer at a time.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use quire_format::volume::Superblock;

use super::contents::VolumeContents;
use super::free_space::{Extent, FIRST_RUN_BLOCK};
use super::placement::Space;
use super::version::PinnedVersion;

/// Everything that only the holder of the turn changes.
pub(super) struct VolumeWriterState {
    pub(super) contents: VolumeContents,
    pub(super) space: Space,
    /// The runs of the stored map, oldest first, and their payload bytes.
    pub(super) chunks: Vec<(Extent, u64)>,
    /// The newest superblock, and what each place holds.
    pub(super) superblock: Superblock,
    pub(super) generations: [Option<u64>; 2],
    /// Newest commit that a sync has covered.
    pub(super) durable_commit: u64,
    /// Blocks of the log since the newest checkpoint.
    pub(super) log_blocks: u64,
    /// Runs of unfinished batches found when the volume was opened; their headers are erased
    /// before anything new is written.
    pub(super) leftovers: Vec<u64>,
    /// The runs of the batches of the log that a recovery found and no later one calls durable. If the
    /// process before stopped because a sync failed, they may exist in the system's cache only and
    /// never have been written; so they are written again before anything is built on them.
    pub(super) unproven: Vec<Extent>,
    /// The block at which the file ended when the session began.
    pub(super) end_at_begin: u64,
    /// Extents that were freed and not discarded yet. Some of their blocks may be in use again.
    pub(super) undiscarded: Vec<Extent>,
    /// The session is about to end.
    pub(super) is_closing: bool,
    /// The stored map must not be built upon.
    pub(super) needs_snapshot: bool,
    /// Versions that were current once and may still be pinned, oldest first.
    pub(super) older: VecDeque<Weak<PinnedVersion>>,
    /// Length of `older` at which those that nobody holds are taken out.
    pub(super) older_limit: usize,
}

/// Versions that are remembered without asking whether somebody holds them.
pub(super) const OLDER_VERSIONS_MIN: usize = 64;

impl VolumeWriterState {
    /// Sequence of the oldest version that somebody can still read.
    pub(super) fn oldest_pinned(&mut self) -> u64 {
        // One look at each: a reader may let the oldest go at any moment, and the next may still be held.
        while let Some(oldest) = self.older.front() {
            if let Some(version) = oldest.upgrade() {
                return version.sequence;
            }
            self.older.pop_front();
        }
        self.contents.commit_sequence
    }

    /// Remembers a version that was current until now.
    pub(super) fn note_older(&mut self, version: &Arc<PinnedVersion>) {
        if self.older.len() >= self.older_limit {
            self.older.retain(|version| version.strong_count() > 0);
            self.older_limit = (2 * self.older.len()).max(OLDER_VERSIONS_MIN);
        }
        self.older.push_back(Arc::downgrade(version));
    }

    /// Where the file ends but for what is cut off without copying anything.
    pub(super) fn used_end(&self) -> u64 {
        let runs_end = self.contents.runs.iter().map(|(run, _)| run.end()).last();
        let chunks_end = self.chunks.iter().map(|(chunk, _)| chunk.end()).max();
        runs_end.max(chunks_end).unwrap_or(FIRST_RUN_BLOCK)
    }

    /// True when the stored map and the superblock say all there is to say.
    pub(super) fn is_checkpointed(&self) -> bool {
        self.superblock.commit_sequence == self.contents.commit_sequence
            && self.contents.changed_pages.is_empty()
            && self.contents.changed_runs.is_empty()
            && !self.needs_snapshot
    }
}
