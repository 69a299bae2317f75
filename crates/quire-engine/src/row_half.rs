//! The half of the engine that has rows: pool, log, transactions, and what follows from the definitions of row tables.

use std::sync::Arc;

use quire_codec::Corrupt;
use quire_store::Volume;
use quire_store::log::Log;
use quire_store::pool::Pool;

use crate::catalog::{Catalog, RowTableEntry};
use crate::engine::EngineOptions;
use crate::error::EngineError;
use crate::mvcc::{Mvcc, TreeId};
use crate::rows::{PartsCache, RowParts};
use crate::sequences::Sequences;

/// Everything row tables need besides the catalog.
pub(crate) struct RowHalf {
    pub(crate) pool: Pool,
    pub(crate) mvcc: Mvcc,
    pub(crate) sequences: Sequences,
    parts: PartsCache,
}

impl RowHalf {
    /// Opens the trees of a catalog and redoes what the log has.
    pub(crate) fn open(
        volume: &Volume,
        options: &EngineOptions,
        catalog: &Catalog,
    ) -> Result<Self, EngineError> {
        let pool = Pool::new(volume, options.pool.clone());
        let log = Log::open(volume, options.log.clone())?;
        let trees = catalog.live_trees().chain(&catalog.dropped_trees);
        let specs = trees
            .map(|tree| catalog.tree_spec(tree))
            .collect::<Result<Vec<_>, _>>()?;
        let mvcc = Mvcc::open(volume, &pool, &log, &specs, options.mvcc.clone())?;
        for tree in &catalog.dropped_trees {
            mvcc.remove_tree(TreeId::new(tree.id));
        }
        Ok(Self {
            pool,
            mvcc,
            sequences: Sequences::default(),
            parts: PartsCache::default(),
        })
    }

    /// What follows from the definition of a row table.
    pub(crate) fn parts(&self, entry: &RowTableEntry) -> Result<Arc<RowParts>, EngineError> {
        self.parts.get(entry).map_err(|error| EngineError::Corrupt {
            what: format!("the definition of table {:?}", entry.definition.name),
            source: Corrupt::new(error.to_string(), 0),
        })
    }
}
