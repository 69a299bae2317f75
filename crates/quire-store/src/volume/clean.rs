//! Cleaning: copying what is live out of runs that are mostly dead, and out of the end of the
//! file into holes further down, so that the space can be used again and the file shortened.
//!
//! Images are copied as they are stored; nothing is decoded. A copy is an ordinary batch, so a
//! crash in the middle of it leaves every page where it was or where it is going, both whole.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use quire_format::volume::{
    BLOCK_BYTES, IMAGE_HEADER_BYTES, ImageHeader, ImageKind, PageEntry, PageId, PageKind, checksum,
};

use super::batch::WriteBatch;
use super::checkpoint::Ending;
use super::free_space::{Extent, FIRST_RUN_BLOCK};
use super::options::Durability;
use super::page_map::image_bytes;
use super::report::CleanReport;
use super::run_images::RunImages;
use super::writer::{Turn, Writer};
use super::{Inner, Volume};
use crate::error::{CleanError, CommitError, WriteError};

/// Bytes copied between two checkpoints: what cleaning needs in addition at any moment.
const STEP_BYTES: u64 = 8 << 20;

/// On a full disk the steps become as small as this.
const STEP_BYTES_MIN: u64 = 16 << 10;

/// What a batch takes besides its images.
const BATCH_BYTES: u64 = 8 << 10;

/// Holes shorter than this are not filled on purpose.
const HOLE_BYTES_MIN: u64 = 64 << 10;

/// A run is worth cleaning when at least this share of it is dead.
const DEAD_PERCENT_MIN: u64 = 25;

/// Closing a file does not copy more than this.
const WORTHWHILE_BYTES_MAX: u64 = 64 << 20;

/// A file with less to gain is left alone when it is closed.
const GAIN_BYTES_MIN: u64 = 1 << 20;

impl Volume {
    /// Copies live pages out of runs that are mostly dead and from the end of the file into its
    /// holes, and shortens the file. What a pin can see stays. Writers may come in between the
    /// steps. A page that cannot be read stays where it is.
    ///
    /// # Errors
    /// See [`CleanError`].
    pub fn clean(&self) -> Result<CleanReport, CleanError> {
        let mut report = clean(&self.inner, u64::MAX)?;
        let _turn = Turn::wait(&self.inner);
        self.inner.cut_end(&mut self.inner.lock_writer(), 0)?;
        report.file_bytes_after = file_bytes(&self.inner);
        Ok(report)
    }
}

/// Cleans a little when much of the file is dead or free. Failures are left for the next writer.
/// As long as the session goes on, room for the log is not counted as waste.
pub(super) fn clean_if_worthwhile(inner: &Arc<Inner>, ending: Ending) {
    let (file_bytes, live_bytes) = {
        let writer = inner.lock_writer();
        (
            used_end(&writer) * BLOCK_BYTES,
            writer.contents.pages.live_bytes(),
        )
    };
    let log_bytes = match ending {
        Ending::GoesOn => 2 * inner.options.log_limit_bytes(live_bytes),
        Ending::Closes => 0,
    };
    let gain_bytes = file_bytes.saturating_sub(live_bytes + log_bytes);
    let percent = u64::from(inner.options.clean_dead_percent);
    if percent < 100 && gain_bytes > GAIN_BYTES_MIN && gain_bytes > file_bytes / 100 * percent {
        let _ = clean(inner, WORTHWHILE_BYTES_MAX);
    }
}

/// Where the file ends but for what is cut off without copying anything.
fn used_end(writer: &Writer) -> u64 {
    let runs_end = writer.contents.runs.iter().map(|(run, _)| run.end()).last();
    let chunks_end = writer.chunks.iter().map(|(chunk, _)| chunk.end()).max();
    runs_end.max(chunks_end).unwrap_or(FIRST_RUN_BLOCK)
}

fn clean(inner: &Arc<Inner>, budget_bytes: u64) -> Result<CleanReport, CleanError> {
    let mut report = CleanReport {
        file_bytes_before: file_bytes(inner),
        ..CleanReport::default()
    };
    let mut copies = Copies::default();
    let mut step_bytes = STEP_BYTES;
    while report.moved_bytes < budget_bytes {
        let turn = Turn::wait(inner);
        let space_comes_back = store_map(inner)?;
        let (moves, reason) = choose(&inner.lock_writer(), &copies, step_bytes);
        if moves.is_empty() || !space_comes_back {
            break;
        }
        match copy(inner, turn, &moves, copies.of(reason)) {
            Ok((0, _)) => break,
            Ok((pages, bytes)) => {
                report.moved_pages += pages;
                report.moved_bytes += bytes;
            }
            Err(error) if is_full(&error) && step_bytes > STEP_BYTES_MIN => step_bytes /= 8,
            Err(error) => return Err(error),
        }
    }
    let _turn = Turn::wait(inner);
    store_map(inner)?;
    move_map(inner)?;
    report.file_bytes_after = file_bytes(inner);
    Ok(report)
}

fn is_full(error: &CleanError) -> bool {
    use CommitError::Write;
    matches!(
        error,
        CleanError::Write(WriteError::Full { .. })
            | CleanError::Commit(Write(WriteError::Full { .. }))
    )
}

fn file_bytes(inner: &Inner) -> u64 {
    inner.lock_writer().space.free.end() * BLOCK_BYTES
}

/// Checkpoints, so that dead space can be used. False when a pin keeps some of it.
fn store_map(inner: &Inner) -> Result<bool, WriteError> {
    inner.may_write()?;
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
enum Reason {
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
    fn of(&mut self, reason: Reason) -> &mut BTreeSet<u64> {
        match reason {
            Reason::Hollow => &mut self.from_hollow,
            Reason::Far => &mut self.from_far,
        }
    }
}

/// The runs to empty: those that are mostly dead; then those behind the place where the file
/// could end, as far as there are holes for them.
fn choose(writer: &Writer, copies: &Copies, step_bytes: u64) -> (BTreeSet<u64>, Reason) {
    let starts = |runs: Vec<(u64, Extent)>| runs.into_iter().map(|(_, run)| run.start).collect();
    let hollow = hollow_runs(writer, copies, step_bytes);
    let live_bytes: u64 = hollow.iter().map(|(live_bytes, _)| live_bytes).sum();
    let run_blocks: u64 = hollow.iter().map(|(_, extent)| extent.count).sum();
    if (live_bytes + BATCH_BYTES).div_ceil(BLOCK_BYTES) < run_blocks {
        return (starts(hollow), Reason::Hollow);
    }
    (starts(far_runs(writer, copies, step_bytes)), Reason::Far)
}

/// The runs with the fewest live bytes.
fn hollow_runs(writer: &Writer, copies: &Copies, step_bytes: u64) -> Vec<(u64, Extent)> {
    let is_copy = |start| copies.from_hollow.contains(&start) || copies.from_far.contains(&start);
    let runs = writer.contents.runs.iter();
    let mut hollow: Vec<_> = runs
        .filter(|(extent, run)| !is_copy(extent.start) && is_hollow(*extent, run.live_bytes))
        .map(|(extent, run)| (run.live_bytes, extent))
        .collect();
    hollow.sort_unstable();
    within(hollow.into_iter(), step_bytes)
}

/// The last runs of the file, no more than fit into the holes.
fn far_runs(writer: &Writer, copies: &Copies, step_bytes: u64) -> Vec<(u64, Extent)> {
    let packed_end = packed_end(writer);
    let room = |hole: Extent| hole.end().min(packed_end).saturating_sub(hole.start);
    let hole_bytes = writer.space.free.extents().map(room).sum::<u64>() * BLOCK_BYTES;
    let is_far =
        |extent: &Extent| extent.start >= packed_end && !copies.from_far.contains(&extent.start);
    let runs = writer
        .contents
        .runs
        .iter()
        .filter(|(extent, _)| is_far(extent));
    let far: Vec<_> = runs.map(|(extent, run)| (run.live_bytes, extent)).collect();
    within(
        far.into_iter().rev(),
        step_bytes.min(hole_bytes.saturating_sub(BATCH_BYTES)),
    )
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
fn move_map(inner: &Inner) -> Result<(), WriteError> {
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
        Err(WriteError::Full { .. }) => inner.lock_writer().needs_snapshot = false,
        other => drop(other?),
    }
    Ok(())
}

/// The block at which the file would end if it were packed.
fn packed_end(writer: &Writer) -> u64 {
    let live_bytes = writer.contents.pages.live_bytes();
    let map_blocks: u64 = writer.chunks.iter().map(|(extent, _)| extent.count).sum();
    let run_blocks = (live_bytes + live_bytes / 64).div_ceil(BLOCK_BYTES);
    FIRST_RUN_BLOCK + run_blocks + map_blocks + writer.space.reserve.count + 1
}

/// Copies the live images of those runs in one batch. Returns pages and bytes copied.
fn copy(
    inner: &Arc<Inner>,
    turn: Turn,
    moves: &BTreeSet<u64>,
    copies: &mut BTreeSet<u64>,
) -> Result<(u64, u64), CleanError> {
    let mut batch = WriteBatch::begin(Arc::clone(inner), turn)?;
    batch.is_cleaning = true;
    let (mut page_count, mut bytes) = (0, 0);
    let by_run = live_entries(&inner.lock_writer(), moves);
    for (start, entries) in by_run {
        let run = RunImages::read(&*inner.disk, start * BLOCK_BYTES);
        // A run that cannot be read stays as it is, for `check` to find.
        let Ok(Some(run)) = run else { continue };
        for image in &run.images {
            let Some((entry, kind)) = image.entry() else {
                continue;
            };
            if entries.get(&entry.page) == Some(&entry) {
                batch.copy_image(entry.page, kind, run.payload(image))?;
                page_count += 1;
                bytes += image_bytes(&entry);
            }
        }
    }
    batch.commit_in_turn(Durability::Synced)?;
    inner.checkpoint_when_due(&mut inner.lock_writer());
    let placements = &batch.lock_runs().placements;
    copies.extend(placements.iter().map(|placement| placement.extent.start));
    Ok((page_count, bytes))
}

/// The live images of the runs, by the run's first block.
fn live_entries(
    writer: &Writer,
    moves: &BTreeSet<u64>,
) -> BTreeMap<u64, HashMap<PageId, PageEntry>> {
    let mut found: BTreeMap<u64, HashMap<PageId, PageEntry>> = BTreeMap::new();
    writer.contents.pages.for_each(&mut |entry| {
        if let Some((start, _)) = writer.contents.runs.containing(entry.offset)
            && moves.contains(&start)
        {
            found.entry(start).or_default().insert(entry.page, entry);
        }
    });
    found
}

impl WriteBatch {
    /// Appends a copy of an image, and ends the run where the hole ends that it is going into.
    fn copy_image(&self, page: PageId, kind: PageKind, payload: &[u8]) -> Result<(), WriteError> {
        let mut runs = self.lock_runs();
        let room_bytes = self
            .inner
            .lock_writer()
            .space
            .room_bytes()
            .max(HOLE_BYTES_MIN);
        let image_bytes = (IMAGE_HEADER_BYTES + payload.len()) as u64;
        let is_started = !runs.buffer.is_empty();
        if is_started && runs.buffer.len() as u64 + image_bytes > room_bytes || runs.is_full() {
            self.flush_alone(&mut runs, true)?;
        }
        let header = ImageHeader {
            kind: ImageKind::Page(page, kind),
            payload_bytes: payload.len() as u32,
            sequence: runs.sequence,
            payload_checksum: checksum(payload),
        };
        runs.append(&header, payload);
        Ok(())
    }
}
