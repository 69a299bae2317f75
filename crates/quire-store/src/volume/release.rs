//! Giving space back: only what a durable checkpoint no longer names, and what no pin can see.

use quire_format::volume::BLOCK_BYTES;

use super::Inner;
use super::free_space::Extent;
use super::placement::RESERVED_LIVE_BYTES_MIN;
use super::writer::Writer;
use crate::disk::is_full;
use crate::error::WriteError;

/// This much more than the log may become stays free at the end of the file, unless the session ends: small commits
/// then go on where the log was before last.
const TAIL_BYTES_KEPT: u64 = 1 << 20;

impl Inner {
    /// Gives back the dead runs that nobody can need any more.
    ///
    /// Their headers are erased: a scan for a lost page map then finds the live runs only. The
    /// erasures need no sync of their own, for the next commit brings one before the space can
    /// be mistaken for anything.
    pub(super) fn release_dead(&self, writer: &mut Writer) -> Result<(), WriteError> {
        let limit = writer
            .superblock
            .commit_sequence
            .min(writer.oldest_pinned());
        let released = writer.contents.runs.take_dead(limit);
        if released.is_empty() {
            return Ok(());
        }
        self.forget_cached(&released);
        for extent in &released {
            writer.space.free.put(*extent);
        }
        self.erase(released.iter().map(|extent| extent.start))
    }

    /// Chooses the reserve anew and cuts a long free tail off the file. Called when the space
    /// changed for good: after a checkpoint.
    pub(super) fn tidy_end(&self, writer: &mut Writer) -> Result<(), WriteError> {
        let live_bytes = writer.contents.pages.live_bytes();
        let end_before = writer.space.free.end();
        let ends_short = writer.space.tail.is_none() && live_bytes < RESERVED_LIVE_BYTES_MIN;
        if ends_short {
            writer.space.lift_reserve();
        } else if let Some(growth) = writer.space.choose_reserve(live_bytes) {
            let zeros = vec![0; (growth.count * BLOCK_BYTES) as usize];
            match self.disk.write_at(&zeros, growth.start * BLOCK_BYTES) {
                Ok(()) => {}
                Err(error) if is_full(&error) => writer.space.shrink_reserve(end_before),
                Err(error) => return Err(self.write_failed(error, 0)),
            }
        }
        let live_bytes = writer.contents.pages.live_bytes();
        let keeps_bytes = if writer.space.tail.is_some() {
            TAIL_BYTES_KEPT + self.options.log_limit_bytes(live_bytes)
        } else {
            0
        };
        self.cut_end(writer, keeps_bytes)
    }

    /// Cuts the free tail off the file but for `keeps_bytes`.
    pub(super) fn cut_end(&self, writer: &mut Writer, keeps_bytes: u64) -> Result<(), WriteError> {
        if let Some(tail) = writer.space.free.tail() {
            let kept_end = tail.start + keeps_bytes / BLOCK_BYTES;
            writer.space.free.cut_tail(kept_end);
        }
        self.cut_file(writer)
    }

    /// Makes the file longer before a small run does, so that the syncs of many small commits need not store a new
    /// length. On a full disk the run has to find its place alone.
    pub(super) fn grow_ahead(
        &self,
        writer: &mut Writer,
        run_blocks: u64,
    ) -> Result<(), WriteError> {
        let count = self.options.growth_blocks();
        if run_blocks > count / 4 || !writer.space.must_grow(run_blocks) {
            return Ok(());
        }
        let zeros = vec![0; (count * BLOCK_BYTES) as usize];
        let end_bytes = writer.space.free.end() * BLOCK_BYTES;
        match self.disk.write_at(&zeros, end_bytes) {
            Ok(()) => {
                writer.space.grow(count);
                Ok(())
            }
            Err(error) if is_full(&error) => self.cut_file(writer),
            Err(error) => Err(self.write_failed(error, 0)),
        }
    }

    /// Cuts off what lies behind the last block that counts.
    pub(super) fn cut_file(&self, writer: &Writer) -> Result<(), WriteError> {
        let end_bytes = writer.space.free.end() * BLOCK_BYTES;
        let disk_bytes = self
            .disk
            .len()
            .map_err(|error| self.failed("read the length of", error))?;
        if disk_bytes > end_bytes {
            let cut = self.disk.set_len(end_bytes);
            cut.map_err(|error| self.failed("shorten", error))?;
        }
        Ok(())
    }

    fn forget_cached(&self, released: &[Extent]) {
        let mut sorted = released.to_vec();
        sorted.sort_unstable();
        self.cache.forget(&|offset| {
            let block = offset / BLOCK_BYTES;
            let after = sorted.partition_point(|extent| extent.start <= block);
            after > 0 && block < sorted[after - 1].end()
        });
    }
}
