//! Copying what is alive out of some runs, as it is stored: one step of cleaning.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use quire_format::volume::{
    BLOCK_BYTES, IMAGE_HEADER_BYTES, ImageHeader, ImageKind, PageEntry, PageId, PageKind, checksum,
};

use super::batch::WriteBatch;
use super::free_space::Extent;
use super::inner::{VolumeInner, WriterTurn};
use super::options::Durability;
use super::page_map::image_bytes;
use super::run_images::RunImages;
use super::stretch::{CleanProgress, RunSelection};
use super::writer::VolumeWriterState;
use crate::error::{BatchWriteError, CleanError};

/// Holes shorter than this are not filled on purpose.
const HOLE_BYTES_MIN: u64 = 64 << 10;

/// What a batch has copied.
#[derive(Default)]
pub(super) struct CopiedSize {
    pub(super) page_count: u64,
    pub(super) bytes: u64,
    /// The runs with the copies.
    pub(super) starts: Vec<u64>,
}

/// Copies the live images of those runs in one batch. On a full disk nothing has happened unless that is progress.
pub(super) fn copy(
    inner: &Arc<VolumeInner>,
    turn: WriterTurn,
    moves: &BTreeSet<u64>,
    way: RunSelection,
) -> Result<Option<CopiedSize>, CleanError> {
    let mut batch = WriteBatch::begin(Arc::clone(inner), turn)?;
    batch.only_cleans();
    let mut copied = CopiedSize::default();
    let mut emptied = Vec::new();
    let (by_run, longest_before) = {
        let writer = inner.lock_writer();
        (live_entries(&writer, moves), writer.space.longest_with([]))
    };
    for (start, entries) in by_run {
        let run = RunImages::read(&*inner.disk, start * BLOCK_BYTES);
        // A run that cannot be read stays as it is, for `check` to find.
        let Ok(Some(run)) = run else { continue };
        emptied.push(Extent {
            start,
            count: run.header.block_count(),
        });
        for image in &run.images {
            let Some((entry, kind)) = image.entry() else {
                continue;
            };
            if entries.get(&entry.page) == Some(&entry) {
                batch.copy_image(entry.page, kind, run.payload(image))?;
                copied.page_count += 1;
                copied.bytes += image_bytes(&entry);
            }
        }
    }
    if inner.is_full() && !batch.has_progress(&emptied, longest_before, way)? {
        return Ok(None);
    }
    batch.commit_in_turn(Durability::Synced)?;
    inner.checkpoint_when_due(&mut inner.lock_writer());
    let placements = &batch.lock_runs().placements;
    let starts = placements.iter().map(|placement| placement.extent.start);
    copied.starts = starts.collect();
    Ok(Some(copied))
}

/// The live images of the runs, by the run's first block.
fn live_entries(
    writer: &VolumeWriterState,
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
    /// Writes all copies, and compares the blocks that they take with those that become free.
    fn has_progress(
        &self,
        emptied: &[Extent],
        longest_before: u64,
        way: RunSelection,
    ) -> Result<bool, BatchWriteError> {
        let mut runs = self.lock_runs();
        if !runs.buffer.is_empty() {
            self.flush_alone(&mut runs)?;
        }
        let placements = || runs.placements.iter();
        let blocks = |extents: &[Extent]| extents.iter().map(|it| it.count).sum::<u64>() as i64;
        let taken: Vec<_> = placements().map(|placement| placement.extent).collect();
        let links = placements().flat_map(|placement| placement.link());
        let writer = self.inner.lock_writer();
        let progress = CleanProgress {
            gained_blocks: blocks(emptied) - blocks(&taken),
            longest_before,
            longest_after: writer
                .space
                .longest_with(links.chain(emptied.iter().copied())),
            longest_wanted: way.longest_wanted(&writer),
        };
        Ok(progress.is_some())
    }

    /// Appends a copy of an image, and ends the run where the hole ends that it is going into.
    fn copy_image(
        &self,
        page: PageId,
        kind: PageKind,
        payload: &[u8],
    ) -> Result<(), BatchWriteError> {
        let mut runs = self.lock_runs();
        let room_bytes = self.inner.lock_writer().space.room_bytes();
        let image_bytes = (IMAGE_HEADER_BYTES + payload.len()) as u64;
        let is_started = !runs.buffer.is_empty();
        if self.inner.is_full() {
            self.fit_into_hole(&mut runs, payload.len())?;
        } else if is_started
            && runs.buffer.len() as u64 + image_bytes > room_bytes.max(HOLE_BYTES_MIN)
        {
            self.flush_alone(&mut runs)?;
        }
        if runs.is_full() {
            self.flush_alone(&mut runs)?;
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
