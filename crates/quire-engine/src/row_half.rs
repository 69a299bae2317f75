//! The half of the engine that has rows: pool, log, transactions, and what follows from the definitions of row tables.

use std::sync::Arc;

use quire_codec::Corrupt;
use quire_codec::transform::Transform;
use quire_format::row_page::PageTransform;
use quire_store::Volume;
use quire_store::log::Log;
use quire_store::pool::Pool;

use crate::catalog::{Catalog, RowTableEntry};
use crate::definition::{StorageFormat, TreeRecord};
use crate::engine::EngineOptions;
use crate::error::EngineError;
use crate::mvcc::{Mvcc, TreeId, TreeSpec};
use crate::rows::{PartsCache, RowParts, row_layout};
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
            .map(|tree| tree_spec(&pool, catalog, tree))
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

    /// How the pages of a tree are kept.
    pub(crate) fn tree_spec(
        &self,
        catalog: &Catalog,
        tree: &TreeRecord,
    ) -> Result<TreeSpec, EngineError> {
        tree_spec(&self.pool, catalog, tree)
    }

    /// What follows from the definition of a row table.
    pub(crate) fn parts(&self, entry: &RowTableEntry) -> Result<Arc<RowParts>, EngineError> {
        self.parts.get(entry).map_err(|error| EngineError::Corrupt {
            what: format!("the definition of table {:?}", entry.definition.name),
            source: Corrupt::new(error.to_string(), 0),
        })
    }
}

/// How the pages of a tree are kept: leaves with rows by columns, where the table says so.
fn tree_spec(pool: &Pool, catalog: &Catalog, tree: &TreeRecord) -> Result<TreeSpec, EngineError> {
    let mut spec = catalog.tree_spec(tree)?;
    let Some(definition) = catalog.definition_of_rows(tree) else {
        return Ok(spec);
    };
    let transform = match definition.options.storage_format {
        StorageFormat::Fixed(Transform::Rows) => return Ok(spec),
        StorageFormat::Fixed(transform) => Some(PageTransform::Columns(transform)),
        StorageFormat::Auto => None,
    };
    // A layout that cannot be is found when the table is opened.
    let shape = row_layout(definition)
        .ok()
        .and_then(|layout| layout.page_shape());
    if let Some(shape) = shape {
        spec.codec = pool.by_columns(spec.codec, shape, transform);
    }
    Ok(spec)
}
