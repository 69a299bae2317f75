//! Discards: the disk learns which blocks are free.
//!
//! The volume notes space when it frees it: both superblocks name a checkpoint by then that does not need it, and no pin sees it. The discards
//! follow when the writer's turn ends, for what is still free at that moment: blocks are allocated only by the holder of the turn, so
//! no block is in use while it is being discarded. The writer's mutex is not held meanwhile. The reserve and the tail are not free and keep
//! their blocks.
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

    /// Discards what is still free. The caller has the turn.
    pub(super) fn discard_free(&self) {
        if !self.has_undiscarded.swap(false, Ordering::Relaxed) {
            return;
        }
        let extents = {
            let mut writer = self.lock_writer();
            let undiscarded = std::mem::take(&mut writer.undiscarded);
            still_free(undiscarded, &writer.space.free)
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
    fn an_extent_within_another_that_is_used_in_part_counts_once() {
        let free = FreeSpace::complement([extent(10, 40)], 100);
        let found = still_free(vec![extent(5, 2), extent(0, 80), extent(60, 5)], &free);
        // The superblocks are never free.
        let first = extent(FIRST_RUN_BLOCK, 10 - FIRST_RUN_BLOCK);
        assert_eq!(found, [first, extent(50, 30)]);
    }
}
