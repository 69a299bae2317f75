//! The trees that transactions read and change.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError, RwLock};

use quire_store::PageId;
use quire_store::pool::PageCodec;

use super::versions::Versions;
use crate::btree::{BTree, TreeOptions};

/// Number of a tree. The log names trees by it: a number is never used for another tree, not even after its tree was
/// dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeId(u64);

impl TreeId {
    /// The tree with that number. The greatest number is no tree's.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for TreeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A tree as the catalog knows it.
#[derive(Clone, Copy, Debug)]
pub struct TreeSpec {
    /// Its number.
    pub id: TreeId,
    /// Its root. If there is no such page, the tree is empty: it was made by a committed transaction, and never flushed.
    pub root: PageId,
    /// How its pages are compressed.
    pub codec: PageCodec,
    /// What its pages have in common, for a tree that has none yet.
    pub options: TreeOptions,
    /// Each entry says of something elsewhere that it is gone: on a full disk a put is a deletion, not growth.
    pub holds_deletions: bool,
}

/// A tree, what its keys had before, and who has all of it.
pub(super) struct OpenTree {
    id: TreeId,
    pub(super) btree: BTree,
    pub(super) versions: Versions,
    /// The transaction that has locked all rows; 0: none.
    pub(super) locked_by: AtomicU64,
    /// Row locks of one transaction from which on it tries to lock all rows.
    pub(super) row_locks_max: usize,
    /// As [`TreeSpec::holds_deletions`].
    pub(super) holds_deletions: bool,
}

impl OpenTree {
    /// One of ordinary entries.
    pub(super) fn new(id: TreeId, btree: BTree, row_locks_max: usize) -> Self {
        Self {
            id,
            btree,
            versions: Versions::default(),
            locked_by: AtomicU64::new(0),
            row_locks_max,
            holds_deletions: false,
        }
    }

    pub(super) fn id(&self) -> TreeId {
        self.id
    }
}

/// The trees as of one moment.
pub(super) type TreeMap = HashMap<TreeId, Arc<OpenTree>, BuildHasherDefault<TreeHasher>>;

/// Tree numbers are assigned sequentially, so a multiplicative hash distributes them well.
#[derive(Default)]
pub(super) struct TreeHasher(u64);

impl Hasher for TreeHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let product = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }
}

/// The open trees. Writers copy the map on write, so a reader's copy never changes.
#[derive(Default)]
pub(super) struct Trees {
    map: RwLock<Arc<TreeMap>>,
}

impl Trees {
    pub(super) fn now(&self) -> Arc<TreeMap> {
        Arc::clone(&self.map.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn get(&self, id: TreeId) -> Option<Arc<OpenTree>> {
        let map = self.map.read().unwrap_or_else(PoisonError::into_inner);
        map.get(&id).map(Arc::clone)
    }

    /// Adds a tree; false when there is one with that number.
    pub(super) fn add(&self, tree: OpenTree) -> bool {
        let mut map = self.map.write().unwrap_or_else(PoisonError::into_inner);
        if map.contains_key(&tree.id) {
            return false;
        }
        Arc::make_mut(&mut map).insert(tree.id, Arc::new(tree));
        true
    }

    pub(super) fn remove(&self, id: TreeId) -> Option<Arc<OpenTree>> {
        let mut map = self.map.write().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut map).remove(&id)
    }
}
