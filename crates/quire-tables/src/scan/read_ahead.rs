//! The pages of a scan: what it reads from the disk, and what it will need next.
//!
//! Paper 2 (§6.2.1): the storage manager reads ahead in large requests, so that a scan decodes while the disk works and takes the longer of both, not their
//! sum. A scan whose pages are in memory must not pay for that, so reading ahead begins when a reader had to wait for the disk.
//!
//! From then on, whenever a reader begins a row group, the pages of the row groups behind it are requested until a window of bytes is on its way or waits to
//! be read. The window doubles as often as a reader waits for a page of it. Which columns a scan reads is known from the row groups before: those
//! that at least half of them opened; columns of the output are not opened where no row passes the filters. Row groups that zones exclude are left out.
//! Metadata is requested for many row groups at once, well before it is needed to name segments.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quire_format::row_group::RowGroup;
use quire_store::{PageId, ReadAhead, ReadAheadSource, ReadAheadStatistics};

use crate::error::EngineError;
use crate::table::ColumnTable;

/// The window of a scan that had to wait for the disk once.
const WINDOW_BYTES_MIN: u64 = 2 << 20;

/// Row groups whose metadata is requested at once.
const METADATA_ROW_GROUPS: usize = 64;

/// Row groups that are read ahead at most. Those that zones exclude count: their metadata is read by the one reader that looks for others.
const REQUESTED_ROW_GROUPS_MAX: usize = 128;

/// Metadata is requested when that of fewer row groups is known or on its way.
const METADATA_ROW_GROUPS_MIN: usize = 32;

/// Whether no row of a row group can pass the predicates, by its zones.
pub(super) type ZoneTest<'a> = &'a dyn Fn(&Arc<RowGroup>) -> bool;

/// What the readers of a scan have in common when they read pages.
pub(super) struct ScanPages {
    table: Arc<ColumnTable>,
    /// Nothing if the table has no version of the volume that stays.
    ahead: Option<ReadAhead>,
    window_bytes_max: u64,
    /// A reader had to wait for the disk.
    is_engaged: AtomicBool,
    state: Mutex<ScanPagesState>,
}

struct ScanPagesState {
    /// Readers that have not ended.
    readers: usize,
    window_bytes: u64,
    /// The first row groups that no reader has begun, whose pages are requested.
    requested: VecDeque<RequestedRowGroup>,
    /// Those behind them whose pages are to be requested when other scans let go of what all of them may have.
    waiting: VecDeque<RequestedRowGroup>,
    /// Behind these, for so many row groups metadata is in memory or requested.
    metadata_requested: usize,
    /// Pages requested for the row groups that readers are in.
    begun: BTreeMap<usize, BegunRowGroup>,
    /// Row groups that readers have opened a column of.
    opened_row_groups: u32,
    /// Of these, how many opened each column.
    opened_columns: Vec<u32>,
}

/// A row group, and the pages of it that are requested.
struct RequestedRowGroup {
    index: usize,
    pages: Vec<PageId>,
    bytes: u64,
}

/// What the window of a scan is filled from.
struct WindowSource<'a> {
    pages: &'a ScanPages,
    ahead: &'a ReadAhead,
    /// Row groups that no reader has begun, in their order.
    upcoming: &'a VecDeque<usize>,
    may_skip: ZoneTest<'a>,
}

#[derive(Default)]
struct BegunRowGroup {
    /// Readers that are in it.
    readers: usize,
    pages: Vec<PageId>,
    /// For each column whether it has been opened; empty until one has.
    opened_columns: Vec<bool>,
}

impl ScanPages {
    /// The pages of a scan that has at most `window_bytes_max` bytes on their way; 0: it does not read ahead.
    pub(super) fn new(table: &Arc<ColumnTable>, window_bytes_max: u64) -> Self {
        let state = ScanPagesState {
            readers: 0,
            window_bytes: WINDOW_BYTES_MIN.min(window_bytes_max),
            requested: VecDeque::new(),
            waiting: VecDeque::new(),
            metadata_requested: 0,
            begun: BTreeMap::new(),
            opened_row_groups: 0,
            opened_columns: vec![0; table.definition().columns.len()],
        };
        Self {
            ahead: table.source().read_ahead(),
            table: Arc::clone(table),
            window_bytes_max,
            is_engaged: AtomicBool::new(false),
            state: Mutex::new(state),
        }
    }

    /// The payloads of some pages, joined.
    pub(super) fn read(&self, ids: &[PageId]) -> Result<Arc<[u8]>, EngineError> {
        let mut has_waited = false;
        let payload = self.read_noting(ids, &mut has_waited)?;
        if has_waited {
            self.note_wait();
        }
        Ok(payload)
    }

    /// The same, for a caller who has the lock of the state.
    fn read_noting(&self, ids: &[PageId], has_waited: &mut bool) -> Result<Arc<[u8]>, EngineError> {
        let Some(ahead) = &self.ahead else {
            return self.table.source().read(ids);
        };
        self.table.source().read_by(ids, |page| {
            let read = ahead.read(page)?;
            *has_waited |= read.source == ReadAheadSource::Disk || !read.wait.is_zero();
            Ok(read.payload)
        })
    }

    /// A reader waited for the disk: reading ahead begins, or goes further ahead.
    fn note_wait(&self) {
        if self.window_bytes_max == 0 {
            return;
        }
        if self.is_engaged.swap(true, Ordering::Relaxed) {
            let mut state = self.lock();
            let doubled = state.window_bytes.saturating_mul(2);
            state.window_bytes = doubled.min(self.window_bytes_max);
        }
    }

    /// A reader begins a row group, or finds that nothing in it is to be read; `upcoming` are those that no reader has begun. The cursor calls this in
    /// the order of the row groups.
    pub(super) fn begin(&self, index: usize, upcoming: &VecDeque<usize>, may_skip: ZoneTest<'_>) {
        let Some(ahead) = &self.ahead else {
            return;
        };
        let mut state = self.lock();
        let begun = state.take(index);
        state.begun.insert(index, begun);
        if self.is_engaged.load(Ordering::Relaxed) {
            let window = WindowSource {
                pages: self,
                ahead,
                upcoming,
                may_skip,
            };
            state.fill_window(&window);
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
        self.lock().readers += 1;
    }

    /// A reader ends. The last one lets go of all that was read ahead: a plan may keep the scan for as long as its statement runs.
    pub(super) fn end_reader(&self) {
        let mut state = self.lock();
        state.readers = state.readers.saturating_sub(1);
        if state.readers > 0 {
            return;
        }
        state.forget_requests();
        if let Some(ahead) = &self.ahead {
            ahead.release_all();
        }
    }

    /// Nothing of the row group is to be read after all.
    pub(super) fn skip(&self, index: usize) {
        let mut state = self.lock();
        let begun = state.begun.remove(&index);
        drop(state);
        self.release(begun);
    }

    /// A further reader is in the row group.
    pub(super) fn enter(&self, index: usize) {
        if self.ahead.is_some() {
            self.lock().begun.entry(index).or_default().readers += 1;
        }
    }

    /// A reader leaves the row group. With the last of them go the pages that nobody has read. Another that comes later reads for itself.
    pub(super) fn leave(&self, index: usize) {
        let mut state = self.lock();
        let Some(begun) = state.begun.get_mut(&index) else {
            return;
        };
        begun.readers = begun.readers.saturating_sub(1);
        if begun.readers > 0 {
            return;
        }
        let begun = state.begun.remove(&index);
        drop(state);
        self.release(begun);
    }

    /// A reader opens a column of a row group.
    pub(super) fn note_open(&self, index: usize, column: usize) {
        if self.ahead.is_none() {
            return;
        }
        let mut state = self.lock();
        let column_count = state.opened_columns.len();
        let begun = state.begun.entry(index).or_default();
        let is_first = begun.opened_columns.is_empty();
        begun.opened_columns.resize(column_count, false);
        let is_new = begun.opened_columns.get_mut(column);
        let is_new = is_new.is_some_and(|is_opened| !std::mem::replace(is_opened, true));
        state.opened_row_groups += u32::from(is_first);
        if let Some(count) = state.opened_columns.get_mut(column) {
            *count += u32::from(is_new);
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

    fn lock(&self) -> MutexGuard<'_, ScanPagesState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScanPagesState {
    /// Takes the first of the row groups that no reader has begun.
    fn take(&mut self, index: usize) -> BegunRowGroup {
        let is_it = |first: Option<&RequestedRowGroup>| first.is_some_and(|it| it.index == index);
        let mut pages = Vec::new();
        if is_it(self.requested.front()) {
            pages = self.requested.pop_front().map_or(pages, |it| it.pages);
        } else if is_it(self.waiting.front()) {
            self.waiting.pop_front();
        } else {
            debug_assert_eq!(self.planned(), 0, "readers begin row groups in their order");
            self.metadata_requested = self.metadata_requested.saturating_sub(1);
        }
        BegunRowGroup {
            pages,
            ..BegunRowGroup::default()
        }
    }

    /// Nothing is on its way any more.
    fn forget_requests(&mut self) {
        self.requested.clear();
        self.waiting.clear();
        self.metadata_requested = 0;
        self.begun
            .values_mut()
            .for_each(|begun| begun.pages.clear());
    }

    /// Row groups in front whose pages are requested, or are to be.
    fn planned(&self) -> usize {
        self.requested.len() + self.waiting.len()
    }

    /// Requests pages until the window is full, once half of it is empty: the same column of many row groups comes with one request.
    fn fill_window(&mut self, source: &WindowSource<'_>) {
        let on_their_way = self.requested.iter().map(|it| it.bytes);
        let mut on_their_way = on_their_way.fold(0, u64::saturating_add);
        self.request_metadata(source);
        if on_their_way > self.window_bytes / 2
            || self.requested.len() > REQUESTED_ROW_GROUPS_MAX / 2
        {
            return;
        }
        // What waits was refused: nothing is added to it.
        if self.waiting.is_empty() {
            while on_their_way < self.window_bytes
                && self.planned() < REQUESTED_ROW_GROUPS_MAX
                && let Some(next) = self.next_request(source)
            {
                on_their_way = on_their_way.saturating_add(next.bytes);
                self.waiting.push_back(next);
                self.metadata_requested -= 1;
                self.request_metadata(source);
            }
        }
        self.request_waiting(source.ahead);
    }

    /// What the next row group to come is expected to need. Nothing at the end, while its metadata is not here, as no reader is to wait for that
    /// of another row group, or if it cannot be read: its reader reports why.
    fn next_request(&self, source: &WindowSource<'_>) -> Option<RequestedRowGroup> {
        let index = *source.upcoming.get(self.planned())?;
        let (pages, ahead) = (source.pages, source.ahead);
        let mut unread = pages.table.unread_metadata(index).iter();
        if self.metadata_requested == 0 || !unread.all(|page| ahead.is_ready(*page)) {
            return None;
        }
        let read = |ids: &[PageId]| pages.read_noting(ids, &mut false);
        let row_group = pages.table.row_group_by(index, read).ok()?;
        pages.forget_metadata(index);
        Some(match (source.may_skip)(&row_group) {
            true => RequestedRowGroup::of(index, &row_group, []),
            false => RequestedRowGroup::of(index, &row_group, self.wanted_columns()),
        })
    }

    /// Requests the pages of the row groups that wait, as far as the bound for all scans permits.
    fn request_waiting(&mut self, ahead: &ReadAhead) {
        let pages = self.waiting.iter().flat_map(|it| it.pages.iter().copied());
        let pages: Vec<PageId> = pages.collect();
        let mut accepted = match pages.is_empty() {
            true => 0,
            false => ahead.request(&pages).pages,
        };
        while let Some(mut row_group) = self.waiting.pop_front() {
            if accepted == 0 && !row_group.pages.is_empty() {
                self.waiting.push_front(row_group);
                return;
            }
            row_group.pages.truncate(accepted);
            accepted -= row_group.pages.len();
            self.requested.push_back(row_group);
        }
    }

    /// Requests metadata of row groups to come when that of few is known.
    fn request_metadata(&mut self, source: &WindowSource<'_>) {
        if self.metadata_requested >= METADATA_ROW_GROUPS_MIN {
            return;
        }
        let from = self.planned() + self.metadata_requested;
        let indexes = source.upcoming.iter().skip(from).take(METADATA_ROW_GROUPS);
        let unread = indexes.map(|&index| source.pages.table.unread_metadata(index));
        let unread: Vec<&[PageId]> = unread.collect();
        let pages = unread.concat();
        let mut accepted = match pages.is_empty() {
            true => 0,
            false => source.ahead.request(&pages).pages,
        };
        for pages in unread {
            if pages.len() > accepted {
                return;
            }
            accepted -= pages.len();
            self.metadata_requested += 1;
        }
    }

    /// The columns that at least half of the row groups so far have opened.
    fn wanted_columns(&self) -> impl Iterator<Item = usize> {
        let is_wanted = |count: u32| count > 0 && 2 * count >= self.opened_row_groups;
        let columns = self.opened_columns.iter().enumerate();
        columns.filter_map(move |(column, count)| is_wanted(*count).then_some(column))
    }
}

impl RequestedRowGroup {
    /// All pages of some columns. Those of a row group with a block are the same.
    fn of(index: usize, row_group: &RowGroup, columns: impl IntoIterator<Item = usize>) -> Self {
        let mut request = RequestedRowGroup {
            index,
            pages: Vec::new(),
            bytes: 0,
        };
        for column in columns {
            request.pages.extend(row_group.column_pages(column));
            let bytes = row_group.column_image_bytes(column);
            request.bytes = request.bytes.saturating_add(bytes);
            if row_group.has_block() {
                break;
            }
        }
        request
    }
}
