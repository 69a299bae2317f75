//! The runs in use, and how much of each is still worth keeping.

use std::collections::{BTreeMap, BTreeSet};

use quire_format::volume::{BLOCK_BYTES, PageEntry, RunExtent};

use super::free_space::Extent;
use super::page_map::image_bytes;

/// A run of the log that has not been given back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LogRun {
    pub(super) block_count: u64,
    /// Images in it that the page map names, and their bytes.
    pub(super) live_images: u32,
    pub(super) live_bytes: u64,
    /// The newest checkpoint lists it.
    in_checkpoint: bool,
}

/// A run without a live image. It is given back once a checkpoint has superseded the commit that
/// killed it, and no pin is older than that.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeadRun {
    pub(super) extent: Extent,
    in_checkpoint: bool,
}

/// The runs by their first block.
#[derive(Clone, Debug, Default)]
pub(super) struct LogRuns {
    table: BTreeMap<u64, LogRun>,
    /// Of the runs in the table.
    block_count: u64,
    dead: BTreeMap<u64, DeadRun>,
    /// The same by the commit since which they are dead, and then first block.
    dead_order: BTreeSet<(u64, u64)>,
}

impl LogRuns {
    pub(super) fn get(&self, start: u64) -> Option<&LogRun> {
        self.table.get(&start)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Extent, &LogRun)> + '_ {
        self.table.iter().map(|(&start, run)| {
            (
                Extent {
                    start,
                    count: run.block_count,
                },
                run,
            )
        })
    }

    pub(super) fn dead(&self) -> impl Iterator<Item = &DeadRun> + '_ {
        self.dead.values()
    }

    /// First block and record of the run in which the byte `offset` lies.
    pub(super) fn containing(&self, offset: u64) -> Option<(u64, &LogRun)> {
        let block = offset / BLOCK_BYTES;
        let (&start, run) = self.table.range(..=block).next_back()?;
        (block < start + run.block_count).then_some((start, run))
    }

    /// Adds a run, unless it overlaps one that is there.
    pub(super) fn add(&mut self, extent: Extent, in_checkpoint: bool) -> bool {
        if self.overlaps(extent) {
            return false;
        }
        let run = LogRun {
            block_count: extent.count,
            in_checkpoint,
            ..LogRun::default()
        };
        self.table.insert(extent.start, run);
        self.block_count += extent.count;
        true
    }

    /// Takes a run out of the table; false when there is none at `start`.
    pub(super) fn remove(&mut self, start: u64) -> bool {
        self.take_out(start).is_some()
    }

    fn take_out(&mut self, start: u64) -> Option<LogRun> {
        let run = self.table.remove(&start)?;
        self.block_count -= run.block_count;
        Some(run)
    }

    /// How many runs there are in the table.
    pub(super) fn run_count(&self) -> u64 {
        self.table.len() as u64
    }

    /// Blocks of the runs in the table.
    pub(super) fn block_count(&self) -> u64 {
        self.block_count
    }

    /// Does a run of the table share a block with `extent`?
    pub(super) fn overlaps(&self, extent: Extent) -> bool {
        let before = self.table.range(..extent.end()).next_back();
        before.is_some_and(|(&start, run)| start + run.block_count > extent.start)
    }

    /// Counts the image of `entry`; false when it does not lie inside a run.
    pub(super) fn add_image(&mut self, entry: &PageEntry) -> bool {
        let Some((start, run)) = self.containing(entry.offset) else {
            return false;
        };
        if entry.offset + image_bytes(entry) > (start + run.block_count) * BLOCK_BYTES {
            return false;
        }
        if let Some(run) = self.table.get_mut(&start) {
            run.live_images += 1;
            run.live_bytes += image_bytes(entry);
        }
        true
    }

    /// Stops counting the image of `entry`. Returns the first block of its run.
    pub(super) fn remove_image(&mut self, entry: &PageEntry) -> u64 {
        let start = self.containing(entry.offset).map(|(start, _)| start);
        let run = start.and_then(|start| self.table.get_mut(&start));
        assert!(run.is_some(), "page {} lies in no run", entry.page);
        if let Some(run) = run {
            assert!(run.live_images > 0, "page {} was not counted", entry.page);
            run.live_images -= 1;
            run.live_bytes -= image_bytes(entry);
        }
        start.unwrap_or_default()
    }

    /// Is the run listed in a checkpoint taken now?
    pub(super) fn is_worth_listing(&self, start: u64) -> bool {
        self.table
            .get(&start)
            .is_some_and(|run| run.live_images > 0)
    }

    /// Declares the run dead since commit `dead_at` when no image in it is live.
    pub(super) fn bury(&mut self, start: u64, dead_at: u64) {
        if self.is_worth_listing(start) {
            return;
        }
        if let Some(run) = self.take_out(start) {
            let extent = Extent {
                start,
                count: run.block_count,
            };
            let dead = DeadRun {
                extent,
                in_checkpoint: run.in_checkpoint,
            };
            self.dead.insert(start, dead);
            self.dead_order.insert((dead_at, start));
        }
    }

    /// Takes out the runs that were dead at commit `limit`.
    pub(super) fn take_dead(&mut self, limit: u64) -> Vec<Extent> {
        let mut taken = Vec::new();
        while let Some(&(dead_at, start)) = self.dead_order.first()
            && dead_at <= limit
        {
            self.dead_order.pop_first();
            taken.extend(self.dead.remove(&start).map(|dead| dead.extent));
        }
        taken
    }

    /// Does the newest checkpoint list the run at `start`?
    pub(super) fn is_in_checkpoint(&self, start: u64) -> bool {
        self.table.get(&start).is_some_and(|run| run.in_checkpoint)
            || self.dead.get(&start).is_some_and(|dead| dead.in_checkpoint)
    }

    /// A checkpoint was taken in which the run at `start` had its chance to be listed.
    pub(super) fn note_checkpoint(&mut self, start: u64) {
        let in_checkpoint = self.is_worth_listing(start);
        if let Some(run) = self.table.get_mut(&start) {
            run.in_checkpoint = in_checkpoint;
        }
        if let Some(dead) = self.dead.get_mut(&start) {
            dead.in_checkpoint = false;
        }
    }

    /// Blocks of the runs in the table, and blocks of those that wait to be given back.
    pub(super) fn block_counts(&self) -> (u64, u64) {
        (
            self.block_count,
            self.dead().map(|dead| dead.extent.count).sum(),
        )
    }
}

/// An extent of the table as the format writes it.
pub(super) fn to_run_extent(extent: Extent) -> RunExtent {
    RunExtent {
        offset: extent.start * BLOCK_BYTES,
        block_count: extent.count,
    }
}

/// An extent of the format as the table keeps it.
pub(super) fn to_extent(run: RunExtent) -> Extent {
    Extent {
        start: run.offset / BLOCK_BYTES,
        count: run.block_count,
    }
}
