//! The changes of a column table as one snapshot has them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use quire_codec::Corrupt;
use quire_format::row_position::{MOVED_KEY_BYTES, RowPosition};
use quire_kv::btree::Direction;
use quire_kv::mvcc::TreeId;

use super::deleted::DeletedRows;
use crate::definition::{TreeRecord, TreeRole};
use crate::error::RowScanError;
use crate::rows::{RowTable, ScanRowSource};

/// The trees that a column table with changes has.
pub(crate) fn change_trees() -> [TreeRole; 3] {
    [TreeRole::Delta, TreeRole::Overflow, TreeRole::Deletions]
}

/// Whether a column table can have these trees: all of [`change_trees`], or none.
pub(crate) fn has_change_trees(trees: &[TreeRecord]) -> bool {
    let has = |role: TreeRole| trees.iter().any(|tree| tree.role == role);
    trees.is_empty() || (trees.len() == 3 && change_trees().into_iter().all(has))
}

/// Delta and deletions of a table.
pub(crate) struct ColumnChanges {
    /// Its view is that of both.
    delta: Arc<RowTable>,
    deletions: TreeId,
}

impl ColumnChanges {
    /// Those of a table whose delta this is; nothing when it has no tree of deletions.
    pub(crate) fn new(delta: RowTable) -> Option<Self> {
        let deletions = delta.parts().deletions?;
        Some(Self {
            delta: Arc::new(delta),
            deletions,
        })
    }

    /// The rows that are in no row group.
    pub(crate) fn delta(&self) -> &Arc<RowTable> {
        &self.delta
    }

    pub(crate) fn deletions(&self) -> TreeId {
        self.deletions
    }

    /// Whether no row has come, changed or gone.
    pub(crate) fn is_empty(&self) -> Result<bool, RowScanError> {
        Ok(!self.has_delta_rows()? && !self.has_deletions()?)
    }

    /// Whether some row is in no row group.
    pub(crate) fn has_delta_rows(&self) -> Result<bool, RowScanError> {
        Ok(!self.has_no_entry(self.delta.parts().rows)?)
    }

    /// Whether a row of a row group is deleted.
    pub(crate) fn has_deletions(&self) -> Result<bool, RowScanError> {
        Ok(!self.has_no_entry(self.deletions)?)
    }

    fn has_no_entry(&self, tree: TreeId) -> Result<bool, RowScanError> {
        let view = self.delta.view();
        let mut scan = view.scan(tree, &[], &[], Direction::Forward)?;
        Ok(scan.next_entry()?.is_none())
    }

    /// The deleted rows of a row group, if any.
    pub(crate) fn deleted_rows(
        &self,
        row_group: u64,
        row_count: u64,
    ) -> Result<Option<DeletedRows>, RowScanError> {
        DeletedRows::load(self.delta.view(), self.deletions, row_group, row_count)
    }

    /// Number of deleted rows, by number of row group.
    pub(crate) fn deleted_counts(&self) -> Result<BTreeMap<u64, u64>, RowScanError> {
        let mut counts = BTreeMap::new();
        let mut wrong = false;
        let view = self.delta.view();
        let mut scan = view.scan(self.deletions, &[], &[], Direction::Forward)?;
        while scan.next_leaf(|key, _| {
            match RowPosition::of_key(key) {
                Some(position) => *counts.entry(position.row_group).or_insert(0) += 1,
                None => wrong = true,
            }
            ControlFlow::Continue(())
        })? {}
        if wrong {
            Err(Corrupt::new("a deletion whose key is no position", 0).into())
        } else {
            Ok(counts)
        }
    }

    /// Number of rows that are in no row group.
    pub(crate) fn delta_row_count(&self) -> Result<u64, RowScanError> {
        let mut count = 0;
        let view = self.delta.view();
        let rows = self.delta.parts().rows;
        let mut scan = view.scan(rows, &[], &[], Direction::Forward)?;
        while scan.next_leaf(|_, _| {
            count += 1;
            ControlFlow::Continue(())
        })? {}
        Ok(count)
    }

    /// About how many rows are in no row group, and how many of row groups are deleted, without reading them.
    pub(crate) fn estimate(&self) -> Result<(u64, u64), RowScanError> {
        let rows = self.delta.estimate(&ScanRowSource::all())?;
        let view = self.delta.view();
        let deleted = view.estimate_entries(self.deletions, &[], &[])?;
        Ok((rows, deleted))
    }

    /// Where rows with these keys are now, if they were changed: their keys in the delta. Rows that are gone are left out, and so
    /// are those of row groups that are as they were.
    pub(crate) fn moved(&self, keys: &[Box<[u8]>]) -> Result<Arc<[Box<[u8]>]>, RowScanError> {
        let mut found = Vec::with_capacity(keys.len());
        for key in keys {
            if RowPosition::of_key(key).is_none() {
                found.push(key.clone());
                continue;
            }
            let view = self.delta.view();
            let moved = view.get(self.deletions, key, |value| {
                (value.len() == MOVED_KEY_BYTES).then(|| Box::from(value))
            })?;
            found.extend(moved.flatten());
        }
        Ok(found.into())
    }
}
