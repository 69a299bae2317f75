//! Cleaning: copying what is live out of runs that are mostly dead, and out of the end of the
//! file into holes further down, so that the space can be used again and the file shortened.
//!
//! Images are copied as they are stored; nothing is decoded. A copy is an ordinary batch, so a
//! crash in the middle of it leaves every page where it was or where it is going, both whole.

use std::collections::BTreeSet;
use std::sync::Arc;

use quire_format::volume::BLOCK_BYTES;

use super::checkpoint::Ending;
use super::copies::copy;
use super::free_space::{Extent, FIRST_RUN_BLOCK, USEFUL_HOLE};
use super::inner::{Volume, VolumeInner, WriterTurn};
use super::placement::Seat;
use super::report::CleanReport;
use super::stretch::{self, RunSelection};
use super::writer::VolumeWriterState;
use crate::error::{BatchWriteError, CleanError, CommitError};

/// Bytes copied between two checkpoints: what cleaning needs in addition at any moment.
const STEP_BYTES: u64 = 8 << 20;

/// What a batch takes besides its images.
const BATCH_BYTES: u64 = 8 << 10;

/// A run is worth cleaning when at least this share of it is dead.
const DEAD_PERCENT_MIN: u64 = 25;

/// Closing a file does not copy more than this.
const WORTHWHILE_BYTES_MAX: u64 = 64 << 20;

/// A file with less to gain is left alone when it is closed.
const GAIN_BYTES_MIN: u64 = 1 << 20;

/// Unless a session has made it longer by more than this: a shorter one may have no hole that takes anything.
const LEFT_BYTES_MIN: u64 = 256 << 10;

impl Volume {
    /// Copies live pages out of runs that are mostly dead and from the end of the file into its
    /// holes, and shortens the file. What a pin can see stays. Writers may come in between the
    /// steps. A page that cannot be read stays where it is.
    ///
    /// # Errors
    /// See [`CleanError`].
    pub fn clean(&self) -> Result<CleanReport, CleanError> {
        self.clean_and_cut(None)
    }

    /// The same. `told` is, before the first step and after each, how many bytes were moved, and about how many will still be; it says
    /// whether to go on.
    ///
    /// # Errors
    /// See [`CleanError`].
    pub fn clean_telling(
        &self,
        told: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<CleanReport, CleanError> {
        self.clean_and_cut(Some(told))
    }

    fn clean_and_cut(&self, told: Option<Told<'_>>) -> Result<CleanReport, CleanError> {
        let mut report = clean(&self.inner, u64::MAX, told)?;
        let _turn = WriterTurn::wait(&self.inner);
        self.inner.cut_end(&mut self.inner.lock_writer(), 0)?;
        report.file_bytes_after = file_bytes(&self.inner);
        Ok(report)
    }
}

/// The session is about to end: what is set aside for it is not kept meanwhile.
/// Returns how many bytes were moved.
pub(super) fn clean_before_end(inner: &Arc<VolumeInner>) -> u64 {
    inner.lock_writer().is_closing = true;
    let moved_bytes = clean_if_worthwhile(inner, Ending::Closes);
    inner.lock_writer().is_closing = false;
    moved_bytes
}

/// Cleans a little when much of the file is dead or free. Failures are left for the next writer.
/// As long as the session goes on, room for the log is not counted as waste.
/// Returns how many bytes were moved.
pub(super) fn clean_if_worthwhile(inner: &Arc<VolumeInner>, ending: Ending) -> u64 {
    let percent = u64::from(inner.options.clean_dead_percent);
    if percent == 100 {
        return 0;
    }
    let (file_bytes, live_bytes, grown_bytes) = {
        let writer = inner.lock_writer();
        let end = writer.used_end();
        let grown = match writer.space.tail {
            Some(_) => end.saturating_sub(writer.end_at_begin),
            None => 0,
        };
        let live_bytes = writer.contents.pages.live_bytes();
        (end * BLOCK_BYTES, live_bytes, grown * BLOCK_BYTES)
    };
    let log_bytes = match ending {
        Ending::GoesOn => 2 * inner.options.log_limit_bytes(live_bytes),
        Ending::Closes => 0,
    };
    let gain_bytes = file_bytes.saturating_sub(live_bytes + log_bytes);
    let left_bytes = gain_bytes.min(grown_bytes);
    let budget_bytes = if gain_bytes > GAIN_BYTES_MIN && gain_bytes > file_bytes / 100 * percent {
        WORTHWHILE_BYTES_MAX
    } else if ending == Ending::Closes && left_bytes > LEFT_BYTES_MIN.max(file_bytes / 64) {
        // What the session has left: holes where the log was and the reserve.
        WORTHWHILE_BYTES_MAX.min(grown_bytes)
    } else {
        return 0;
    };
    let report = clean(inner, budget_bytes, None);
    report.map_or(0, |report| report.moved_bytes)
}

/// Is called with the bytes that were moved, and with about how many will still be. Says whether to go on.
type Told<'t> = &'t mut dyn FnMut(u64, u64) -> bool;

fn clean(
    inner: &Arc<VolumeInner>,
    budget_bytes: u64,
    mut told: Option<Told<'_>>,
) -> Result<CleanReport, CleanError> {
    let mut report = CleanReport {
        file_bytes_before: file_bytes(inner),
        ..CleanReport::default()
    };
    let mut copies = Copies::default();
    // Between two steps others may take what the first has gained.
    let budget_bytes = if inner.is_full() {
        budget_bytes.min(report.file_bytes_before.saturating_mul(2))
    } else {
        budget_bytes
    };
    reserve_at_end(inner)?;
    let mut goes_on = tell(inner, &copies, 0, &mut told);
    while goes_on && report.moved_bytes < budget_bytes {
        let step = if inner.is_full() {
            step_on_full_disk(inner)?
        } else {
            step(inner, &mut copies, budget_bytes - report.moved_bytes)?
        };
        let Some((pages, bytes)) = step else { break };
        report.moved_pages += pages;
        report.moved_bytes += bytes;
        goes_on = tell(inner, &copies, report.moved_bytes, &mut told);
    }
    let turn = WriterTurn::wait(inner);
    store_map(inner)?;
    move_map(inner)?;
    drop(turn);
    reserve_at_end(inner)?;
    report.file_bytes_after = file_bytes(inner);
    Ok(report)
}

/// Where it was, there is a hole for what is alive.
fn reserve_at_end(inner: &Arc<VolumeInner>) -> Result<(), BatchWriteError> {
    let _turn = WriterTurn::wait(inner);
    inner.may_write()?;
    let mut writer = inner.lock_writer();
    match writer.space.tail {
        Some(_) => inner.renew_reserve(&mut writer, Seat::AtEnd),
        None => Ok(()),
    }
}

/// Copies what is alive out of some runs. Returns pages and bytes; nothing when that would be of no use.
fn step(
    inner: &Arc<VolumeInner>,
    copies: &mut Copies,
    budget_bytes: u64,
) -> Result<Option<(u64, u64)>, CleanError> {
    let turn = WriterTurn::wait(inner);
    let space_comes_back = store_map(inner)?;
    let (moves, reason) = choose(&inner.lock_writer(), copies, STEP_BYTES.min(budget_bytes));
    if moves.is_empty() || !space_comes_back {
        return Ok(None);
    }
    go_on_in_first_hole(inner, reason)?;
    let copied = match copy(inner, turn, &moves, RunSelection::Hollow) {
        // Found only now.
        Err(error) if is_full(&error) => return step_on_full_disk(inner),
        copied => copied?,
    };
    let Some(copied) = copied.filter(|copied| copied.page_count > 0) else {
        return Ok(None);
    };
    copies.of(reason).extend(copied.starts);
    Ok(Some((copied.page_count, copied.bytes)))
}

/// What is far goes where the log goes on: that is the first hole, and not one behind it that was the first one before.
fn go_on_in_first_hole(inner: &VolumeInner, reason: CleanReason) -> Result<(), BatchWriteError> {
    let mut writer = inner.lock_writer();
    let first = writer.space.free.first_fit(USEFUL_HOLE);
    let is_behind = first.is_some_and(|first| writer.space.tail > Some(first));
    match reason {
        CleanReason::Far if is_behind => inner.checkpoint(&mut writer, Ending::GoesOn),
        _ => Ok(()),
    }
}

/// The same on a full disk: tries ways to choose runs until there is one with some progress.
fn step_on_full_disk(inner: &Arc<VolumeInner>) -> Result<Option<(u64, u64)>, CleanError> {
    const DIVISORS: [u64; 4] = [1, 2, 4, 8];
    let mut tried = BTreeSet::new();
    for divisor in DIVISORS {
        for way in stretch::WAYS {
            let turn = WriterTurn::wait(inner);
            if !store_map(inner)? {
                return Ok(None);
            }
            let moves = stretch::choose(&inner.lock_writer(), way, divisor);
            if moves.is_empty() || !tried.insert(moves.clone()) {
                continue;
            }
            match copy(inner, turn, &moves, way) {
                Ok(Some(copied)) => return Ok(Some((copied.page_count, copied.bytes))),
                Ok(None) => {}
                Err(error) if is_full(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(None)
}

fn is_full(error: &CleanError) -> bool {
    use CommitError::Write;
    matches!(
        error,
        CleanError::Write(BatchWriteError::Full { .. })
            | CleanError::Commit(Write(BatchWriteError::Full { .. }))
    )
}

fn file_bytes(inner: &VolumeInner) -> u64 {
    inner.lock_writer().space.free.end() * BLOCK_BYTES
}

/// Checkpoints, so that dead space can be used. False when a pin keeps some of it.
fn store_map(inner: &VolumeInner) -> Result<bool, BatchWriteError> {
    inner.may_write()?;
    // Before the lock: writers go on meanwhile. Reads of scans that ended later only keep space for the next time.
    inner.read_ahead.wait_for_abandoned();
    let mut writer = inner.lock_writer();
    if writer.is_checkpointed() && writer.space.tail.is_some() {
        inner.release_dead(&mut writer)?;
        inner.tidy_end(&mut writer)?;
    } else {
        inner.checkpoint(&mut writer, Ending::GoesOn)?;
    }
    Ok(writer.contents.runs.dead().next().is_none())
}

/// Why a run is emptied.
#[derive(Clone, Copy)]
enum CleanReason {
    Hollow,
    Far,
}

/// The runs of copies made so far, by the reason for the copy. A page is copied at most once for
/// each reason, which is what makes cleaning end.
#[derive(Default)]
struct Copies {
    from_hollow: BTreeSet<u64>,
    from_far: BTreeSet<u64>,
}

impl Copies {
    fn of(&mut self, reason: CleanReason) -> &mut BTreeSet<u64> {
        match reason {
            CleanReason::Hollow => &mut self.from_hollow,
            CleanReason::Far => &mut self.from_far,
        }
    }
}

/// The runs to empty: those that are mostly dead; then those behind the place where the file
/// could end, as far as there are holes for them.
fn choose(
    writer: &VolumeWriterState,
    copies: &Copies,
    step_bytes: u64,
) -> (BTreeSet<u64>, CleanReason) {
    let starts = |runs: Vec<(u64, Extent)>| runs.into_iter().map(|(_, run)| run.start).collect();
    let hollow = hollow_runs(writer, copies, step_bytes);
    let live_bytes: u64 = hollow.iter().map(|(live_bytes, _)| live_bytes).sum();
    let run_blocks: u64 = hollow.iter().map(|(_, extent)| extent.count).sum();
    if (live_bytes + BATCH_BYTES).div_ceil(BLOCK_BYTES) < run_blocks {
        return (starts(hollow), CleanReason::Hollow);
    }
    (
        starts(far_runs(writer, copies, step_bytes)),
        CleanReason::Far,
    )
}

/// The runs with the fewest live bytes.
fn hollow_runs(writer: &VolumeWriterState, copies: &Copies, step_bytes: u64) -> Vec<(u64, Extent)> {
    let is_copy = |start| copies.from_hollow.contains(&start) || copies.from_far.contains(&start);
    let runs = writer.contents.runs.iter();
    let mut hollow: Vec<_> = runs
        .filter(|(extent, run)| !is_copy(extent.start) && is_hollow(*extent, run.live_bytes))
        .map(|(extent, run)| (run.live_bytes, extent))
        .collect();
    hollow.sort_unstable();
    within(hollow.into_iter(), step_bytes)
}

/// The last runs of the file, no more than fit into the holes before them: those in which a log goes on, so that the copies get there.
fn far_runs(writer: &VolumeWriterState, copies: &Copies, step_bytes: u64) -> Vec<(u64, Extent)> {
    let packed_end = packed_end(writer);
    let runs = writer.contents.runs.iter();
    let runs = runs.filter(|(extent, _)| extent.start >= packed_end);
    let far: Vec<_> = runs.map(|(extent, run)| (run.live_bytes, extent)).collect();
    let first = far.first().map_or(0, |(_, extent)| extent.start);
    let holes = writer.space.free.extents();
    let holes = holes.filter(|hole| hole.start < first && hole.count >= USEFUL_HOLE);
    let room_bytes = holes.map(|hole| hole.count - 1).sum::<u64>() * BLOCK_BYTES;
    let far = far.into_iter().rev();
    within(
        far.filter(|(_, extent)| !copies.from_far.contains(&extent.start)),
        step_bytes.min(room_bytes.saturating_sub(BATCH_BYTES)),
    )
}

fn tell(
    inner: &VolumeInner,
    copies: &Copies,
    moved_bytes: u64,
    told: &mut Option<Told<'_>>,
) -> bool {
    match told {
        None => true,
        Some(told) => {
            let left_bytes = bytes_to_move(&inner.lock_writer(), copies);
            told(moved_bytes, left_bytes)
        }
    }
}

/// About how much will be copied: what is alive in hollow runs, and behind the place where the file will end.
fn bytes_to_move(writer: &VolumeWriterState, copies: &Copies) -> u64 {
    let hollow = hollow_runs(writer, copies, u64::MAX);
    let hollow_bytes: u64 = hollow.iter().map(|(live_bytes, _)| live_bytes).sum();
    let hollow_blocks: u64 = hollow.iter().map(|(_, run)| run.count).sum();
    let gained_blocks = hollow_blocks.saturating_sub(hollow_bytes.div_ceil(BLOCK_BYTES));
    let end = packed_end(writer).saturating_sub(gained_blocks);
    let runs = writer.contents.runs.iter();
    let far = runs.filter(|(run, it)| run.start >= end && !is_hollow(*run, it.live_bytes));
    let far = far.filter(|(run, _)| !copies.from_far.contains(&run.start));
    hollow_bytes + far.map(|(_, run)| run.live_bytes).sum::<u64>()
}

fn is_hollow(extent: Extent, live_bytes: u64) -> bool {
    let run_bytes = extent.count * BLOCK_BYTES;
    (run_bytes - live_bytes) * 100 >= run_bytes * DEAD_PERCENT_MIN
}

/// The first runs, as long as their live bytes stay within the limit.
fn within(runs: impl Iterator<Item = (u64, Extent)>, limit_bytes: u64) -> Vec<(u64, Extent)> {
    let mut sum = 0;
    runs.take_while(|(live_bytes, _)| {
        sum += live_bytes;
        sum <= limit_bytes
    })
    .collect()
}

/// Writes the whole map anew when a chunk of it is all that keeps the file from being shorter.
fn move_map(inner: &VolumeInner) -> Result<(), BatchWriteError> {
    {
        let mut writer = inner.lock_writer();
        let runs_end = writer.contents.runs.iter().map(|(run, _)| run.end()).last();
        let chunks_end = writer.chunks.iter().map(|(chunk, _)| chunk.end()).max();
        if chunks_end <= runs_end.max(Some(packed_end(&writer))) {
            return Ok(());
        }
        writer.needs_snapshot = true;
    }
    match store_map(inner) {
        // Then it stays where it is.
        Err(BatchWriteError::Full { .. }) => inner.lock_writer().needs_snapshot = false,
        other => drop(other?),
    }
    Ok(())
}

/// The block at which the file would end if it were packed.
fn packed_end(writer: &VolumeWriterState) -> u64 {
    let live_bytes = writer.contents.pages.live_bytes();
    let map_blocks: u64 = writer.chunks.iter().map(|(extent, _)| extent.count).sum();
    let run_blocks = (live_bytes + live_bytes / 64).div_ceil(BLOCK_BYTES);
    // Runs that are not worth cleaning stay as long as they are.
    let run_blocks = run_blocks.max(writer.contents.runs.block_count());
    FIRST_RUN_BLOCK + run_blocks + map_blocks + 1
}
