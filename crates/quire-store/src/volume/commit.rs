//! Commit: the last run with the commit record, one sync, and only then the new version.

use std::sync::{Arc, PoisonError};

use quire_format::volume::{
    BLOCK_BYTES, CHUNK_ITEMS_MAX, CommitRecord, FreedPages, ImageHeader, ImageKind, PageEntry,
    PageRange, checksum,
};

use super::batch::WriteBatch;
use super::batch_runs::{BatchRuns, FlushedImage};
use super::checkpoint::Ending;
use super::contents::BatchEffect;
use super::inner::VolumeInner;
use super::options::Durability;
use super::version::PinnedVersion;
use super::writer::VolumeWriterState;
use super::{Volume, clean};
use crate::error::{BatchWriteError, CommitError};

/// A commit record is no longer than this.
const RECORD_BYTES_MAX: usize = 64;

impl WriteBatch {
    /// Makes the batch durable and visible. Returns the sequence of the commit; that of the
    /// commit before when the batch is empty.
    ///
    /// # Errors
    /// [`CommitError::Write`]: nothing of the batch is in the volume. [`CommitError::Unknown`]:
    /// the sync failed, the volume is poisoned, and opening the file again tells.
    pub fn commit(self) -> Result<u64, CommitError> {
        self.commit_with(Durability::Synced)
    }

    /// Makes the batch visible, and durable now or later. What survives a crash is every commit up
    /// to one of them, and no less than the newest one that was durable.
    ///
    /// # Errors
    /// As [`WriteBatch::commit`].
    pub fn commit_with(mut self, durability: Durability) -> Result<u64, CommitError> {
        let sequence = self.commit_in_turn(durability)?;
        if self.finished {
            self.tidy_up();
        }
        Ok(sequence)
    }

    /// What may follow a commit: a checkpoint when it is due, and then cleaning. Ends the turn. Failures are no
    /// failures of the commit: they leave the log as it is, or poison the volume for later.
    pub(crate) fn tidy_up(self) {
        if self.is_tidied_later {
            return;
        }
        let was_checkpointed = self
            .inner
            .checkpoint_when_due(&mut self.inner.lock_writer());
        let inner = Arc::clone(&self.inner);
        drop(self);
        if was_checkpointed {
            clean::clean_if_worthwhile(&inner, Ending::GoesOn);
        }
    }

    /// Commits and keeps the turn.
    pub(crate) fn commit_in_turn(&mut self, durability: Durability) -> Result<u64, CommitError> {
        let freed = PageRange::from_sorted(self.freed_pages());
        let entries = {
            let mut runs = self.wait_until_drained(self.lock_runs());
            if runs.failed {
                return Err(BatchWriteError::BatchFailed.into());
            }
            self.inner.may_write()?;
            if runs.image_count == 0 && freed.is_empty() {
                if durability == Durability::Synced {
                    self.inner.make_durable(&mut self.inner.lock_writer())?;
                }
                return Ok(self.base.sequence);
            }
            self.append_freed(&mut runs, &freed)?;
            if self.inner.is_full() {
                self.fit_into_hole(&mut runs, RECORD_BYTES_MAX)?;
            }
            self.append_record(&mut runs);
            self.flush_alone(&mut runs)?;
            runs.entries()
        };
        if durability == Durability::Synced
            && let Err(source) = self.inner.gate.syncing(|| self.inner.disk.sync())
        {
            self.inner.poison("sync", &source);
            return Err(CommitError::Unknown {
                file: Arc::clone(&self.inner.file),
                source,
            });
        }
        self.finished = true;
        Ok(self.publish(&entries, &freed, durability))
    }

    fn append_freed(
        &self,
        runs: &mut BatchRuns,
        freed: &[PageRange],
    ) -> Result<(), BatchWriteError> {
        for ranges in freed.chunks(CHUNK_ITEMS_MAX) {
            let payload = FreedPages {
                ranges: ranges.to_vec(),
            }
            .encode();
            if self.inner.is_full() {
                self.fit_into_hole(runs, payload.len())?;
            }
            runs.append(
                &own_header(ImageKind::Freed, runs.sequence, &payload),
                &payload,
            );
            if runs.is_full() {
                self.flush_alone(runs)?;
            }
        }
        Ok(())
    }

    fn append_record(&self, runs: &mut BatchRuns) {
        let record = CommitRecord {
            batch_checksum: runs.batch_checksum,
            image_count: runs.image_count,
            next_page: self.next_page(),
        };
        let payload = record.encode();
        runs.append(
            &own_header(ImageKind::Commit, runs.sequence, &payload),
            &payload,
        );
    }

    /// Makes the batch what readers see.
    fn publish(&self, entries: &[PageEntry], freed: &[PageRange], durability: Durability) -> u64 {
        let runs = self.lock_runs();
        let mut writer = self.inner.lock_writer();
        let extents: Vec<_> = runs
            .placements
            .iter()
            .flat_map(|placement| placement.runs())
            .collect();
        let applied = writer.contents.apply(&BatchEffect {
            sequence: runs.sequence,
            next_page: self.next_page(),
            runs: &extents,
            entries,
            freed,
        });
        assert!(applied.is_ok(), "a run was written over another one");
        writer.log_blocks += extents.iter().map(|extent| extent.count).sum::<u64>();
        if durability == Durability::Synced {
            writer.durable_commit = runs.sequence;
        }
        self.inner.set_current(&mut writer);
        runs.sequence
    }
}

impl Volume {
    /// What may follow a commit, after that of a batch that has left it: see [`WriteBatch::tidy_up_later`].
    pub fn tidy_up(&self) {
        // Mostly nothing is due, and nobody's turn is waited for.
        let is_due = self.inner.is_checkpoint_due(&self.inner.lock_writer());
        // As after a commit, a failure is told to the next writer.
        if is_due && let Ok(batch) = self.begin() {
            batch.tidy_up();
        }
    }
}

impl BatchRuns {
    /// The newest image of every page of the batch.
    fn entries(&self) -> Vec<PageEntry> {
        let placed = |place: &FlushedImage| match place {
            FlushedImage::Placed(entry) => Some(*entry),
            FlushedImage::Buffered { .. } => None,
        };
        self.places.values().filter_map(placed).collect()
    }
}

impl VolumeInner {
    fn set_current(&self, writer: &mut VolumeWriterState) {
        let new = PinnedVersion::of(&writer.contents);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *current, new);
        drop(current);
        writer.note_older(&old);
    }

    /// Checkpoints when the log has become long, or when the reserve had to be used.
    pub(super) fn checkpoint_when_due(&self, writer: &mut VolumeWriterState) -> bool {
        self.is_checkpoint_due(writer) && self.checkpoint(writer, Ending::GoesOn).is_ok()
    }

    fn is_checkpoint_due(&self, writer: &VolumeWriterState) -> bool {
        let live_bytes = writer.contents.pages.live_bytes();
        let limit_bytes = self.options.log_limit_bytes(live_bytes);
        writer.log_blocks * BLOCK_BYTES > limit_bytes || self.is_short(writer)
    }
}

fn own_header(kind: ImageKind, sequence: u64, payload: &[u8]) -> ImageHeader {
    ImageHeader {
        kind,
        payload_bytes: payload.len() as u32,
        sequence,
        payload_checksum: checksum(payload),
    }
}
