//! Cleaning on a full disk: which stretch of the file is emptied next.
//!
//! Space that is free in short holes is of little use, so runs are not chosen one by one, but as neighbours: what is alive in a
//! stretch of the file is copied into the reserve and into long holes, and the stretch, with the holes in it, becomes one
//! hole. Of all stretches that fit, that one is chosen of which the most becomes free for what is copied.

use std::collections::BTreeSet;

use quire_format::volume::BLOCK_BYTES;

use super::floors::{CHECKPOINT_BLOCKS, cleaning_run_bytes, run_bytes_max};
use super::free_space::Extent;
use super::writer::VolumeWriterState;

/// What a batch takes besides its images.
const BATCH_BYTES: u64 = 256;

/// What a step of cleaning does. Each step makes the blocks in use fewer, and leaves one piece that the next step can use; or it leaves
/// them as many, and makes that piece longer as long as it is too short. So cleaning ends.
pub(super) struct CleanProgress {
    pub(super) gained_blocks: i64,
    /// The longest series of free blocks.
    pub(super) longest_before: u64,
    pub(super) longest_after: u64,
    pub(super) longest_wanted: u64,
}

impl CleanProgress {
    pub(super) fn is_some(&self) -> bool {
        let (before, wanted) = (self.longest_before, self.longest_wanted);
        self.gained_blocks > 0 && self.longest_after >= before.min(wanted)
            || self.gained_blocks >= 0 && before < wanted && self.longest_after > before
    }
}

/// Neighbouring runs, and the free blocks between and beside them.
#[derive(Clone, Copy, Default)]
struct LogStretch {
    first: usize,
    last: usize,
    /// From the first free block to the last.
    span_blocks: u64,
    run_blocks: u64,
    copy_blocks: u64,
    /// It begins where the reserve ends.
    follows_reserve: bool,
}

/// How runs are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunSelection {
    /// Neighbours, which go into the reserve and holes of so many blocks.
    Neighbours { hole_blocks_min: u64 },
    /// Wherever they are, those first of which the largest share is dead.
    Hollow,
}

impl RunSelection {
    /// So many blocks in one piece are not given up for others that are gained.
    pub(super) fn longest_wanted(self, writer: &VolumeWriterState) -> u64 {
        let space = &writer.space;
        match self {
            RunSelection::Neighbours { .. } => space.floors.left_by_flushes(),
            RunSelection::Hollow => run_bytes_max(space.free.end()) / BLOCK_BYTES + 1,
        }
    }
}

/// The ways, best first.
pub(super) const WAYS: [RunSelection; 3] = [
    RunSelection::Neighbours { hole_blocks_min: 8 },
    RunSelection::Neighbours { hole_blocks_min: 2 },
    RunSelection::Hollow,
];

/// The starts of the runs that should be emptied next, into a part of the room there is: one in `divisor`. Nothing when nothing is to be
/// gained.
pub(super) fn choose(writer: &VolumeWriterState, way: RunSelection, divisor: u64) -> BTreeSet<u64> {
    let runs = writer.contents.runs.iter();
    let runs: Vec<_> = runs.map(|(extent, run)| (extent, run.live_bytes)).collect();
    let room_blocks = |hole_blocks_min| room_blocks(writer, hole_blocks_min) / divisor;
    match way {
        RunSelection::Neighbours { hole_blocks_min } => {
            best_stretch(writer, &runs, room_blocks(hole_blocks_min))
        }
        RunSelection::Hollow => hollow(writer, &runs, room_blocks(1)),
    }
}

fn hollow(writer: &VolumeWriterState, runs: &[(Extent, u64)], room_blocks: u64) -> BTreeSet<u64> {
    let mut hollow: Vec<_> = runs.iter().collect();
    hollow.sort_unstable_by_key(|(run, live_bytes)| (live_bytes / run.count, run.start));
    let (mut chosen, mut best) = (Vec::new(), (0, 0));
    let (mut live_bytes, mut run_blocks) = (0, 0);
    for (run, run_live_bytes) in hollow {
        live_bytes += run_live_bytes;
        let copy_blocks = copy_blocks(writer, live_bytes);
        if copy_blocks > room_blocks {
            break;
        }
        run_blocks += run.count;
        chosen.push(run.start);
        let gained_blocks = run_blocks.saturating_sub(copy_blocks);
        if gained_blocks > best.0 {
            best = (gained_blocks, chosen.len());
        }
    }
    chosen.truncate(best.1);
    chosen.into_iter().collect()
}

fn best_stretch(
    writer: &VolumeWriterState,
    runs: &[(Extent, u64)],
    room_blocks: u64,
) -> BTreeSet<u64> {
    let mut best: Option<LogStretch> = None;
    for first in 0..runs.len() {
        let mut stretch = LogStretch::default();
        let mut live_bytes = 0;
        let reserve = writer.space.reserve;
        let before = first.checked_sub(1).map(|before| runs[before].0);
        let before = before.filter(|run| run.start > reserve.start);
        let free_before = free_gap(writer, before.unwrap_or(reserve), runs[first].0);
        for (last, (run, run_live_bytes)) in runs.iter().enumerate().skip(first) {
            live_bytes += run_live_bytes;
            let is_apart = last > first && !adjoin(writer, runs[last - 1].0, *run);
            let copy_blocks = copy_blocks(writer, live_bytes);
            if copy_blocks > room_blocks || is_apart {
                break;
            }
            let free_after = writer.space.free.room_at(run.end(), false);
            stretch = LogStretch {
                first,
                last,
                span_blocks: free_before + run.end() + free_after - runs[first].0.start,
                run_blocks: stretch.run_blocks + run.count,
                copy_blocks,
                follows_reserve: runs[first].0.start - free_before == writer.space.reserve.end(),
            };
            if stretch.is_worthwhile(writer)
                && best.is_none_or(|best| stretch.frees_more_than(&best))
            {
                best = Some(stretch);
            }
        }
    }
    best.map_or_else(BTreeSet::new, |best| {
        let chosen = runs[best.first..=best.last].iter();
        chosen.map(|(run, _)| run.start).collect()
    })
}

impl LogStretch {
    fn is_worthwhile(&self, writer: &VolumeWriterState) -> bool {
        let space = &writer.space;
        let before = space.reserve.count;
        let taken_before = self.run_blocks;
        CleanProgress {
            gained_blocks: taken_before as i64 - self.copy_blocks as i64,
            longest_before: before,
            longest_after: self.longest_after(before),
            longest_wanted: space.floors.left_by_flushes(),
        }
        .is_some()
    }

    /// Blocks in one piece after it was emptied into the reserve: that begins to be used at its start.
    fn longest_after(&self, reserve_blocks: u64) -> u64 {
        let rest = reserve_blocks.saturating_sub(self.copy_blocks);
        if self.follows_reserve {
            rest + self.span_blocks
        } else {
            rest.max(self.span_blocks)
        }
    }

    /// By the blocks that become free in one piece for each that is copied.
    fn frees_more_than(&self, other: &Self) -> bool {
        let free_blocks = |it: &Self| it.span_blocks.saturating_sub(it.copy_blocks);
        free_blocks(self) * (other.copy_blocks + 1) > free_blocks(other) * (self.copy_blocks + 1)
    }
}

/// What copies may take: the reserve, but for what the checkpoint after it needs, and holes of so many blocks; each hole but for its
/// end.
fn room_blocks(writer: &VolumeWriterState, hole_blocks_min: u64) -> u64 {
    let holes = writer.space.free.extents().map(|hole| hole.count);
    let holes = holes.filter(|count| *count >= hole_blocks_min);
    let in_holes: u64 = holes.map(|count| count - 1).sum();
    let in_reserve = writer.space.reserve.count.saturating_sub(1);
    let in_all = writer.space.free.free_count() + writer.space.reserve.count;
    (in_holes + in_reserve).min(in_all.saturating_sub(CHECKPOINT_BLOCKS + 2))
}

/// With the end of each run, and that of the batch.
fn copy_blocks(writer: &VolumeWriterState, live_bytes: u64) -> u64 {
    let runs = live_bytes / cleaning_run_bytes(writer.space.free.end());
    (live_bytes + BATCH_BYTES).div_ceil(BLOCK_BYTES) + runs / 2
}

/// Is everything free between two runs?
fn adjoin(writer: &VolumeWriterState, run: Extent, next: Extent) -> bool {
    writer.space.free.room_at(run.end(), false) >= next.start - run.end()
}

/// The free blocks right before the second of two runs.
fn free_gap(writer: &VolumeWriterState, run: Extent, next: Extent) -> u64 {
    if run.end() <= next.start && adjoin(writer, run, next) {
        next.start - run.end()
    } else {
        0
    }
}
