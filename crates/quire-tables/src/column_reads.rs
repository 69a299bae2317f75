//! Which column tables a serializable transaction has read.
//!
//! What it reads of trees is noted there, the delta and the deletions of a column table among them. Row groups are not: they must be
//! those of its snapshot when it commits. So must be that a table had no changes.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use quire_store::PageId;

use crate::catalog::{Catalog, TableEntry};
use crate::definition::TreeRecord;

/// The tables, by id.
#[derive(Default)]
pub(crate) struct ColumnReads(Mutex<BTreeMap<u64, ReadTable>>);

struct ReadTable {
    name: String,
    root_pages: Vec<PageId>,
    trees: Vec<TreeRecord>,
}

impl ColumnReads {
    /// A table is read. The first state counts.
    pub(crate) fn note(&self, entry: &TableEntry) {
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tables.entry(entry.id).or_insert_with(|| ReadTable {
            name: entry.definition.name.clone(),
            root_pages: entry.root_pages.clone(),
            trees: entry.trees.clone(),
        });
    }

    /// Whether none is read.
    pub(crate) fn is_empty(&self) -> bool {
        let tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tables.is_empty()
    }

    /// The trees of tables that had none when they were read; nothing if a table has other row groups now. Tables for which `is_own`
    /// says so have been changed by the transaction itself.
    pub(crate) fn trees_since(
        &self,
        newest: &Catalog,
        is_own: impl Fn(&str) -> bool,
    ) -> Option<Vec<TreeRecord>> {
        let tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::new();
        for (id, table) in tables.iter().filter(|(_, table)| !is_own(&table.name)) {
            let mut entries = newest.tables.values();
            let entry = entries.find(|entry| entry.id == *id)?;
            if entry.root_pages != table.root_pages {
                return None;
            }
            if table.trees.is_empty() {
                found.extend(entry.trees.iter().copied());
            }
        }
        Some(found)
    }
}
