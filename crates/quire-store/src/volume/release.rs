//! Giving space back: only what a durable checkpoint no longer names, and what no pin can see.

use quire_format::volume::BLOCK_BYTES;

use super::Inner;
use super::free_space::Extent;
use super::placement::SHORT_FILE_BYTES;
use super::writer::Writer;
use crate::disk::is_full;
use crate::error::WriteError;

/// A free tail shorter than this stays in the file for the next writes, unless the session ends.
const TAIL_BYTES_KEPT: u64 = 1 << 20;

impl Inner {
    /// Gives back the dead runs that nobody can need any more.
    ///
    /// Their headers are erased: a scan for a lost page map then finds the live runs only. The
    /// erasures need no sync of their own, for the next commit brings one before the space can
    /// be mistaken for anything.
    pub(super) fn release_dead(&self, writer: &mut Writer) -> Result<(), WriteError> {
        let superseded = writer.superblock.commit_sequence;
        let pinned = writer.oldest_pinned();
        let ready = |dead_at: u64| dead_at <= superseded && dead_at <= pinned;
        let released = writer.contents.runs.take_dead(|dead| ready(dead.dead_at));
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
        let ends_short = writer.space.tail.is_none() && live_bytes < SHORT_FILE_BYTES;
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
        let keeps_bytes = if writer.space.tail.is_some() {
            TAIL_BYTES_KEPT
        } else {
            0
        };
        let tail_bytes = writer
            .space
            .free
            .tail()
            .map_or(0, |tail| tail.count * BLOCK_BYTES);
        if tail_bytes > keeps_bytes {
            writer.space.free.cut_tail(0);
        }
        self.cut_file(writer)
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
