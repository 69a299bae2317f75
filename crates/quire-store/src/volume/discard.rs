//! Discards: the disk learns which blocks are free.
//!
//! The volume notes space when it frees it: both superblocks name a checkpoint by then that does not need it, and no pin sees it. The discards
//! follow when the writer's turn ends, for what is still free at that moment: blocks are allocated only by the holder of the turn, so
//! no block is in use while it is being discarded. The writer's mutex is not held meanwhile. The reserve and the tail are not free and keep
//! their blocks.
//!
//! As much as is written until the next checkpoint is not discarded while the volume is open, the lowest blocks, which are used next. A file system
//! that has to allocate blocks again writes its own journal in each sync that follows: on ext4, fdatasync(2) of 12 KiB takes twice as long
//! as of blocks that are there.
//!
//! A discard is advice. If it fails, the space is free all the same, and the next discard of it follows its next use.

use std::sync::atomic::Ordering;

use quire_format::volume::BLOCK_BYTES;

use super::free_space::{Extent, FreeSpace};
use super::inner::VolumeInner;
use super::writer::VolumeWriterState;
use crate::disk::OpenMode;

impl VolumeInner {
    /// Notes extents that were freed.
    pub(super) fn note_undiscarded(&self, writer: &mut VolumeWriterState, released: &[Extent]) {
        if self.options.discards || self.disk.wants_discards() {
            writer.undiscarded.extend_from_slice(released);
            self.has_undiscarded.store(true, Ordering::Relaxed);
        }
    }

    /// Free blocks that are about to be used again. None on a disk that is asked what it stores, and none when the session ends.
    fn kept_blocks(&self, writer: &VolumeWriterState) -> u64 {
        let ends = writer.is_closing || writer.space.tail.is_none();
        if ends || self.disk.wants_discards() {
            return 0;
        }
        let live_bytes = writer.contents.pages.live_bytes();
        self.options.log_limit_bytes(live_bytes) / BLOCK_BYTES
    }

    /// Discards what is still free. The caller has the turn.
    pub(super) fn discard_free(&self) {
        if !self.has_undiscarded.swap(false, Ordering::Relaxed) {
            return;
        }
        let extents = {
            let mut writer = self.lock_writer();
            let undiscarded = std::mem::take(&mut writer.undiscarded);
            let free = still_free(undiscarded, &writer.space.free);
            let (kept, discarded) = split_at(free, self.kept_blocks(&writer));
            writer.undiscarded = kept;
            discarded
        };
        // After a failed write nothing is known about what the disk holds.
        if self.mode == OpenMode::ReadOnly || self.poison.get().is_some() {
            return;
        }
        for Extent { start, count } in extents {
            let discarded = self.disk.discard(start * BLOCK_BYTES, count * BLOCK_BYTES);
            if discarded.is_err() {
                return;
            }
        }
    }
}

/// The first `count` blocks, and the others.
fn split_at(extents: Vec<Extent>, mut count: u64) -> (Vec<Extent>, Vec<Extent>) {
    let (mut first, mut others) = (Vec::new(), Vec::new());
    for extent in extents {
        let taken = count.min(extent.count);
        count -= taken;
        let parts = [
            (&mut first, extent.start, taken),
            (&mut others, extent.start + taken, extent.count - taken),
        ];
        for (part, start, count) in parts {
            if count > 0 {
                part.push(Extent { start, count });
            }
        }
    }
    (first, others)
}

/// What is both in `undiscarded` and free, as few extents as possible, ascending.
fn still_free(undiscarded: Vec<Extent>, free: &FreeSpace) -> Vec<Extent> {
    let joined = joined(undiscarded).into_iter();
    joined.flat_map(|extent| free.within(extent)).collect()
}

/// The same blocks in extents that neither overlap nor touch, ascending.
fn joined(mut extents: Vec<Extent>) -> Vec<Extent> {
    extents.sort_unstable();
    let mut joined: Vec<Extent> = Vec::with_capacity(extents.len());
    for extent in extents {
        match joined.last_mut() {
            Some(last) if last.end() >= extent.start => {
                last.count = last.count.max(extent.end() - last.start);
            }
            _ => joined.push(extent),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::super::free_space::FIRST_RUN_BLOCK;
    use super::*;

    fn extent(start: u64, count: u64) -> Extent {
        Extent { start, count }
    }

    #[test]
    fn only_what_is_still_free_is_discarded_and_neighbours_together() {
        let used = [extent(10, 5), extent(30, 1)];
        let free = FreeSpace::complement(used, 40);
        let undiscarded = vec![
            extent(20, 4),
            extent(8, 9),
            extent(16, 4),
            extent(29, 3),
            extent(22, 1),
            extent(38, 9),
        ];
        let found = still_free(undiscarded, &free);
        let expected = [
            extent(8, 2),
            extent(15, 9),
            extent(29, 1),
            extent(31, 1),
            extent(38, 2),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_first_blocks_are_kept() {
        let free = vec![extent(8, 2), extent(15, 9), extent(31, 1)];
        for (count, kept, discarded) in [
            (0, vec![], free.clone()),
            (2, vec![extent(8, 2)], vec![extent(15, 9), extent(31, 1)]),
            (
                5,
                vec![extent(8, 2), extent(15, 3)],
                vec![extent(18, 6), extent(31, 1)],
            ),
            (99, free.clone(), vec![]),
        ] {
            assert_eq!(split_at(free.clone(), count), (kept, discarded));
        }
    }

    #[test]
    fn an_extent_within_another_that_is_used_in_part_counts_once() {
        let free = FreeSpace::complement([extent(10, 40)], 100);
        let found = still_free(vec![extent(5, 2), extent(0, 80), extent(60, 5)], &free);
        // The superblocks are never free.
        let first = extent(FIRST_RUN_BLOCK, 10 - FIRST_RUN_BLOCK);
        assert_eq!(found, [first, extent(50, 30)]);
    }
}
