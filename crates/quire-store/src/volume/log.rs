//! Reading the log forward: which batches were committed after the checkpoint.

use std::io;

use quire_format::volume::{
    BLOCK_BYTES, CommitRecord, FreedPages, ImageKind, PageEntry, PageId, PageRange, RunKind,
    checksum_append,
};

use super::free_space::Extent;
use super::run_images::{RunImage, RunImages};
use crate::disk::Disk;

/// Where the next batch must start for it to be the successor of what was read so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogPosition {
    /// Byte of its first run.
    pub(super) offset: u64,
    pub(super) salt: u64,
    /// Newest commit so far.
    pub(super) after_commit: u64,
    /// Its sequence is at least this.
    pub(super) sequence_min: u64,
}

/// A batch that was committed.
pub(super) struct LogBatch {
    pub(super) sequence: u64,
    /// Newest commit that was durable before it, for certain.
    pub(super) durable_commit: u64,
    /// In the order of the log. The last one holds the commit record.
    pub(super) runs: Vec<Extent>,
    /// New images, later ones last.
    pub(super) entries: Vec<PageEntry>,
    /// What is freed after that.
    pub(super) freed: Vec<PageRange>,
    pub(super) next_page: u64,
    /// Where the next batch would start.
    pub(super) next: u64,
}

/// Reads the batch at `position`. `Ok(None)` when there is no whole batch that fits there: the
/// log ends before it.
pub(super) fn read_batch(disk: &dyn Disk, position: LogPosition) -> io::Result<Option<LogBatch>> {
    let mut reader = BatchReader::new(position);
    loop {
        let Some(run) = RunImages::read(disk, reader.batch.next)? else {
            return Ok(None);
        };
        match reader.take(&run) {
            LogStep::More => {}
            LogStep::Whole => return Ok(Some(reader.batch)),
            LogStep::Broken => return Ok(None),
        }
    }
}

enum LogStep {
    More,
    Whole,
    Broken,
}

struct BatchReader {
    position: LogPosition,
    batch: LogBatch,
    image_count: u64,
    batch_checksum: u32,
}

impl BatchReader {
    fn new(position: LogPosition) -> Self {
        let batch = LogBatch {
            sequence: 0,
            durable_commit: 0,
            runs: Vec::new(),
            entries: Vec::new(),
            freed: Vec::new(),
            next_page: 0,
            next: position.offset,
        };
        Self {
            position,
            batch,
            image_count: 0,
            batch_checksum: 0,
        }
    }

    fn take(&mut self, run: &RunImages) -> LogStep {
        let header = &run.header;
        if self.batch.runs.is_empty() {
            self.batch.sequence = header.sequence;
        }
        let fits = header.kind != RunKind::Map
            && header.salt == self.position.salt
            && header.after_commit == self.position.after_commit
            && header.sequence == self.batch.sequence
            && header.sequence >= self.position.sequence_min
            && header.ordinal as usize == self.batch.runs.len();
        if !fits || run.damage.is_some() {
            return LogStep::Broken;
        }
        let start = header.offset / BLOCK_BYTES;
        self.batch.runs.push(Extent {
            start,
            count: header.block_count(),
        });
        self.batch.next = header.next;
        self.batch.durable_commit = self.batch.durable_commit.max(header.durable_commit);
        for (index, image) in run.images.iter().enumerate() {
            if image.header.kind == ImageKind::Commit {
                let is_last = index + 1 == run.images.len();
                return if is_last && self.ends_with(run, image) {
                    LogStep::Whole
                } else {
                    LogStep::Broken
                };
            }
            if !self.take_image(run, image) {
                return LogStep::Broken;
            }
        }
        LogStep::More
    }

    fn take_image(&mut self, run: &RunImages, image: &RunImage) -> bool {
        self.image_count += 1;
        self.batch_checksum = checksum_append(self.batch_checksum, run.header_bytes(image));
        match image.header.kind {
            ImageKind::Page(..) => {
                self.batch
                    .entries
                    .extend(image.entry().map(|(entry, _)| entry));
                true
            }
            ImageKind::Freed => match FreedPages::decode(run.payload(image)) {
                Ok(freed) => {
                    self.batch.freed.extend(freed.ranges);
                    true
                }
                Err(_) => false,
            },
            ImageKind::Filler => true,
            ImageKind::Commit | ImageKind::MapChunk => false,
        }
    }

    fn ends_with(&mut self, run: &RunImages, image: &RunImage) -> bool {
        let Ok(record) = CommitRecord::decode(run.payload(image)) else {
            return false;
        };
        self.batch.next_page = record.next_page;
        let next_page = |entry: &PageEntry| PageId::get(entry.page) < record.next_page;
        record.image_count == self.image_count
            && record.batch_checksum == self.batch_checksum
            && self.batch.entries.iter().all(next_page)
    }
}
