//! Hands the vector groups of a scan to its readers, each once.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use quire_format::row_group::{GROUP_ROWS, ROW_GROUP_ROWS, RowGroup};
use quire_store::PageId;

use super::SharedTableScan;
use crate::delta::DeletedRows;
use crate::error::ScanError;
use crate::rows::ScanRowSource;
use crate::zone_table::ZoneTable;

/// What has not been handed out yet.
pub(super) struct ScanCursor {
    /// Row groups that have not been opened.
    row_groups: VecDeque<usize>,
    /// Ranges of the delta.
    delta: VecDeque<ScanRowSource>,
    readers: usize,
    open: Option<OpenPiece>,
}

/// A row group of which some groups have not been handed out.
struct OpenPiece {
    index: usize,
    row_group: Arc<RowGroup>,
    deleted: Option<Arc<DeletedRows>>,
    /// Groups left to hand out, ascending; those that were pruned are not among them.
    groups: Vec<usize>,
    next: usize,
}

/// A piece of work.
pub(super) enum Morsel {
    Groups(Groups),
    /// A range of the delta.
    Delta(ScanRowSource),
}

/// Some vector groups of one row group, ascending.
pub(super) struct Groups {
    pub(super) index: usize,
    pub(super) row_group: Arc<RowGroup>,
    pub(super) deleted: Option<Arc<DeletedRows>>,
    pub(super) groups: Vec<usize>,
}

impl ScanCursor {
    pub(super) fn new(
        row_groups: VecDeque<usize>,
        delta: Vec<ScanRowSource>,
        readers: usize,
    ) -> Self {
        ScanCursor {
            row_groups,
            delta: delta.into(),
            readers,
            open: None,
        }
    }

    /// Has the pages read that the first readers will need.
    pub(super) fn open(&self, scan: &SharedTableScan) {
        let may_skip = |row_group: &Arc<RowGroup>| is_excluded(scan, row_group);
        scan.pages.open(&self.row_groups, &may_skip);
    }

    /// The next piece of work. Pieces are whole row groups while there are many, so that readers seldom open the
    /// same segment, and single groups at the end, so that they finish together.
    pub(super) fn next(&mut self, scan: &SharedTableScan) -> Result<Option<Morsel>, ScanError> {
        loop {
            if let Some(open) = &mut self.open
                && open.next < open.groups.len()
            {
                let rest = open.groups.len() - open.next;
                let later = self.row_groups.len() * (ROW_GROUP_ROWS / GROUP_ROWS);
                let count = ((rest + later) / (2 * self.readers)).clamp(1, rest);
                let groups = open.groups[open.next..open.next + count].to_vec();
                open.next += count;
                let row_group = Arc::clone(&open.row_group);
                return Ok(Some(Morsel::Groups(Groups {
                    index: open.index,
                    row_group,
                    deleted: open.deleted.clone(),
                    groups,
                })));
            }
            let Some(index) = self.row_groups.pop_front() else {
                return Ok(self.delta.pop_front().map(Morsel::Delta));
            };
            let may_skip = |row_group: &Arc<RowGroup>| is_excluded(scan, row_group);
            let is_known_excluded = scan.pages.begin(index, &self.row_groups, &may_skip);
            let read = |pages: &[PageId]| scan.pages.read(pages);
            let row_group = scan.table.row_group_by(index, read)?;
            scan.pages.forget_metadata(index);
            let mut groups = if is_known_excluded {
                no_groups(scan, &row_group)
            } else {
                groups_to_scan(scan, &row_group)
            };
            let deleted = if groups.is_empty() {
                None
            } else {
                deleted_rows(scan, index, &row_group)?
            };
            if let Some(deleted) = &deleted {
                groups.retain(|&group| deleted.count_in_group(group) < row_group.group_rows(group));
            }
            let left = groups
                .iter()
                .map(|&group| row_group.group_rows(group) as u64);
            scan.note_read(row_group.row_count - left.sum::<u64>(), 0);
            if groups.is_empty() {
                scan.pages.skip(index);
            } else {
                // With a limit the scan may end in this row group.
                let none = VecDeque::new();
                let upcoming = match scan.options.limit {
                    Some(_) => &none,
                    None => &self.row_groups,
                };
                scan.pages
                    .begin_columns(index, &row_group, upcoming, &may_skip);
            }
            self.open = Some(OpenPiece {
                index,
                row_group,
                deleted,
                groups,
                next: 0,
            });
        }
    }
}

/// The deleted rows of the row group at a place, if it has any.
fn deleted_rows(
    scan: &SharedTableScan,
    index: usize,
    row_group: &RowGroup,
) -> Result<Option<Arc<DeletedRows>>, ScanError> {
    let changes = scan.table.changes().filter(|_| scan.has_deletions);
    let Some(changes) = changes else {
        return Ok(None);
    };
    let number = scan.table.row_group_number(index);
    let deleted = changes.deleted_rows(number, row_group.row_count)?;
    Ok(deleted.map(Arc::new))
}

/// The vector groups that no predicate can rule out by their zones. Asked when the row group is about to be read,
/// so filters that tightened in the meantime count.
fn groups_to_scan(scan: &SharedTableScan, row_group: &Arc<RowGroup>) -> Vec<usize> {
    let possible = possible_groups(scan, row_group).enumerate();
    let groups: Vec<usize> = possible
        .filter_map(|(group, is_possible)| is_possible.then_some(group))
        .collect();
    let pruned = (row_group.group_count() - groups.len()) as u64;
    scan.counters
        .groups_pruned
        .fetch_add(pruned, Ordering::Relaxed);
    scan.counters
        .groups_scanned
        .fetch_add(groups.len() as u64, Ordering::Relaxed);
    groups
}

/// The vector groups of a row group whose zones have excluded all of them: none.
fn no_groups(scan: &SharedTableScan, row_group: &RowGroup) -> Vec<usize> {
    let pruned = row_group.group_count() as u64;
    scan.counters
        .groups_pruned
        .fetch_add(pruned, Ordering::Relaxed);
    Vec::new()
}

/// Whether the zones of a row group let no row pass all predicates.
fn is_excluded(scan: &SharedTableScan, row_group: &Arc<RowGroup>) -> bool {
    possible_groups(scan, row_group).all(|is_possible| !is_possible)
}

/// For each vector group of a row group, whether its zones let a row pass all predicates.
fn possible_groups(
    scan: &SharedTableScan,
    row_group: &Arc<RowGroup>,
) -> impl Iterator<Item = bool> + use<> {
    let group_count = row_group.group_count();
    let mut possible = vec![true; group_count];
    if !scan.options.predicates.is_empty() {
        let definition = Arc::clone(scan.table.definition());
        let zones = ZoneTable::new(definition, Arc::clone(row_group));
        for predicate in &scan.options.predicates {
            // An answer for another number of zones means nothing; nothing is skipped then.
            let answer = predicate
                .prune(&zones)
                .filter(|answer| answer.len() == group_count);
            for (possible, may_pass) in possible.iter_mut().zip(answer.into_iter().flatten()) {
                *possible &= may_pass;
            }
        }
    }
    possible.into_iter()
}
