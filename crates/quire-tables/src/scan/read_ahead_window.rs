//! The window of a scan: row groups in front of its readers whose pages are on their way, or wait to be read.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use quire_format::row_group::RowGroup;
use quire_store::{PageId, ReadAhead};

use super::pooled_column::PooledColumn;
use super::row_group_requests::{RequestedRowGroup, ScanColumns};
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

/// Row groups that are looked at when a scan is opened, to find one that zones do not exclude.
const OPENED_ROW_GROUPS_MAX: usize = 8;

/// Whether no row of a row group can pass the predicates, by its zones. If it says so once, the row group is not read.
pub(super) type ZoneTest<'a> = &'a dyn Fn(&Arc<RowGroup>) -> bool;

/// What a scan reads, and how it asks for it.
pub(super) struct ScanPageSource<'a> {
    pub(super) table: &'a ColumnTable,
    pub(super) ahead: &'a ReadAhead,
    /// Whether decoded columns are kept in memory instead of pages of segments.
    pub(super) pools: bool,
    pub(super) columns: &'a ScanColumns,
}

/// What the window of a scan is filled from.
pub(super) struct WindowSource<'a> {
    pub(super) scan: ScanPageSource<'a>,
    /// Row groups that no reader has begun, in their order.
    pub(super) upcoming: &'a VecDeque<usize>,
    pub(super) may_skip: ZoneTest<'a>,
}

/// What is requested for a scan, and what that follows from.
pub(super) struct ScanWindow {
    /// A reader had to wait for the disk.
    has_waited: bool,
    bytes: u64,
    /// The first row groups that no reader has begun, whose pages are requested.
    requested: VecDeque<RequestedRowGroup>,
    /// Those behind them whose pages are to be requested when other scans let go of what all of them may have.
    waiting: VecDeque<RequestedRowGroup>,
    /// Columns with which all row groups in `requested` were requested.
    requested_columns: Vec<usize>,
    /// Behind those that wait, for so many row groups metadata is in memory or requested.
    metadata_requested: usize,
    /// The row groups that readers are in.
    begun: BTreeMap<usize, BegunRowGroup>,
    /// Row groups that readers have opened a column of.
    opened_row_groups: u32,
    /// Of these, how many opened each column.
    opened_columns: Vec<u32>,
}

/// A row group that readers are in, and the pages that are requested for it.
#[derive(Default)]
pub(super) struct BegunRowGroup {
    readers: usize,
    pub(super) pages: Vec<PageId>,
    /// The window had it, with the columns that were wanted then.
    is_requested: bool,
    is_excluded: bool,
    /// The columns of the output were requested together.
    is_output_requested: bool,
    /// For each column whether it has been opened; empty until one has.
    opened_columns: Vec<bool>,
}

impl ScanPageSource<'_> {
    /// The metadata of a row group, if it can be read without waiting for the disk.
    fn row_group(&self, index: usize) -> Option<Arc<RowGroup>> {
        let mut unread = self.table.unread_metadata(index).iter();
        if !unread.all(|page| self.ahead.is_ready(*page)) {
            return None;
        }
        // Who reads the row group reports why it cannot be read.
        let read = |ids: &[PageId]| -> Result<_, EngineError> {
            let source = self.table.source();
            source.read_by(ids, |page| Ok(self.ahead.read(page)?.payload))
        };
        self.table.row_group_by(index, read).ok()
    }

    /// What is to be read for some columns of a row group.
    fn needed(
        &self,
        index: usize,
        row_group: &RowGroup,
        columns: impl IntoIterator<Item = usize>,
    ) -> RequestedRowGroup {
        let is_in_pool = |column: usize| {
            let pooled = PooledColumn::of(self.table.source(), row_group, column);
            pooled.is_some_and(|pooled| pooled.is_there())
        };
        let columns = columns.into_iter();
        let columns = columns.filter(|column| !self.pools || !is_in_pool(*column));
        RequestedRowGroup::of(index, row_group, columns)
    }

    /// Requests pages of segments, and returns how many were accepted.
    fn request(&self, pages: &[PageId]) -> usize {
        if self.pools && !pages.is_empty() {
            return self.ahead.request_once(pages).pages;
        }
        accepted(self.ahead, pages)
    }
}

impl ScanWindow {
    pub(super) fn new(bytes_max: u64, columns: &ScanColumns, column_count: usize) -> Self {
        ScanWindow {
            has_waited: false,
            bytes: WINDOW_BYTES_MIN.min(bytes_max),
            requested: VecDeque::new(),
            waiting: VecDeque::new(),
            requested_columns: columns.first.clone(),
            metadata_requested: 0,
            begun: BTreeMap::new(),
            opened_row_groups: 0,
            opened_columns: vec![0; column_count],
        }
    }

    /// A reader waited for the disk. From the second time on the window doubles.
    pub(super) fn note_wait(&mut self, bytes_max: u64) {
        if std::mem::replace(&mut self.has_waited, true) {
            self.bytes = self.bytes.saturating_mul(2).min(bytes_max);
        }
    }

    /// Begins the first of the row groups that no reader has begun. True if zones are known to exclude it.
    pub(super) fn begin(&mut self, index: usize) -> bool {
        let is_it = |first: Option<&RequestedRowGroup>| first.is_some_and(|it| it.index == index);
        let mut begun = BegunRowGroup::default();
        if is_it(self.requested.front()) {
            if let Some(requested) = self.requested.pop_front() {
                begun.is_requested = true;
                begun.is_excluded = requested.is_excluded;
                begun.pages = requested.pages;
            }
        } else if is_it(self.waiting.front()) {
            let waiting = self.waiting.pop_front();
            begun.is_excluded = waiting.is_some_and(|it| it.is_excluded);
        } else {
            debug_assert_eq!(self.planned(), 0, "readers begin row groups in their order");
            self.metadata_requested = self.metadata_requested.saturating_sub(1);
        }
        let is_excluded = begun.is_excluded;
        self.begun.insert(index, begun);
        is_excluded
    }

    /// A row group that has been begun is to be read, and `row_group` is its metadata. If it was not in the window, its pages are requested together with
    /// those of the row groups behind it.
    pub(super) fn request_begun(
        &mut self,
        source: &WindowSource<'_>,
        index: usize,
        row_group: &RowGroup,
    ) {
        let is_requested = |begun: &BegunRowGroup| begun.is_requested;
        if self.begun.get(&index).is_none_or(is_requested) {
            return;
        }
        let wanted = self.wanted_columns(source.scan.columns);
        let mut pages = source.scan.needed(index, row_group, wanted).pages;
        let accepted = self.fill(source, &pages);
        pages.truncate(accepted);
        if let Some(begun) = self.begun.get_mut(&index) {
            begun.pages = pages;
        }
    }

    /// Nothing of a row group is to be read after all.
    pub(super) fn skip(&mut self, index: usize) -> Option<BegunRowGroup> {
        self.begun.remove(&index)
    }

    /// A further reader is in the row group.
    pub(super) fn enter(&mut self, index: usize) {
        self.begun.entry(index).or_default().readers += 1;
    }

    /// A reader leaves the row group; returns it with the last of them.
    pub(super) fn leave(&mut self, index: usize) -> Option<BegunRowGroup> {
        let begun = self.begun.get_mut(&index)?;
        begun.readers = begun.readers.saturating_sub(1);
        match begun.readers {
            0 => self.begun.remove(&index),
            _ => None,
        }
    }

    /// A reader opens a column of a row group.
    pub(super) fn note_open(&mut self, index: usize, column: usize) {
        let column_count = self.opened_columns.len();
        let begun = self.begun.entry(index).or_default();
        let is_first = begun.opened_columns.is_empty();
        begun.opened_columns.resize(column_count, false);
        let is_new = begun.opened_columns.get_mut(column);
        let is_new = is_new.is_some_and(|is_opened| !std::mem::replace(is_opened, true));
        self.opened_row_groups += u32::from(is_first);
        if let Some(count) = self.opened_columns.get_mut(column) {
            *count += u32::from(is_new);
        }
    }

    /// Nothing is on its way any more.
    pub(super) fn forget_requests(&mut self) {
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

    /// Whether what the first reader of a scan needs first is on the disk. Zones are asked only if it might be, and what they exclude is remembered: a
    /// scan whose pages are in memory asks them as often as without.
    pub(super) fn is_first_on_disk(&mut self, source: &WindowSource<'_>) -> bool {
        for &index in source.upcoming.iter().take(OPENED_ROW_GROUPS_MAX) {
            let scan = &source.scan;
            let Some(row_group) = scan.row_group(index) else {
                return true;
            };
            let first = scan.columns.first.iter().copied();
            let first = scan.needed(index, &row_group, first);
            if first.pages.iter().all(|page| scan.ahead.is_ready(*page)) {
                return false;
            }
            if !(source.may_skip)(&row_group) {
                return true;
            }
            self.requested.push_back(RequestedRowGroup::excluded(index));
        }
        false
    }

    /// Requests the pages `first`, and others until the window is full, once half of it is empty: the same column of many row groups comes with one
    /// request. Returns how many of `first` were accepted.
    pub(super) fn fill(&mut self, source: &WindowSource<'_>, first: &[PageId]) -> usize {
        let wanted = self.wanted_columns(source.scan.columns);
        self.complete_requests(&source.scan, wanted);
        self.request_metadata(source);
        let mut on_their_way = self.bytes_on_their_way();
        if on_their_way > self.bytes / 2 || self.requested.len() > REQUESTED_ROW_GROUPS_MAX / 2 {
            return source.scan.request(first);
        }
        // What waits was refused: nothing is added to it.
        if self.waiting.is_empty() {
            while on_their_way < self.bytes
                && self.planned() < REQUESTED_ROW_GROUPS_MAX
                && let Some(next) = self.next_request(source)
            {
                on_their_way = on_their_way.saturating_add(next.bytes);
                self.waiting.push_back(next);
                self.metadata_requested -= 1;
                self.request_metadata(source);
            }
        }
        self.request_waiting(&source.scan, first)
    }

    fn bytes_on_their_way(&self) -> u64 {
        let bytes = self.requested.iter().map(|it| it.bytes);
        bytes.fold(0, u64::saturating_add)
    }

    /// What the next row group to come is expected to need. Nothing at the end, while its metadata is not here, as no reader is to wait for that
    /// of another row group, or if it cannot be read.
    fn next_request(&self, source: &WindowSource<'_>) -> Option<RequestedRowGroup> {
        let index = *source.upcoming.get(self.planned())?;
        if self.metadata_requested == 0 {
            return None;
        }
        let row_group = source.scan.row_group(index)?;
        // If another scan has read it, what this one has asked for is not needed.
        let metadata = source.scan.table.metadata_pages(index);
        source.scan.ahead.release(metadata);
        if (source.may_skip)(&row_group) {
            return Some(RequestedRowGroup::excluded(index));
        }
        let wanted = self.wanted_columns(source.scan.columns);
        Some(source.scan.needed(index, &row_group, wanted))
    }

    /// Requests `first` and the pages of the row groups that wait, as far as the bound for all scans permits. Returns how many of `first` were accepted.
    fn request_waiting(&mut self, source: &ScanPageSource<'_>, first: &[PageId]) -> usize {
        let waiting = self.waiting.iter().flat_map(|it| &it.pages);
        let pages: Vec<PageId> = first.iter().chain(waiting).copied().collect();
        let mut accepted = source.request(&pages);
        let accepted_first = accepted.min(first.len());
        accepted -= accepted_first;
        while let Some(mut row_group) = self.waiting.pop_front() {
            if accepted == 0 && !row_group.pages.is_empty() {
                self.waiting.push_front(row_group);
                break;
            }
            row_group.pages.truncate(accepted);
            accepted -= row_group.pages.len();
            self.requested.push_back(row_group);
        }
        accepted_first
    }

    /// If columns are wanted that the row groups of the window were requested without, requests them for the first of these, and for others until the
    /// window is full.
    fn complete_requests(&mut self, source: &ScanPageSource<'_>, wanted: Vec<usize>) {
        let is_known = |column: &usize| self.requested_columns.contains(column);
        if wanted.iter().all(is_known) {
            self.requested_columns = wanted;
            return;
        }
        // What waits is planned anew.
        self.metadata_requested += self.waiting.len();
        self.waiting.clear();
        let (mut on_their_way, mut is_complete) = (self.bytes_on_their_way(), true);
        let mut missing = Vec::new();
        for (position, requested) in self.requested.iter().enumerate() {
            if requested.is_excluded {
                continue;
            }
            if !missing.is_empty() && on_their_way >= self.bytes {
                is_complete = false;
                break;
            }
            let Some(row_group) = source.row_group(requested.index) else {
                continue;
            };
            let mut all = source.needed(requested.index, &row_group, wanted.iter().copied());
            all.bytes = all.bytes.saturating_sub(requested.bytes);
            all.pages.retain(|page| !requested.pages.contains(page));
            on_their_way = on_their_way.saturating_add(all.bytes);
            missing.push((position, all));
        }
        let pages = missing.iter().flat_map(|(_, added)| &added.pages);
        let pages: Vec<PageId> = pages.copied().collect();
        let mut accepted = source.request(&pages);
        is_complete &= accepted == pages.len();
        for (position, mut added) in missing {
            added.pages.truncate(accepted);
            accepted -= added.pages.len();
            if let Some(requested) = self.requested.get_mut(position) {
                requested.pages.append(&mut added.pages);
                requested.bytes = requested.bytes.saturating_add(added.bytes);
            }
        }
        if is_complete {
            self.requested_columns = wanted;
        } else {
            // Row groups to come are requested with these.
            self.requested_columns
                .retain(|column| wanted.contains(column));
        }
    }

    /// A reader opens `column`, which only the output needs: rows of the row group have passed the filters. The other columns of the output are
    /// requested with it, unless they are requested or open; later than in the first row group those that none has opened are left out.
    pub(super) fn request_output(
        &mut self,
        source: &ScanPageSource<'_>,
        index: usize,
        column: usize,
    ) {
        let output = &source.columns.output_only;
        let Some(begun) = self.begun.get_mut(&index).filter(|begun| {
            // Otherwise they are asked for already.
            output.contains(&column) && !begun.is_output_requested
        }) else {
            return;
        };
        begun.is_output_requested = true;
        let Some(row_group) = source.row_group(index) else {
            return;
        };
        let is_first_row_group = self.opened_row_groups < 2;
        let is_open = |one: usize| begun.opened_columns.get(one).copied().unwrap_or(false);
        let is_expected = |one: usize| {
            is_first_row_group || self.opened_columns.get(one).is_some_and(|count| *count > 0)
        };
        let expected = output
            .iter()
            .copied()
            .filter(|&one| one == column || is_expected(one) && !is_open(one));
        let mut missing = source.needed(index, &row_group, expected).pages;
        missing.retain(|page| !begun.pages.contains(page));
        missing.truncate(source.request(&missing));
        begun.pages.append(&mut missing);
        if is_first_row_group {
            let columns = source.columns.first.iter().chain(output);
            self.complete_requests(source, columns.copied().collect());
        }
    }

    /// Requests metadata of row groups to come when that of few is known.
    fn request_metadata(&mut self, source: &WindowSource<'_>) {
        if self.metadata_requested >= METADATA_ROW_GROUPS_MIN {
            return;
        }
        let from = self.planned() + self.metadata_requested;
        let indexes = source.upcoming.iter().skip(from).take(METADATA_ROW_GROUPS);
        let unread = indexes.map(|&index| source.scan.table.unread_metadata(index));
        let unread: Vec<&[PageId]> = unread.collect();
        let mut accepted = accepted(source.scan.ahead, &unread.concat());
        for pages in unread {
            if pages.len() > accepted {
                return;
            }
            accepted -= pages.len();
            self.metadata_requested += 1;
        }
    }

    /// The columns that at least half of the row groups so far have opened; before any has been, those that are read first.
    fn wanted_columns(&self, columns: &ScanColumns) -> Vec<usize> {
        if self.opened_row_groups == 0 {
            return columns.first.clone();
        }
        let is_wanted = |count: u32| count > 0 && 2 * count >= self.opened_row_groups;
        let opened = self.opened_columns.iter().enumerate();
        let wanted = opened.filter_map(|(column, count)| is_wanted(*count).then_some(column));
        wanted.collect()
    }
}

/// Requests pages, and returns how many were accepted.
fn accepted(ahead: &ReadAhead, pages: &[PageId]) -> usize {
    match pages {
        [] => 0,
        _ => ahead.request(pages).pages,
    }
}
