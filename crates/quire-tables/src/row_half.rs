//! The half of the engine that has rows: pool, log, transactions, and what follows from the definitions of row tables.

mod parts_cache;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quire_codec::Corrupt;
use quire_format::row_page::{PageTransform, RowPageShape};
use quire_kv::btree::Direction;
use quire_kv::mvcc::{Mvcc, TreeId, TreeReadError, TreeSpec};
use quire_store::Volume;
use quire_store::log::VolumeLog;
use quire_store::pool::Pool;

use crate::catalog::{Catalog, RowTableEntry};
use crate::definition::{StorageFormat, TreeRecord, TreeRole};
use crate::engine_options::EngineOptions;
use crate::error::EngineError;
use crate::rows::{AllRowParts, RowParts, row_layout};
use crate::sequences::Sequences;
use parts_cache::PartsCache;

/// Everything row tables need besides the catalog.
pub(crate) struct RowHalf {
    pub(crate) pool: Pool,
    pub(crate) mvcc: Mvcc,
    pub(crate) sequences: Sequences,
    pub(crate) numbers: GivenNumbers,
    parts: PartsCache,
}

/// The next numbers of tables, sequences and trees. A number is never given twice, although what had it may have been rolled
/// back: values of a sequence are committed by themselves, so that the log knows its tree, and that tree its number.
pub(crate) struct GivenNumbers {
    next_id: AtomicU64,
    next_tree_id: AtomicU64,
}

impl GivenNumbers {
    /// What the catalog, the tree of sequences and the log make certain.
    fn open(catalog: &Catalog, mvcc: &Mvcc) -> Result<Self, EngineError> {
        let mut next_id = catalog.next_id;
        let mut trees = catalog.trees.iter();
        if let Some(tree) = trees.find(|tree| tree.role == TreeRole::Sequences) {
            let view = mvcc.view();
            let scan = view.scan(TreeId::new(tree.id), &[], &[], Direction::Backward);
            let mut scan = scan.map_err(damaged_sequences)?;
            let last = scan.next_entry().map_err(damaged_sequences)?;
            let last = last.and_then(|(key, _)| key.try_into().ok());
            let last = last.map_or(0, u64::from_be_bytes);
            next_id = next_id.max(last.saturating_add(1));
        }
        let next_tree_id = catalog.next_tree_id.max(mvcc.unknown_tree_max() + 1);
        Ok(Self {
            next_id: AtomicU64::new(next_id),
            next_tree_id: AtomicU64::new(next_tree_id),
        })
    }

    /// Raises the numbers of a catalog to those that have not been given.
    pub(crate) fn raise(&self, catalog: &mut Catalog) {
        catalog.next_id = catalog.next_id.max(self.next_id.load(Ordering::Relaxed));
        let next_tree_id = self.next_tree_id.load(Ordering::Relaxed);
        catalog.next_tree_id = catalog.next_tree_id.max(next_tree_id);
    }

    /// Gives the next number of a table, view, sequence, index or role.
    pub(crate) fn give(&self, catalog: &mut Catalog) -> u64 {
        give(&self.next_id, &mut catalog.next_id)
    }

    /// Gives the next number of a tree.
    pub(crate) fn give_tree(&self, catalog: &mut Catalog) -> u64 {
        give(&self.next_tree_id, &mut catalog.next_tree_id)
    }
}

/// A number that nobody has, and that the catalog will not give either.
fn give(next: &AtomicU64, of_catalog: &mut u64) -> u64 {
    next.fetch_max(*of_catalog, Ordering::Relaxed);
    let number = next.fetch_add(1, Ordering::Relaxed);
    *of_catalog = number + 1;
    number
}

fn damaged_sequences(error: TreeReadError) -> EngineError {
    EngineError::Corrupt {
        what: "the tree of sequences".to_owned(),
        source: Corrupt::new(error.to_string(), 0),
    }
}

impl RowHalf {
    /// Opens the trees of a catalog and redoes what the log has.
    pub(crate) fn open(
        volume: &Volume,
        options: &EngineOptions,
        catalog: &Catalog,
    ) -> Result<Self, EngineError> {
        let pool = Pool::new(volume, options.pool.clone());
        let log = VolumeLog::open(volume, options.log.clone())?;
        let trees = catalog.live_trees().chain(&catalog.dropped_trees);
        let specs = trees
            .map(|tree| tree_spec(&pool, catalog, tree))
            .collect::<Result<Vec<_>, _>>()?;
        let mvcc = Mvcc::open(volume, &pool, &log, &specs, options.mvcc.clone())?;
        for tree in &catalog.dropped_trees {
            mvcc.remove_tree(TreeId::new(tree.id));
        }
        let numbers = GivenNumbers::open(catalog, &mvcc)?;
        Ok(Self {
            pool,
            numbers,
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

    /// What follows from the definitions of all row tables of a catalog, by name.
    pub(crate) fn all_parts(&self, catalog: &Catalog) -> Result<AllRowParts, EngineError> {
        let entries = catalog.row_tables.values();
        entries.map(|entry| self.parts(entry)).collect()
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
    let options = catalog.options_of(tree);
    let mut spec = catalog.tree_spec(tree, &options)?;
    if let Some((shape, transform)) = columns_of_leaves(catalog, tree) {
        spec.codec = match (transform, options.device_codec) {
            (None, Some(device)) => pool.by_columns_for_device(spec.codec, shape, device),
            (transform, _) => pool.by_columns(spec.codec, shape, transform),
        };
    }
    spec.codec = pool.with_dictionaries(spec.codec, tree.id);
    if let Some(target) = options.page_target {
        spec.codec = pool.with_target(spec.codec, tree.id, target);
    }
    Ok(spec)
}

/// Where the columns of the rows in a tree are, and which transform was asked for, if they are stored by columns.
fn columns_of_leaves(
    catalog: &Catalog,
    tree: &TreeRecord,
) -> Option<(RowPageShape, Option<PageTransform>)> {
    let definition = catalog.definition_of_rows(tree)?;
    let transform = match definition.options.storage_format {
        StorageFormat::Fixed(PageTransform::ROWS) => return None,
        StorageFormat::Fixed(transform) => Some(transform),
        StorageFormat::Auto => None,
    };
    // A layout that cannot be is found when the table is opened.
    let shape = row_layout(definition).ok()?.page_shape()?;
    Some((shape, transform))
}
