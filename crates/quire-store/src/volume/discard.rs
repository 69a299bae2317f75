//! Telling the disk what is free.
//!
//! Space is noted when it is given back: both superblocks name a checkpoint by then that does not need it, and no pin sees it. The disk is told when
//! the writer's turn ends, of what is still free at that moment: nothing is placed anywhere without a turn, so nobody can begin to use a
//! block while it is being discarded. The writer's mutex is not held meanwhile. What is set aside, the reserve and the tail, is not free and keeps
//! its blocks.
//!
//! It is advice. When it fails the space is free all the same, and the disk is told again when it has been used once more.

use std::sync::atomic::Ordering;

use quire_format::volume::BLOCK_BYTES;

use super::free_space::{Extent, FreeSpace};
use super::inner::VolumeInner;
use super::writer::VolumeWriterState;
use crate::disk::OpenMode;

impl VolumeInner {
    /// Notes what has been given back.
    pub(super) fn note_untold(&self, writer: &mut VolumeWriterState, released: &[Extent]) {
        if self.options.discards || self.disk.wants_discards() {
            writer.untold.extend_from_slice(released);
            self.has_untold.store(true, Ordering::Relaxed);
        }
    }

    /// Tells the disk. The caller has the turn.
    pub(super) fn discard_free(&self) {
        if !self.has_untold.swap(false, Ordering::Relaxed) {
            return;
        }
        let extents = {
            let mut writer = self.lock_writer();
            let untold = std::mem::take(&mut writer.untold);
            still_free(untold, &writer.space.free)
        };
        // After a failed write nothing is known about what the disk holds.
        if self.mode == OpenMode::ReadOnly || self.poison.get().is_some() {
            return;
        }
        for Extent { start, count } in extents {
            let told = self.disk.discard(start * BLOCK_BYTES, count * BLOCK_BYTES);
            if told.is_err() {
                return;
            }
        }
    }
}

/// What is both in `untold` and free, as few extents as possible, ascending.
fn still_free(untold: Vec<Extent>, free: &FreeSpace) -> Vec<Extent> {
    let joined = joined(untold).into_iter();
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
    use super::*;

    fn extent(start: u64, count: u64) -> Extent {
        Extent { start, count }
    }

    #[test]
    fn only_what_is_still_free_is_told_and_neighbours_together() {
        let used = [extent(10, 5), extent(30, 1)];
        let free = FreeSpace::complement(used, 40);
        let untold = vec![
            extent(20, 4),
            extent(8, 9),
            extent(16, 4),
            extent(29, 3),
            extent(22, 1),
            extent(38, 9),
        ];
        let told = still_free(untold, &free);
        let expected = [
            extent(8, 2),
            extent(15, 9),
            extent(29, 1),
            extent(31, 1),
            extent(38, 2),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn an_extent_within_another_that_is_used_in_part_counts_once() {
        let free = FreeSpace::complement([extent(10, 40)], 100);
        let told = still_free(vec![extent(5, 2), extent(0, 80), extent(60, 5)], &free);
        assert_eq!(told, [extent(0, 10), extent(50, 30)]);
    }
}
