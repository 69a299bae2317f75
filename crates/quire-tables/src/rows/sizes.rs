//! What the trees of a row table take in the file.

use std::collections::HashSet;

use quire_kv::btree::{add_stored_pages, stored_dictionaries};

use crate::definition::TreeRole;
use crate::error::EngineError;
use crate::pages::PageSource;
use crate::rows::RowParts;

/// The size of one tree, as the last checkpoint has stored it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeSize {
    /// `rows`, `overflow`, or the name of the index; of a column table `delta`, `overflow`, `deletions`.
    pub name: String,
    /// Number of stored pages.
    pub page_count: u64,
    /// Bytes of these pages in memory.
    pub page_bytes: u64,
    /// Bytes of their compressed images, and of the dictionaries.
    pub stored_bytes: u64,
}

impl RowParts {
    /// The sizes of all trees of the table.
    pub(crate) fn tree_sizes(&self, source: &PageSource) -> Result<Vec<TreeSize>, EngineError> {
        let pin = source.newest_pin();
        let dictionaries = stored_dictionaries(&pin)?.trees;
        let mut sizes = Vec::with_capacity(self.trees.len());
        for tree in &self.trees {
            let mut pages = HashSet::new();
            add_stored_pages(&pin, tree.root, &mut pages)?;
            let page_count = pages.len() as u64;
            pages.extend(dictionaries.get(&tree.id).into_iter().flatten());
            let index = |id: u64| self.definition.indexes.iter().find(|index| index.id == id);
            let name = match tree.role {
                TreeRole::Rows => "rows".to_owned(),
                TreeRole::Overflow => "overflow".to_owned(),
                TreeRole::Index(id) => index(id)
                    .map(|index| index.key.name.clone())
                    .unwrap_or_default(),
                TreeRole::Delta => "delta".to_owned(),
                TreeRole::Deletions => "deletions".to_owned(),
                TreeRole::Sequences | TreeRole::Samples => "other".to_owned(),
            };
            let stored = pages.iter().filter_map(|page| pin.payload_bytes(*page));
            sizes.push(TreeSize {
                name,
                page_count,
                page_bytes: page_count * self.definition.options.page_bytes as u64,
                stored_bytes: stored.map(u64::from).sum(),
            });
        }
        Ok(sizes)
    }
}
