//! Trees for changed rows of column tables, and what becomes of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use quire_format::table_root::TableRoot;
use quire_kv::progress::StatementWork;
use quire_store::PageId;

use super::WriteTransaction;
use crate::append::AppendOptions;
use crate::catalog::{TableEntry, TableState};
use crate::definition::{TableStorage, TreeRecord, TreeRole};
use crate::delta::change_trees;
use crate::error::{RowScanError, ScanError, TransactionError};
use crate::row_group_entry::RowGroupEntry;
use crate::scan::{ScanOptions, SharedTableScan};
use crate::table::ColumnTable;

impl WriteTransaction {
    /// Gives a column table the trees for changed rows, which are empty, if it does not have them.
    ///
    /// # Errors
    /// No such column table.
    pub(crate) fn add_change_trees(&mut self, name: &str) -> Result<(), TransactionError> {
        self.check_appends_finished()?;
        self.lock_name(name)?;
        let entry = self.column_entry(name)?;
        if entry.trees.is_empty() {
            // On a full disk the first deletion of a table needs them.
            self.pages.set_makes_room()?;
            let roles = change_trees().into_iter();
            let trees = roles.map(|role| self.new_tree(role));
            let trees = trees.collect::<Result<_, _>>()?;
            let entry = Arc::new(entry.with_trees(trees));
            self.catalog.tables.insert(name.to_owned(), entry);
            self.definitions_changed = true;
        }
        Ok(())
    }

    fn column_entry(&self, name: &str) -> Result<Arc<TableEntry>, TransactionError> {
        let entry = self.catalog.tables.get(name).cloned();
        entry.ok_or_else(|| TransactionError::TableNotFound(name.to_owned()))
    }

    /// Writes the rows of some row groups, given by their places, that are not deleted, and those of the delta, as new row
    /// groups. The table gets a new delta and keeps its deletions, or, if no others are left, has neither from now on. `table` is this
    /// table as this transaction sees it; nobody else changes it. Returns the number of rows written.
    ///
    /// # Errors
    /// Rows cannot be read or written: the transaction can only be aborted.
    pub(crate) fn merge_changes(
        &mut self,
        table: &Arc<ColumnTable>,
        row_groups: &BTreeSet<usize>,
        keeps_deletions: bool,
        work: Option<Arc<StatementWork>>,
    ) -> Result<u64, TransactionError> {
        let name = &table.definition().name;
        self.lock_name(name)?;
        let entry = self.column_entry(name)?;
        assert_eq!(
            entry.definition.storage,
            TableStorage::Column,
            "only column tables have deltas"
        );
        let options = ScanOptions {
            projection: (0..entry.definition.columns.len()).collect(),
            work: work.clone(),
            ..ScanOptions::default()
        };
        let scan =
            SharedTableScan::start(Arc::clone(table), options, row_groups.iter().copied(), true)?;
        let is_kept = |tree: &&TreeRecord| keeps_deletions && tree.role == TreeRole::Deletions;
        let mut trees: Vec<TreeRecord> = entry.trees.iter().filter(is_kept).copied().collect();
        if keeps_deletions {
            trees.push(self.new_tree(TreeRole::Delta)?);
            trees.push(self.new_tree(TreeRole::Overflow)?);
        }
        let dropped = entry.trees.iter().filter(|tree| !trees.contains(tree));
        self.catalog.dropped_trees.extend(dropped.copied());
        let (state, unused) = without(table, row_groups)?;
        let state = Arc::new(state);
        let rest = entry.with_trees(trees);
        let rest = rest.with_state(entry.root_pages.clone(), state);
        self.catalog.tables.insert(name.clone(), Arc::new(rest));
        self.changed_tables.insert(name.clone());
        let mut reader = scan.reader();
        let mut appender = self.appender_with(name, AppendOptions::default())?;
        while let Some(batch) = reader.next()? {
            if let Some(work) = &work {
                work.check()
                    .map_err(RowScanError::from)
                    .map_err(ScanError::from)?;
            }
            appender.append(&batch)?;
        }
        let row_count = appender.finish()?;
        self.free_row_groups(table, row_groups)?;
        self.pages.free(&unused)?;
        Ok(row_count)
    }

    fn free_row_groups(
        &self,
        table: &ColumnTable,
        row_groups: &BTreeSet<usize>,
    ) -> Result<(), TransactionError> {
        for &index in row_groups {
            self.pages.free_segments(&*table.row_group(index)?)?;
            if let Some(entry) = table.state().row_groups.get(index) {
                self.pages.free(&entry.pointer.pages)?;
            }
        }
        Ok(())
    }
}

/// The state of a table without some of its row groups. What is known of columns is taken from the others; sketches of distinct
/// values cannot forget. Besides the pages of shared dictionaries that no other row group uses.
fn without(
    table: &ColumnTable,
    row_groups: &BTreeSet<usize>,
) -> Result<(TableState, Vec<PageId>), TransactionError> {
    let old = table.state();
    let types = old.root.columns.iter().map(|column| column.physical_type);
    let mut root = TableRoot::empty(old.root.table_id, types);
    root.next_row_group = old.root.next_row_group;
    for (column, before) in root.columns.iter_mut().zip(&old.root.columns) {
        column.dictionaries.clone_from(&before.dictionaries);
    }
    let mut entries: Vec<Arc<RowGroupEntry>> = Vec::new();
    let mut row_count = 0;
    for (index, entry) in old.row_groups.iter().enumerate() {
        let row_group = table.row_group(index)?;
        if row_groups.contains(&index) {
            root.forget_references(&row_group);
            continue;
        }
        for (column, chunk) in root.columns.iter_mut().zip(&row_group.columns) {
            let values = row_count - column.zone.null_count;
            let chunk_values = row_group.row_count - chunk.zone.null_count;
            column.zone.merge(values, &chunk.zone, chunk_values);
            column.raw_bytes = column.raw_bytes.saturating_add(chunk.raw_bytes);
            column.encoded_bytes = column.encoded_bytes.saturating_add(chunk.encoded_bytes);
        }
        row_count += row_group.row_count;
        root.row_groups.push(entry.pointer.clone());
        entries.push(Arc::clone(entry));
    }
    if !entries.is_empty() {
        for (column, before) in root.columns.iter_mut().zip(&old.root.columns) {
            column.sketch.clone_from(&before.sketch);
        }
    }
    let unused = root.remove_unused_dictionaries();
    Ok((TableState::new(root, entries), unused))
}
