//! The pages of a scan: what it reads from the disk, and what it will need next.
//!
//! Equation 6.1 of paper 2 supposes that I/O and processing overlap: a scan reads ahead in large requests, so that it decodes while the disk works and takes
//! the longer of both, not their sum. A scan whose pages are in memory must not pay for that, so reading ahead begins when the first pages that the scan will need are not in memory as it
//! is opened, or when a reader had to wait for the disk.
//!
//! From then on, whenever a reader begins a row group, what is missing of it and the pages of the row groups behind it are requested until a window of bytes
//! is on its way or waits to be read ([`read_ahead_window`](super::read_ahead_window)). The window doubles as often as a reader waits for a page of it. Which
//! columns a scan reads is known from the row groups before: those that at least half of them opened; columns of the output are not opened where no row
//! passes the filters. Before the first row group it is those of the filters, and without filters those of the output. Row groups that zones exclude are left
//! out, and so are columns whose values are in the pool. Metadata is requested for many row groups at once, well before it is needed to name segments.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quire_format::row_group::RowGroup;
use quire_store::{
    PageId, PageReadError, ReadAhead, ReadAheadPage, ReadAheadSource, ReadAheadStatistics,
};

use super::read_ahead_window::{BegunRowGroup, ScanPageSource, ScanWindow, WindowSource, ZoneTest};
use super::row_group_requests::ScanColumns;
use crate::error::EngineError;
use crate::table::ColumnTable;

/// Pages that need not be read.
pub(crate) struct KnownPages {
    pub(crate) ids: Vec<PageId>,
    /// Their payloads, joined.
    pub(crate) payload: Arc<[u8]>,
}

/// What the readers of a scan have in common when they read pages.
pub(super) struct ScanPages {
    table: Arc<ColumnTable>,
    known: Option<KnownPages>,
    /// Nothing if the table has no version of the volume that stays.
    ahead: Option<ReadAhead>,
    window_bytes_max: u64,
    /// Whether decoded columns are kept in memory instead of pages of segments.
    pools: bool,
    columns: ScanColumns,
    /// Whether it reads ahead: a reader had to wait for the disk, or will have to.
    is_engaged: AtomicBool,
    /// Readers that have not ended.
    readers: AtomicUsize,
    window: Mutex<ScanWindow>,
}

impl ScanPages {
    /// The pages of a scan that has at most `window_bytes_max` bytes on their way; 0: it does not read ahead. `pools`: decoded columns are kept in memory. It reads the columns of the filters, which
    /// may repeat, and those of the output where rows pass. Numbers that no column has stand for what is not read.
    pub(super) fn new(
        table: &Arc<ColumnTable>,
        (window_bytes_max, pools): (u64, bool),
        filter_columns: impl IntoIterator<Item = usize>,
        output_columns: impl IntoIterator<Item = usize>,
        known: Option<KnownPages>,
    ) -> Self {
        let column_count = table.definition().columns.len();
        let columns = ScanColumns::new(column_count, filter_columns, output_columns);
        Self {
            ahead: table.source().read_ahead(),
            table: Arc::clone(table),
            known,
            window_bytes_max,
            pools,
            is_engaged: AtomicBool::new(false),
            readers: AtomicUsize::new(0),
            window: Mutex::new(ScanWindow::new(window_bytes_max, &columns, column_count)),
            columns,
        }
    }

    /// The payloads of some pages of metadata, joined.
    pub(super) fn read(&self, ids: &[PageId]) -> Result<Arc<[u8]>, EngineError> {
        self.read_by(ids, ReadAhead::read)
    }

    /// The payloads of the pages of a segment or block, joined.
    pub(super) fn read_segment(&self, ids: &[PageId]) -> Result<Arc<[u8]>, EngineError> {
        if self.pools {
            self.read_by(ids, ReadAhead::read_once)
        } else {
            self.read_by(ids, ReadAhead::read)
        }
    }

    fn read_by(
        &self,
        ids: &[PageId],
        read: fn(&ReadAhead, PageId) -> Result<ReadAheadPage, PageReadError>,
    ) -> Result<Arc<[u8]>, EngineError> {
        if let Some(known) = self.known.as_ref().filter(|known| known.ids == ids) {
            return Ok(Arc::clone(&known.payload));
        }
        let Some(ahead) = &self.ahead else {
            return self.table.source().read(ids);
        };
        let mut has_waited = false;
        let payload = self.table.source().read_by(ids, |page| {
            let read = read(ahead, page)?;
            has_waited |= read.source == ReadAheadSource::Disk || !read.wait.is_zero();
            Ok(read.payload)
        })?;
        if has_waited && self.window_bytes_max > 0 {
            self.is_engaged.store(true, Ordering::Relaxed);
            self.lock().note_wait(self.window_bytes_max);
        }
        Ok(payload)
    }

    /// The scan is opened, and will read the row groups `upcoming`. If what its first reader needs is on the disk, it is requested before that reader
    /// comes: of the scans of one query the later ones are often opened long before they are read. Nothing is requested while other scans have
    /// most of what all of them may have.
    pub(super) fn open(&self, upcoming: &VecDeque<usize>, may_skip: ZoneTest<'_>) {
        let Some(source) = self.window_source(upcoming, may_skip) else {
            return;
        };
        let mut window = self.lock();
        if window.is_first_on_disk(&source) && !source.scan.ahead.is_crowded() {
            self.is_engaged.store(true, Ordering::Relaxed);
            window.fill(&source, &[]);
        }
    }

    /// A reader begins a row group, or finds that nothing in it is to be read; `upcoming` are those that no reader has begun. The cursor calls this in
    /// the order of the row groups. True if zones are known to exclude it.
    pub(super) fn begin(
        &self,
        index: usize,
        upcoming: &VecDeque<usize>,
        may_skip: ZoneTest<'_>,
    ) -> bool {
        if self.ahead.is_none() {
            return false;
        }
        let mut window = self.lock();
        let is_excluded = window.begin(index);
        if self.is_engaged.load(Ordering::Relaxed)
            && let Some(source) = self.window_source(upcoming, may_skip)
        {
            window.fill(&source, &[]);
        }
        is_excluded
    }

    /// A reader has the metadata of the row group that it has begun, and is to read it. If the window did not have it, its pages are requested together
    /// with those of the row groups behind it, before the reader waits for the first of them.
    pub(super) fn begin_columns(
        &self,
        index: usize,
        row_group: &RowGroup,
        upcoming: &VecDeque<usize>,
        may_skip: ZoneTest<'_>,
    ) {
        if self.is_engaged.load(Ordering::Relaxed)
            && let Some(source) = self.window_source(upcoming, may_skip)
        {
            self.lock().request_begun(&source, index, row_group);
        }
    }

    /// The metadata of a row group is in memory. If another scan has read it, the pages that this one has asked for are not needed.
    pub(super) fn forget_metadata(&self, index: usize) {
        if let Some(ahead) = &self.ahead
            && self.is_engaged.load(Ordering::Relaxed)
        {
            ahead.release(self.table.metadata_pages(index));
        }
    }

    pub(super) fn begin_reader(&self) {
        self.readers.fetch_add(1, Ordering::Relaxed);
    }

    /// A reader ends. The last one lets go of all that was read ahead: a plan may keep the scan for as long as its statement runs.
    pub(super) fn end_reader(&self) {
        let mut window = self.lock();
        if self.readers.fetch_sub(1, Ordering::Relaxed) > 1 {
            return;
        }
        window.forget_requests();
        if let Some(ahead) = &self.ahead {
            ahead.release_all();
        }
    }

    /// Nothing of the row group is to be read after all.
    pub(super) fn skip(&self, index: usize) {
        let begun = self.lock().skip(index);
        self.release(begun);
    }

    /// A further reader is in the row group.
    pub(super) fn enter(&self, index: usize) {
        if self.ahead.is_some() {
            self.lock().enter(index);
        }
    }

    /// A reader leaves the row group. With the last of them go the pages that nobody has read. Another that comes later reads for itself.
    pub(super) fn leave(&self, index: usize) {
        let begun = self.lock().leave(index);
        self.release(begun);
    }

    /// A reader opens a column of a row group.
    pub(super) fn note_open(&self, index: usize, column: usize) {
        let Some(source) = self.source() else {
            return;
        };
        let mut window = self.lock();
        window.note_open(index, column);
        if self.is_engaged.load(Ordering::Relaxed) {
            window.request_output(&source, index, column);
        }
    }

    /// What the disk did for the scan.
    pub(super) fn disk_work(&self) -> ReadAheadStatistics {
        let ahead = self.ahead.as_ref().map(ReadAhead::statistics);
        ahead.unwrap_or_default()
    }

    fn release(&self, begun: Option<BegunRowGroup>) {
        if let (Some(ahead), Some(begun)) = (&self.ahead, begun)
            && !begun.pages.is_empty()
        {
            ahead.release(&begun.pages);
        }
    }

    fn source(&self) -> Option<ScanPageSource<'_>> {
        self.ahead.as_ref().map(|ahead| ScanPageSource {
            table: &self.table,
            ahead,
            pools: self.pools,
            columns: &self.columns,
        })
    }

    /// What the window is filled from, unless the scan does not read ahead.
    fn window_source<'a>(
        &'a self,
        upcoming: &'a VecDeque<usize>,
        may_skip: ZoneTest<'a>,
    ) -> Option<WindowSource<'a>> {
        let scan = self.source().filter(|_| self.window_bytes_max > 0)?;
        Some(WindowSource {
            scan,
            upcoming,
            may_skip,
        })
    }

    fn lock(&self) -> MutexGuard<'_, ScanWindow> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
