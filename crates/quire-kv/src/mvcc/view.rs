//! One state of all trees, to read.

use std::sync::Arc;

use quire_store::log::LogSequence;

use super::TreeId;
use super::error::TreeReadError;
use super::manager::SharedManager;
use super::scan::BTreeScan;
use super::serializable::ReadSet;
use super::trees::{OpenTree, TreeMap};
use super::write_set::{Layer, WriteSetLookup, look_in};
use crate::btree::{Direction, LeafEstimate, TreeError};

/// A registered snapshot: as long as it lives, what it reads is kept.
pub(super) struct ReadSnapshot {
    shared: Arc<SharedManager>,
    at: u64,
    /// The trees that there were then: later ones may have taken their places since.
    trees: Arc<TreeMap>,
}

impl ReadSnapshot {
    pub(super) fn new(shared: &Arc<SharedManager>) -> Self {
        Self {
            at: shared.snapshots.register(&shared.clock),
            trees: shared.trees.now(),
            shared: Arc::clone(shared),
        }
    }

    pub(super) fn at(&self) -> u64 {
        self.at
    }
}

impl Drop for ReadSnapshot {
    fn drop(&mut self) {
        self.shared.snapshots.end(self.at);
    }
}

/// The trees as of one commit, and, on top of that, what a transaction had changed when the view was made. It stays
/// like that, however long it lives, and belongs to no thread.
///
/// Values are shown under the latch of a page: no closure that is given to a view may use trees, views or transactions.
#[derive(Clone)]
pub struct ReadView {
    pub(super) snapshot: Arc<ReadSnapshot>,
    pub(super) trees: Arc<TreeMap>,
    /// The oldest first.
    pub(super) layers: Arc<[Arc<Layer>]>,
    pub(super) reads: Option<Arc<ReadSet>>,
}

impl ReadView {
    /// The newest commit in it.
    #[must_use]
    pub fn sequence(&self) -> LogSequence {
        LogSequence::new(self.snapshot.at())
    }

    /// Shows the value of a key to `visit`, if there is one.
    ///
    /// # Errors
    /// See [`TreeReadError`].
    pub fn get<R>(
        &self,
        tree: TreeId,
        key: &[u8],
        visit: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>, TreeReadError> {
        let visit = match look_in(&self.layers, tree, key, |value| value.map(visit))? {
            WriteSetLookup::Shown(shown) => return Ok(shown),
            WriteSetLookup::Nothing(visit) => visit,
        };
        let open = self.tree(tree)?;
        if let Some(reads) = &self.reads {
            reads.note_key(open, key);
        }
        Ok(open.read_as_of(key, self.snapshot.at(), visit)?)
    }

    /// The entries from `low` up to, without, `high`. A bound of no bytes is none.
    ///
    /// # Errors
    /// [`TreeReadError::UnknownTree`].
    pub fn scan(
        &self,
        tree: TreeId,
        low: &[u8],
        high: &[u8],
        direction: Direction,
    ) -> Result<BTreeScan, TreeReadError> {
        let open = Arc::clone(self.tree(tree)?);
        Ok(BTreeScan::new(self.clone(), open, low, high, direction))
    }

    /// About how many entries are from `low` up to, without, `high`; a bound of no bytes is none.
    ///
    /// # Errors
    /// See [`TreeReadError`].
    pub fn estimate_entries(
        &self,
        tree: TreeId,
        low: &[u8],
        high: &[u8],
    ) -> Result<u64, TreeReadError> {
        Ok(self.tree(tree)?.btree.estimate_entries(low, high)?)
    }

    /// About how many entries and leaves a tree has, and where these are, by up to `page_count_max` pages of each level.
    ///
    /// # Errors
    /// See [`TreeReadError`].
    pub fn estimate_leaves(
        &self,
        tree: TreeId,
        page_count_max: usize,
        told: &mut dyn FnMut(u64, u64),
    ) -> Result<LeafEstimate, TreeReadError> {
        let btree = &self.tree(tree)?.btree;
        Ok(btree.estimate_leaves(page_count_max, told)?)
    }

    /// Keys that cut a range into up to `part_count` parts of about one size.
    ///
    /// # Errors
    /// See [`TreeReadError`].
    pub fn separators(
        &self,
        tree: TreeId,
        low: &[u8],
        high: &[u8],
        part_count: usize,
    ) -> Result<Vec<Vec<u8>>, TreeReadError> {
        Ok(self.tree(tree)?.btree.separators(low, high, part_count)?)
    }

    /// Whether no commit has become visible since it was made.
    pub fn is_newest(&self) -> bool {
        self.snapshot.at == self.snapshot.shared.clock.visible()
    }

    /// It shows nothing that its transaction has changed any more, and no longer keeps that apart from later changes.
    pub fn forget_changes(&mut self) {
        self.layers = Arc::default();
    }

    /// Trees that an older view of the same snapshot has stay readable, although they have been dropped since.
    pub fn keep_trees_of(&mut self, older: &Self) {
        if Arc::ptr_eq(&self.trees, &older.trees) {
            return;
        }
        for (id, tree) in older.trees.iter() {
            if !self.trees.contains_key(id) {
                Arc::make_mut(&mut self.trees).insert(*id, Arc::clone(tree));
            }
        }
    }

    /// All of a tree counts as read.
    pub fn note_all_of(&self, tree: TreeId) {
        if let (Some(reads), Some(tree)) = (&self.reads, self.trees.get(&tree)) {
            reads.note_range(tree, &[], &[]);
        }
    }

    fn tree(&self, tree: TreeId) -> Result<&Arc<OpenTree>, TreeReadError> {
        let open = self.trees.get(&tree);
        let open = open.or_else(|| self.snapshot.trees.get(&tree));
        open.ok_or(TreeReadError::UnknownTree { tree })
    }
}

impl OpenTree {
    /// Shows what a key has as of commit `at`.
    pub(super) fn read_as_of<R>(
        &self,
        key: &[u8],
        at: u64,
        visit: impl FnOnce(Option<&[u8]>) -> R,
    ) -> Result<R, TreeError> {
        // A leaf that is not in memory is shown as it was at some time since this began: what came later is noted.
        self.btree.glance(key, |value| {
            self.versions
                .as_of(key, at, |superseded| visit(superseded.unwrap_or(value)))
        })
    }
}
