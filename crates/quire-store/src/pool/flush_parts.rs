//! How is a flush written in parts, so that nobody who commits waits for all of it?
//!
//! Only one batch exists at a time, so whoever commits waits until that of a flush is written, and the next sync takes all of its bytes along. A
//! leaf whose entries alone have changed is right beside any age of all other pages: its fences, and what refers to it, are as they were. So such
//! leaves may go ahead, in short batches; those that were made, split, merged or freed, and the pages above them, go together at the end.
//!
//! What a crash leaves then is leaves of different ages, and the log from before the oldest. Whoever opens it has to redo all of the log, whatever
//! the LSN of a leaf: see `BTree::redo` of `quire-kv`.

use quire_format::volume::PageId;

use super::error::FlushError;
use super::flush::{Flush, FlushedFrame};
use crate::error::CommitError;
use crate::volume::{Durability, WriteBatch};

impl Flush {
    /// Makes images of the next leaves that may be written before all others, of about so many bytes together, while others go on. False when there
    /// are none, and [`commit`](Self::commit) can write the rest. Otherwise [`commit_part`](Self::commit_part) is to follow.
    ///
    /// Only for pages of which all changes but those of structure are in a log in the volume, up to the instant of the flush, and stay there until
    /// the end of the flush is durable.
    ///
    /// # Errors
    /// See [`FlushError`]; the pages stay changed.
    pub fn prepare_part(&mut self, image_bytes: usize) -> Result<bool, FlushError> {
        let mut part_bytes: usize = self.part.iter().map(FlushedFrame::image_bytes).sum();
        while part_bytes < image_bytes {
            let Some((made, is_reshaped)) = self.make_next()? else {
                break;
            };
            if is_reshaped || !self.may_go_ahead(&made) {
                self.keep_for_the_end(made);
            } else {
                part_bytes += made.image_bytes();
                self.part.push(made);
            }
        }
        Ok(!self.part.is_empty())
    }

    /// Writes the part that was prepared. Its pages are unchanged then, except for what came after the instant of the flush, whatever becomes of the
    /// rest.
    ///
    /// # Errors
    /// As [`WriteBatch::commit_with`]. The pages stay changed.
    pub fn commit_part(
        &mut self,
        mut batch: WriteBatch,
        durability: Durability,
    ) -> Result<u64, CommitError> {
        batch.shortens_log();
        batch.tidy_up_later();
        for made in &self.part {
            made.put(&batch)?;
        }
        let sequence = batch.commit_with(durability)?;
        let mut flushed_bytes = 0;
        for made in std::mem::take(&mut self.part) {
            flushed_bytes += made.frame.page_bytes();
            made.finish(&self.pool);
        }
        let inner = &self.pool.inner;
        inner.upkeep.changes.note_flushed(flushed_bytes);
        inner.keep_to_budget();
        Ok(sequence)
    }

    /// Whether writers have come further with what makes the next flush due than this one with its pages.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        let share = |count: usize| count as f64 / self.whole_count.max(1) as f64;
        let changes = &self.pool.inner.upkeep.changes;
        let left_bytes = self.whole_bytes as f64 * share(self.page_count());
        let new_bytes = changes.dirty_bytes() as f64 - left_bytes;
        new_bytes > changes.limit_bytes() as f64 * (1.0 - share(self.unmade.len()))
    }

    /// A page above it is not, for it is changed together with others. A dictionary comes with the rest.
    fn may_go_ahead(&self, made: &FlushedFrame) -> bool {
        let volume = &self.pool.inner.upkeep.volume;
        let is_stored = |id| PageId::new(id).is_some_and(|page| volume.pin().contains(page));
        made.frame.is_leaf() && made.image.is_some() && made.dictionary().is_none_or(is_stored)
    }
}
