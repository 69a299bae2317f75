//! Reading the whole file for what describes itself: runs, images, commit records.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use quire_format::volume::{
    BLOCK_BYTES, CommitRecord, FIRST_RUN_OFFSET, FreedPages, ImageKind, PageEntry, PageRange,
    RUN_HEADER_BYTES, RunHeader, RunKind,
};

use super::free_space::Extent;
use super::run_images::RunImages;
use crate::disk::Disk;

const WINDOW_BYTES: u64 = 1 << 20;

/// Looks at the start of one block after another, reading a megabyte at a time.
pub(super) struct BlockWindow<'a> {
    disk: &'a dyn Disk,
    disk_bytes: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl<'a> BlockWindow<'a> {
    pub(super) fn new(disk: &'a dyn Disk, disk_bytes: u64) -> Self {
        Self {
            disk,
            disk_bytes,
            start: 0,
            bytes: Vec::new(),
        }
    }

    /// The header of the run that starts at byte `offset`, if one does.
    pub(super) fn run_header(&mut self, offset: u64) -> io::Result<Option<RunHeader>> {
        let inside = offset >= self.start
            && offset + RUN_HEADER_BYTES as u64 <= self.start + self.bytes.len() as u64;
        if !inside {
            let length = WINDOW_BYTES.min(self.disk_bytes.saturating_sub(offset));
            self.bytes.resize(length as usize, 0);
            self.start = offset;
            self.disk.read_at(&mut self.bytes, offset)?;
        }
        let head = self
            .bytes
            .get((offset - self.start) as usize..)
            .unwrap_or_default();
        Ok(RunHeader::may_start(head)
            .then(|| RunHeader::decode(head, offset).ok())
            .flatten())
    }
}

/// A run of the log that a scan found.
pub(super) struct FoundRun {
    pub(super) extent: Extent,
    pub(super) sequence: u64,
    pub(super) ordinal: u32,
    pub(super) entries: Vec<PageEntry>,
    pub(super) freed: Vec<PageRange>,
    /// Where and how it is damaged.
    pub(super) damage: Option<(u64, String)>,
}

/// What a scan learned about a batch.
#[derive(Default)]
pub(super) struct FoundBatch {
    pub(super) after_commit: u64,
    /// Runs found whole.
    pub(super) whole_runs: u32,
    /// Runs it has, when the commit record was found.
    pub(super) run_count: Option<u32>,
}

impl FoundBatch {
    fn is_whole(&self) -> bool {
        self.run_count == Some(self.whole_runs)
    }
}

/// Everything a scan found.
#[derive(Default)]
pub(super) struct LogScan {
    pub(super) runs: Vec<FoundRun>,
    pub(super) batches: BTreeMap<u64, FoundBatch>,
    pub(super) next_page: u64,
    /// Highest superblock generation in a map chunk.
    pub(super) generation: u64,
    /// The newest commit that was durable for certain.
    pub(super) proven_commit: u64,
    /// Later commits to which a chain of whole batches leads from there.
    chained: BTreeSet<u64>,
}

impl LogScan {
    /// Reads the disk from the first run to the end.
    pub(super) fn read(disk: &dyn Disk) -> io::Result<Self> {
        let disk_bytes = disk.len()?;
        let mut scan = Self::default();
        let mut window = BlockWindow::new(disk, disk_bytes);
        let mut offset = FIRST_RUN_OFFSET;
        while offset < disk_bytes {
            let mut next = offset + BLOCK_BYTES;
            if window.run_header(offset)?.is_some()
                && let Some(run) = RunImages::read(disk, offset)?
            {
                // A damaged run may be an old one whose space is partly in use again, so the
                // blocks behind its header are looked at as well.
                if run.damage.is_none() {
                    next = run.end();
                }
                scan.add(run);
            }
            offset = next;
        }
        scan.prove(0);
        Ok(scan)
    }

    /// `commit` was durable, the caller knows.
    pub(super) fn prove(&mut self, commit: u64) {
        self.proven_commit = self.proven_commit.max(commit);
        self.chained.clear();
        let mut last = self.proven_commit;
        for (&sequence, batch) in self.batches.range(self.proven_commit + 1..) {
            if batch.is_whole() && batch.after_commit <= last {
                // What lies between was given up.
                self.chained.split_off(&(batch.after_commit + 1));
                self.chained.insert(sequence);
                last = sequence;
            }
        }
    }

    /// Was the batch committed, and every one before it? Once a checkpoint has followed, its commit
    /// record may be gone. But runs of batches that were given up are erased before the next batch
    /// is durable; a later run tells which commit it came after and which was durable then; and so
    /// does a map chunk.
    pub(super) fn is_committed(&self, sequence: u64) -> bool {
        if sequence > self.proven_commit {
            return self.chained.contains(&sequence);
        }
        let mut later = self.batches.range(sequence + 1..);
        later
            .next()
            .is_none_or(|(_, next)| next.after_commit >= sequence)
    }

    fn add(&mut self, mut run: RunImages) {
        let header = run.header;
        self.proven_commit = self.proven_commit.max(header.durable_commit);
        if header.kind == RunKind::Map {
            self.generation = self.generation.max(header.sequence);
            return;
        }
        run.salvage();
        let extent = Extent {
            start: header.offset / BLOCK_BYTES,
            count: header.block_count(),
        };
        let batch = self.batches.entry(header.sequence).or_default();
        batch.after_commit = header.after_commit;
        batch.whole_runs += u32::from(run.damage.is_none());
        let mut freed = Vec::new();
        for image in &run.images {
            match image.header.kind {
                ImageKind::Freed => {
                    let ranges = FreedPages::decode(run.payload(image));
                    freed.extend(ranges.map(|pages| pages.ranges).unwrap_or_default());
                }
                ImageKind::Commit => {
                    if let Ok(record) = CommitRecord::decode(run.payload(image)) {
                        batch.run_count = Some(header.ordinal.saturating_add(1));
                        self.next_page = self.next_page.max(record.next_page);
                    }
                }
                ImageKind::Page(..) | ImageKind::MapChunk | ImageKind::Filler => {}
            }
        }
        let entries: Vec<_> = run
            .images
            .iter()
            .filter_map(|image| image.entry())
            .map(|(entry, _)| entry)
            .collect();
        let highest = entries.iter().map(|entry| entry.page.get() + 1).max();
        self.next_page = self.next_page.max(highest.unwrap_or(0));
        self.runs.push(FoundRun {
            extent,
            sequence: header.sequence,
            ordinal: header.ordinal,
            entries,
            freed,
            damage: run.damage,
        });
    }
}
