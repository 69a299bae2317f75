//! What follows from definitions, worked out once.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use crate::catalog::RowTableEntry;
use crate::definition::TreeRole;
use crate::row_table::RowLayoutError;
use crate::rows::RowParts;

/// The parts of the row tables of one database that somebody has asked for.
#[derive(Default)]
pub(crate) struct PartsCache {
    by_table: Mutex<HashMap<u64, Arc<RowParts>>>,
    /// The number of the next row, by the tree of the rows: it outlives definitions.
    row_ids: Mutex<HashMap<u64, Arc<AtomicU64>>>,
}

impl PartsCache {
    /// The parts of a table.
    pub(crate) fn get(&self, entry: &RowTableEntry) -> Result<Arc<RowParts>, RowLayoutError> {
        let mut by_table = self.by_table.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(parts) = by_table.get(&entry.id)
            && Arc::ptr_eq(&parts.definition, &entry.definition)
            && parts.trees == entry.trees
        {
            return Ok(Arc::clone(parts));
        }
        let is_of_rows = |role| matches!(role, TreeRole::Rows | TreeRole::Delta);
        let rows = entry.trees.iter().find(|tree| is_of_rows(tree.role));
        let next_row_id = self.next_row_id(rows.map_or(0, |tree| tree.id));
        let definition = Arc::clone(&entry.definition);
        let parts = Arc::new(RowParts::new(
            entry.id,
            definition,
            &entry.trees,
            next_row_id,
        )?);
        by_table.insert(entry.id, Arc::clone(&parts));
        Ok(parts)
    }

    fn next_row_id(&self, tree: u64) -> Arc<AtomicU64> {
        let mut row_ids = self.row_ids.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(row_ids.entry(tree).or_default())
    }
}
