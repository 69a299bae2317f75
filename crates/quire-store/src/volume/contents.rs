//! What the committed batches made of the volume: its pages and the runs they lie in.

use std::collections::BTreeSet;

use quire_format::volume::{PageEntry, PageId, PageRange};

use super::free_space::Extent;
use super::page_map::PageMap;
use super::runs::LogRuns;

/// The state after the newest commit, and what changed since the newest checkpoint.
#[derive(Default)]
pub(super) struct VolumeContents {
    pub(super) pages: PageMap,
    pub(super) runs: LogRuns,
    pub(super) commit_sequence: u64,
    /// Lowest sequence that no batch has used.
    pub(super) next_sequence: u64,
    /// Lowest page that was never given out.
    pub(super) next_page: u64,
    pub(super) changed_pages: BTreeSet<PageId>,
    /// First blocks.
    pub(super) changed_runs: BTreeSet<u64>,
}

/// A batch, as far as the contents are concerned.
pub(super) struct BatchEffect<'a> {
    pub(super) sequence: u64,
    pub(super) next_page: u64,
    pub(super) runs: &'a [Extent],
    /// Later ones win.
    pub(super) entries: &'a [PageEntry],
    pub(super) freed: &'a [PageRange],
}

impl VolumeContents {
    /// Applies a committed batch.
    ///
    /// # Errors
    /// The first block of a run that overlaps another one; the contents are then useless.
    pub(super) fn apply(&mut self, batch: &BatchEffect<'_>) -> Result<(), u64> {
        let mut touched = BTreeSet::new();
        for extent in batch.runs {
            if !self.runs.add(*extent, false) {
                return Err(extent.start);
            }
            touched.insert(extent.start);
        }
        for entry in batch.entries {
            if let Some(old) = self.pages.insert(*entry) {
                touched.insert(self.runs.remove_image(&old));
            }
            assert!(
                self.runs.add_image(entry),
                "page {} lies outside its batch",
                entry.page
            );
            self.changed_pages.insert(entry.page);
        }
        for range in batch.freed {
            for entry in self.pages.range(*range) {
                self.pages.remove(entry.page);
                touched.insert(self.runs.remove_image(&entry));
                self.changed_pages.insert(entry.page);
            }
        }
        for start in &touched {
            self.runs.bury(*start, batch.sequence);
        }
        // Not `append`, which would build the whole set anew.
        self.changed_runs.extend(touched);
        self.commit_sequence = batch.sequence;
        self.next_sequence = batch.sequence + 1;
        self.next_page = self.next_page.max(batch.next_page);
        Ok(())
    }
}
