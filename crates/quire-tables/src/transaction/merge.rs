//! Changes become row groups.
//!
//! A merge waits until nobody changes the table, and keeps others from changing it until it is committed; readers go on, and who
//! has an older snapshot goes on reading the old row groups and trees. The rows of the delta, and those that are left of row
//! groups with many deletions, are appended as new row groups. If there are no other deletions, the table has no trees any
//! more: removing the entries of a tree one by one would take longer. Everything is one commit.

use std::collections::BTreeSet;

use quire_format::row_position::RowPosition;
use quire_kv::btree::Direction;
use quire_kv::mvcc::{LockWait, TableLockMode, TreeId};
use quire_kv::progress::Phase;

use super::Transaction;
use crate::delta::ColumnChanges;
use crate::error::{RowScanError, ScanError, TransactionError};
use crate::table::ColumnTable;

/// What a merge does.
#[derive(Debug, Clone, Copy)]
pub struct MergeOptions {
    /// Row groups of which more than this share is deleted, 0 to 1, are written again. With 0 all that have deletions.
    pub deleted_share: f64,
    /// At most so many of them.
    pub row_groups_max: usize,
    /// If there are none, nothing happens while the delta has fewer rows.
    pub delta_rows_min: u64,
    /// What to do while others change the table.
    pub wait: LockWait,
}

/// Everything is merged, and others are waited for.
impl Default for MergeOptions {
    fn default() -> Self {
        MergeOptions {
            deleted_share: 0.0,
            row_groups_max: usize::MAX,
            delta_rows_min: 0,
            wait: LockWait::Wait,
        }
    }
}

/// What a merge has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MergeReport {
    /// Rows that were written as row groups.
    pub row_count: u64,
    /// Row groups that were written again.
    pub row_groups: usize,
    /// Rows of these that had been deleted.
    pub deleted_rows: u64,
    /// Nothing was done, because others change the table or definitions: roll back, so that they can go on, and try again.
    pub is_postponed: bool,
}

const POSTPONED: MergeReport = MergeReport {
    row_count: 0,
    row_groups: 0,
    deleted_rows: 0,
    is_postponed: true,
};

/// What is to be done.
struct MergePlan {
    /// Places of row groups.
    row_groups: BTreeSet<usize>,
    deleted_rows: u64,
    /// Whether deletions of others are left.
    keeps_deletions: bool,
}

impl Transaction {
    /// Writes the changes of a column table as row groups. The transaction must be at READ COMMITTED, and have done nothing before.
    /// Nothing happens if there are no changes.
    ///
    /// # Errors
    /// No such column table; it cannot be locked; or rows cannot be read or written: the transaction can only be rolled back.
    pub fn merge_changes(
        &mut self,
        name: &str,
        options: MergeOptions,
    ) -> Result<MergeReport, TransactionError> {
        let not_found = || TransactionError::TableNotFound(name.to_owned());
        let table = self.snapshot().table(name)?.ok_or_else(not_found)?;
        if MergePlan::of(&table, &options)?.is_none() {
            return Ok(MergeReport::default());
        }
        let is_locked = self.lock_table(table.id(), TableLockMode::Exclusive, options.wait)?;
        if !is_locked || !self.try_tables(name)? {
            return Ok(POSTPONED);
        }
        // Others may have changed it while this waited.
        self.begin_statement();
        let locked = table.id();
        let table = self.snapshot().table(name)?.ok_or_else(not_found)?;
        if table.id() != locked {
            return Ok(POSTPONED);
        }
        let Some((plan, changes)) = MergePlan::of(&table, &options)? else {
            return Ok(MergeReport::default());
        };
        let work = self.work();
        if let Some(work) = &work {
            let row_groups = plan.row_groups.iter();
            let stored: u64 = row_groups.map(|&index| table.row_group_rows(index)).sum();
            work.begin(Phase::Merging, Some(name));
            let (added, _) = changes.estimate().map_err(ScanError::from)?;
            work.foresee(Some(stored + added), 0);
        }
        let merged = self.define_beside(|tables| {
            tables.merge_changes(&table, &plan.row_groups, plan.keeps_deletions, work)
        })?;
        if plan.keeps_deletions {
            for &index in &plan.row_groups {
                self.remove_deletions(changes, table.row_group_number(index))?;
            }
        }
        Ok(MergeReport {
            row_count: merged,
            row_groups: plan.row_groups.len(),
            deleted_rows: plan.deleted_rows,
            is_postponed: false,
        })
    }

    /// The row group is gone.
    fn remove_deletions(
        &mut self,
        changes: &ColumnChanges,
        row_group: u64,
    ) -> Result<(), TransactionError> {
        let tree: TreeId = changes.deletions();
        let (low, high) = RowPosition::range_of(row_group);
        let view = changes.delta().view();
        let mut scan = view
            .scan(tree, &low, &high, Direction::Forward)
            .map_err(changes_error)?;
        while let Some((key, _)) = scan.next_entry().map_err(changes_error)? {
            self.remove_entry(tree, key)?;
        }
        Ok(())
    }
}

fn changes_error(error: quire_kv::mvcc::TreeReadError) -> ScanError {
    RowScanError::from(error).into()
}

impl MergePlan {
    /// What is to be done, if anything.
    fn of<'t>(
        table: &'t ColumnTable,
        options: &MergeOptions,
    ) -> Result<Option<(Self, &'t ColumnChanges)>, ScanError> {
        let Some(changes) = table.changes() else {
            return Ok(None);
        };
        let plan = MergePlan::new(table, changes, options)?;
        let is_worthwhile = match plan.row_groups.is_empty() {
            false => true,
            // Trees without entries can go.
            true if options.delta_rows_min == 0 => {
                !plan.keeps_deletions || changes.has_delta_rows()?
            }
            true => changes.delta_row_count()? >= options.delta_rows_min,
        };
        Ok(is_worthwhile.then_some((plan, changes)))
    }

    fn new(
        table: &ColumnTable,
        changes: &ColumnChanges,
        options: &MergeOptions,
    ) -> Result<Self, ScanError> {
        let mut counts = changes.deleted_counts()?;
        let mut plan = MergePlan {
            row_groups: BTreeSet::new(),
            deleted_rows: 0,
            keeps_deletions: false,
        };
        for index in 0..table.row_group_count() {
            let deleted = counts.remove(&table.row_group_number(index)).unwrap_or(0);
            let is_worthwhile =
                deleted as f64 > options.deleted_share * table.row_group_rows(index) as f64;
            if is_worthwhile && plan.row_groups.len() < options.row_groups_max {
                plan.row_groups.insert(index);
                plan.deleted_rows += deleted;
            } else {
                plan.keeps_deletions |= deleted > 0;
            }
        }
        Ok(plan)
    }
}
