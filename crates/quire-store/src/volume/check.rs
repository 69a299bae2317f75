//! Checking a volume against every rule that a sound file keeps. Each rule is a function with its
//! name, and every finding bears it.

use std::collections::BTreeMap;

use quire_format::volume::{BLOCK_BYTES, FIRST_RUN_OFFSET, PageEntry};

use super::free_space::{Extent, FIRST_RUN_BLOCK};
use super::inner::{Volume, VolumeInner, WriterTurn};
use super::log::{LogPosition, read_batch};
use super::map_chain::{self, StoredMapError};
use super::page_map::image_bytes;
use super::pin::ReadPattern;
use super::report::{CheckReport, Finding, VolumeStats};
use super::run_images::RunImages;
use super::superblocks::Superblocks;
use super::writer::VolumeWriterState;

const RESTORE: &str = "restore the page from a backup";
const REBUILD: &str = "copy the file, then run `quire check --rebuild` on it";
const REWRITE: &str = "the next write repairs it";
const COPY: &str = "its pages are readable; copy them into a new file";
const REPORT: &str = "the program is at fault; please report it with the file";

impl Volume {
    /// Reads the whole file and compares it with every rule it should keep. Waits for a batch in
    /// progress. Writes nothing.
    #[must_use]
    pub fn check(&self) -> CheckReport {
        let _turn = WriterTurn::wait(&self.inner);
        let writer = self.inner.lock_writer();
        let mut check = VolumeCheck {
            inner: &self.inner,
            writer: &writer,
            findings: Vec::new(),
        };
        check.superblocks_are_whole();
        check.the_stored_map_is_whole();
        check.the_log_leads_to_the_newest_commit();
        check.runs_and_images_are_whole();
        check.images_do_not_overlap();
        check.blocks_have_one_use();
        check.the_counts_agree();
        check.the_file_ends_where_it_should();
        let findings = std::mem::take(&mut check.findings);
        let stats = self.inner.stats(&writer);
        CheckReport {
            findings,
            page_count: stats.page_count,
            live_bytes: stats.live_bytes,
            dead_bytes: stats.dead_bytes,
            free_bytes: stats.free_bytes,
            file_bytes: stats.file_bytes,
        }
    }

    /// Sizes and counters.
    #[must_use]
    pub fn stats(&self) -> VolumeStats {
        self.inner.stats(&self.inner.lock_writer())
    }
}

impl VolumeInner {
    fn stats(&self, writer: &VolumeWriterState) -> VolumeStats {
        let pages = &writer.contents.pages;
        let (run_blocks, dead_blocks) = writer.contents.runs.block_counts();
        let map_blocks: u64 = writer.chunks.iter().map(|(extent, _)| extent.count).sum();
        let (cache_hits, cache_misses) = self.cache.hits_and_misses();
        let set_aside = writer.space.reserve.count + u64::from(writer.space.tail.is_some());
        VolumeStats {
            file_bytes: writer.space.free.end() * BLOCK_BYTES,
            live_bytes: pages.live_bytes(),
            dead_bytes: (run_blocks + dead_blocks) * BLOCK_BYTES - pages.live_bytes(),
            free_bytes: (writer.space.free.free_count() + set_aside) * BLOCK_BYTES,
            map_bytes: map_blocks * BLOCK_BYTES,
            log_bytes: writer.log_blocks * BLOCK_BYTES,
            page_count: pages.page_count(),
            commit_sequence: writer.contents.commit_sequence,
            cache_bytes: self.cache.bytes(),
            cache_hits,
            cache_misses,
            disk: self.counted_disk.traffic(),
        }
    }
}

struct VolumeCheck<'a> {
    inner: &'a VolumeInner,
    writer: &'a VolumeWriterState,
    findings: Vec<Finding>,
}

impl VolumeCheck<'_> {
    fn report(
        &mut self,
        invariant: &'static str,
        offset: Option<u64>,
        what: impl ToString,
        advice: &'static str,
    ) {
        let what = what.to_string();
        self.findings.push(Finding {
            invariant,
            page: None,
            offset,
            what,
            advice,
        });
    }

    fn report_page(
        &mut self,
        invariant: &'static str,
        entry: &PageEntry,
        what: impl ToString,
        advice: &'static str,
    ) {
        let (page, offset) = (Some(entry.page), Some(entry.offset));
        self.findings.push(Finding {
            invariant,
            page,
            offset,
            what: what.to_string(),
            advice,
        });
    }

    /// Both copies are valid, and the newer one is what this process works with.
    fn superblocks_are_whole(&mut self) {
        const NAME: &str = "superblocks_are_whole";
        let superblocks = match Superblocks::read(&*self.inner.disk) {
            Ok(superblocks) => superblocks,
            Err(error) => return self.report(NAME, Some(0), error, RESTORE),
        };
        for (name, offset, what) in superblocks.damaged() {
            self.report(
                NAME,
                Some(offset),
                format!("superblock {name}: {what}"),
                REWRITE,
            );
        }
        let newest = superblocks.newest().map(|found| found.generation);
        if newest.is_some_and(|found| found != self.writer.superblock.generation) {
            let what = "another program has written to the file while it was open";
            self.report(NAME, Some(0), what, REBUILD);
        }
    }

    /// The chain of chunks can be read and is the map that the superblock describes.
    fn the_stored_map_is_whole(&mut self) {
        const NAME: &str = "the_stored_map_is_whole";
        if self.writer.needs_snapshot {
            return self.report(
                NAME,
                None,
                "it is damaged and was rebuilt by a scan",
                REWRITE,
            );
        }
        match map_chain::load(&*self.inner.disk, &self.writer.superblock) {
            Ok(_) => {}
            Err(StoredMapError::Io(error)) => self.report(NAME, None, error, REBUILD),
            Err(StoredMapError::Corrupt { offset, detail }) => {
                self.report(NAME, Some(offset), detail, REBUILD);
            }
        }
    }

    /// From the checkpoint on, every batch up to the newest can be read.
    fn the_log_leads_to_the_newest_commit(&mut self) {
        const NAME: &str = "the_log_leads_to_the_newest_commit";
        let superblock = &self.writer.superblock;
        let newest_commit = self.writer.contents.commit_sequence;
        let mut position = LogPosition {
            offset: superblock.log_start,
            salt: superblock.salt,
            after_commit: superblock.commit_sequence,
            sequence_min: superblock.next_sequence,
        };
        while position.after_commit < newest_commit {
            match read_batch(&*self.inner.disk, position) {
                Ok(Some(batch)) => {
                    position.offset = batch.next;
                    position.after_commit = batch.sequence;
                    position.sequence_min = batch.sequence + 1;
                }
                Ok(None) => {
                    let what = format!("the log breaks after commit {}", position.after_commit);
                    return self.report(NAME, Some(position.offset), what, REBUILD);
                }
                Err(error) => return self.report(NAME, Some(position.offset), error, REBUILD),
            }
        }
    }

    /// Every run with a live image has its header, and every live image is what the map says,
    /// byte for byte.
    fn runs_and_images_are_whole(&mut self) {
        let mut by_run: BTreeMap<u64, Vec<PageEntry>> = BTreeMap::new();
        let mut homeless = Vec::new();
        let runs = &self.writer.contents.runs;
        self.writer
            .contents
            .pages
            .for_each(&mut |entry| match runs.containing(entry.offset) {
                Some((start, _)) => by_run.entry(start).or_default().push(entry),
                None => homeless.push(entry),
            });
        for entry in &homeless {
            self.report_page("images_lie_in_runs", entry, "it lies in no run", REPORT);
        }
        for (start, entries) in by_run {
            match RunImages::read(&*self.inner.disk, start * BLOCK_BYTES) {
                Ok(Some(run)) => self.images_are_whole(&run, &entries),
                Ok(None) => {
                    let what = "the header of the run is damaged";
                    self.report("runs_have_headers", Some(start * BLOCK_BYTES), what, COPY);
                    self.payloads_are_whole(&entries);
                }
                Err(error) => {
                    self.report(
                        "runs_have_headers",
                        Some(start * BLOCK_BYTES),
                        error,
                        RESTORE,
                    );
                }
            }
        }
    }

    fn images_are_whole(&mut self, run: &RunImages, entries: &[PageEntry]) {
        const NAME: &str = "images_are_whole";
        for entry in entries {
            let image = run.images.iter().find(|image| image.offset == entry.offset);
            match image.and_then(|image| image.entry()) {
                Some((found, _)) if found == *entry => {}
                Some((found, _)) => {
                    let what = format!("there is an image of page {} instead", found.page);
                    self.report_page(NAME, entry, what, RESTORE);
                }
                None => self.payload_is_whole(entry, run),
            }
        }
    }

    /// The run could not be followed to this image: is it damaged itself, or only something
    /// before it?
    fn payload_is_whole(&mut self, entry: &PageEntry, run: &RunImages) {
        const NAME: &str = "images_are_whole";
        if let Err(error) = self.inner.read_payload(entry, ReadPattern::Sequential) {
            self.report_page(NAME, entry, error, RESTORE);
        } else if let Some((offset, what)) = run.damage.clone().filter(|at| at.0 == entry.offset) {
            self.report_page(NAME, entry, format!("{what} (byte {offset})"), COPY);
        }
    }

    fn payloads_are_whole(&mut self, entries: &[PageEntry]) {
        for entry in entries {
            if let Err(error) = self.inner.read_payload(entry, ReadPattern::Sequential) {
                self.report_page("images_are_whole", entry, error, RESTORE);
            }
        }
    }

    /// No byte belongs to two pages.
    fn images_do_not_overlap(&mut self) {
        let mut entries = Vec::new();
        self.writer
            .contents
            .pages
            .for_each(&mut |entry| entries.push(entry));
        entries.sort_unstable_by_key(|entry| entry.offset);
        for pair in entries.windows(2) {
            if pair[0].offset + image_bytes(&pair[0]) > pair[1].offset {
                let what = format!("it overlaps page {}", pair[0].page);
                self.report_page("images_do_not_overlap", &pair[1], what, REBUILD);
            }
        }
    }

    /// Every block up to the end is a superblock, in a run, in a map chunk, set aside, or free,
    /// and only one of these.
    fn blocks_have_one_use(&mut self) {
        const NAME: &str = "blocks_have_one_use";
        let writer = self.writer;
        let runs = writer.contents.runs.iter().map(|(extent, _)| extent);
        let dead = writer.contents.runs.dead().map(|dead| dead.extent);
        let chunks = writer.chunks.iter().map(|(extent, _)| *extent);
        let tail = writer.space.tail.map(|start| Extent { start, count: 1 });
        let free = writer.space.free.extents();
        let mut uses: Vec<_> = runs
            .chain(dead)
            .chain(chunks)
            .chain(tail)
            .chain(free)
            .collect();
        uses.extend((writer.space.reserve.count > 0).then_some(writer.space.reserve));
        uses.sort_unstable();
        let mut end = FIRST_RUN_BLOCK;
        for extent in uses {
            if extent.start != end {
                let what = if extent.start < end {
                    "two uses"
                } else {
                    "no use"
                };
                let offset = Some(extent.start.min(end) * BLOCK_BYTES);
                self.report(NAME, offset, format!("the block has {what}"), REPORT);
            }
            end = extent.end().max(end);
        }
        if end != writer.space.free.end() {
            self.report(
                NAME,
                Some(end * BLOCK_BYTES),
                "the last blocks have no use",
                REPORT,
            );
        }
    }

    /// The live images and bytes counted for every run are those of the map.
    fn the_counts_agree(&mut self) {
        const NAME: &str = "the_counts_agree";
        let runs = &self.writer.contents.runs;
        let mut counted: BTreeMap<u64, (u32, u64)> = BTreeMap::new();
        self.writer.contents.pages.for_each(&mut |entry| {
            if let Some((start, _)) = runs.containing(entry.offset) {
                let count = counted.entry(start).or_default();
                *count = (count.0 + 1, count.1 + image_bytes(&entry));
            }
        });
        let wrong: Vec<_> = runs
            .iter()
            .filter(|(extent, run)| {
                counted.get(&extent.start).copied().unwrap_or_default()
                    != (run.live_images, run.live_bytes)
            })
            .map(|(extent, _)| extent.start * BLOCK_BYTES)
            .collect();
        for offset in wrong {
            self.report(
                NAME,
                Some(offset),
                "the run's count of live images is wrong",
                REPORT,
            );
        }
    }

    /// The file is as long as its blocks say, or ends in blocks of a write that was given up.
    fn the_file_ends_where_it_should(&mut self) {
        const NAME: &str = "the_file_ends_where_it_should";
        let end = self.writer.space.free.end() * BLOCK_BYTES;
        let data_end = self.writer.superblock.data_end;
        match self.inner.disk.len() {
            Ok(bytes) if bytes < data_end && data_end > FIRST_RUN_OFFSET => {
                self.report(NAME, Some(bytes), "the file is too short", REBUILD);
            }
            Ok(bytes) if bytes < end && end > FIRST_RUN_BLOCK * BLOCK_BYTES => {
                self.report(
                    NAME,
                    Some(bytes),
                    "free blocks at the end are missing",
                    REWRITE,
                );
            }
            Ok(_) => {}
            Err(error) => self.report(NAME, None, error, RESTORE),
        }
    }
}
