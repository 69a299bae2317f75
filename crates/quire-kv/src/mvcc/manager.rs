//! The entry point of the module: trees, transactions, views, checkpoints.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use quire_store::log::{LogSequence, VolumeLog};
use quire_store::pool::Pool;
use quire_store::{Durability, Volume, WriteBatch};

use super::background::Background;
use super::clock::CommitClock;
use super::error::{KvCommitError, TreeCheckpointError, TreeReadError, TreesOpenError};
use super::locks::{LockReport, LockTable};
use super::options::{MvccOptions, Synchronous, TransactionOptions};
use super::serializable::Validation;
use super::snapshots::Snapshots;
use super::transaction::KvTransaction;
use super::trees::{OpenTree, TreeId, TreeSpec, Trees};
use super::view::{ReadSnapshot, ReadView};
use crate::btree::{BTree, TreeError, TreeReport};

/// Trees, and transactions over them. A cheap handle: clones are the same. There is one for a volume with its pool and its log.
///
/// When the last handle goes, its thread ends, and what has changed is flushed if that is possible; transactions
/// and views that are left stay usable.
#[derive(Clone)]
pub struct Mvcc {
    pub(super) shared: Arc<SharedManager>,
    _background: Arc<Background>,
}

/// The state shared by handles, transactions and views.
pub(super) struct SharedManager {
    pub(super) volume: Volume,
    pub(super) pool: Pool,
    pub(super) log: VolumeLog,
    pub(super) options: MvccOptions,
    pub(super) trees: Trees,
    pub(super) clock: CommitClock,
    pub(super) locks: Arc<LockTable>,
    pub(super) snapshots: Snapshots,
    pub(super) validation: Validation,
    /// The reason why commits are refused, if they are.
    pub(super) stopped: OnceLock<String>,
    /// The greatest tree number in the log that belongs to no known tree.
    pub(super) unknown_tree_max: AtomicU64,
    /// Dropped trees whose pages are freed when no reader is left.
    pub(super) removed: Mutex<Vec<Arc<OpenTree>>>,
    /// Serializes checkpoints.
    pub(super) checkpointing: Mutex<()>,
    /// The newest commit that the last checkpoint includes.
    pub(super) checkpointed: AtomicU64,
    /// Bytes of redo records since the last checkpoint.
    pub(super) logged_bytes: AtomicU64,
    /// Held in shared mode by every commit, and exclusively by a large one.
    pub(super) commits: RwLock<()>,
    /// Sequence of the large commit that is partially applied to the pages; 0 if there is none.
    pub(super) applying: AtomicU64,
    pub(super) signals: super::background::Signals,
    /// Renews pins of the volume that are older than necessary.
    pub(super) unpin: OnceLock<super::room::Unpin>,
}

/// A snapshot of the state of transactions, for monitoring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MvccStatistics {
    /// The newest visible commit.
    pub visible: u64,
    /// The commit of the oldest snapshot in use.
    pub oldest_snapshot: Option<u64>,
    /// Number of keys with superseded versions in memory.
    pub versioned_keys: usize,
    /// Number of locks held.
    pub locks: usize,
    /// Bytes of log that recovery would read. After a checkpoint this is updated by the next commit only.
    pub log_bytes: u64,
}

impl Mvcc {
    /// Opens trees and replays the log. Records of trees that are not in `trees` are skipped, because these trees were dropped. The log of
    /// a read-only volume is replayed in memory, and commits are refused.
    ///
    /// # Errors
    /// See [`TreesOpenError`].
    pub fn open(
        volume: &Volume,
        pool: &Pool,
        log: &VolumeLog,
        trees: &[TreeSpec],
        options: MvccOptions,
    ) -> Result<Self, TreesOpenError> {
        let shared = SharedManager {
            volume: volume.clone(),
            pool: pool.clone(),
            log: log.clone(),
            trees: Trees::default(),
            clock: CommitClock::new(log.last_sequence().get()),
            locks: Arc::new(LockTable::new()),
            snapshots: Snapshots::default(),
            validation: Validation::default(),
            stopped: OnceLock::new(),
            unknown_tree_max: AtomicU64::new(0),
            removed: Mutex::default(),
            checkpointing: Mutex::default(),
            checkpointed: AtomicU64::new(u64::MAX),
            logged_bytes: AtomicU64::new(log.live_bytes()),
            commits: RwLock::default(),
            applying: AtomicU64::new(0),
            signals: super::background::Signals::default(),
            unpin: OnceLock::new(),
            options,
        };
        for spec in trees {
            let tree = spec.id;
            let opened = shared.open_tree(spec);
            let opened = opened.map_err(|source| TreesOpenError::Tree { tree, source })?;
            if !shared.trees.add(opened) {
                return Err(TreesOpenError::Twice { tree });
            }
        }
        shared.replay()?;
        let shared = Arc::new(shared);
        let background = Background::start(&shared).map_err(TreesOpenError::Thread)?;
        Ok(Self {
            shared,
            _background: Arc::new(background),
        })
    }

    /// Begins a transaction. Dropping it rolls it back.
    #[must_use]
    pub fn begin(&self, options: TransactionOptions) -> KvTransaction {
        KvTransaction::new(&self.shared, options)
    }

    /// Makes durable what was committed before the call, however it was committed.
    ///
    /// # Errors
    /// See [`KvCommitError`].
    pub fn sync(&self) -> Result<(), KvCommitError> {
        // A commit of nothing takes its turn behind those before it, and shares its fsync with others of its group.
        let nothing = self.begin(TransactionOptions::default());
        let synced = nothing.commit_with(|redo| -> Result<_, KvCommitError> {
            Ok((redo.commit(Synchronous::Full)?, ()))
        });
        synced.map(drop)
    }

    /// What is committed now.
    #[must_use]
    pub fn view(&self) -> ReadView {
        ReadView {
            snapshot: Arc::new(ReadSnapshot::new(&self.shared)),
            trees: self.shared.trees.now(),
            layers: Arc::default(),
            reads: None,
        }
    }

    /// Shows the committed value of one key to `visit`, if there is one: a statement that is a transaction of its own. The
    /// closure runs under the latch of a page and must not use trees, views or transactions.
    ///
    /// # Errors
    /// See [`TreeReadError`].
    pub fn get<R>(
        &self,
        tree: TreeId,
        key: &[u8],
        visit: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>, TreeReadError> {
        let open = self.shared.tree(tree)?;
        // No snapshot is registered: a value that is gone when it is looked for was superseded by a commit that is visible.
        let at = self.shared.clock.visible();
        Ok(open.read_as_of(key, at, |value| value.map(visit))?)
    }

    /// Adds a tree: at once, for all. Views that exist do not have it.
    ///
    /// # Errors
    /// A tree that cannot be opened or made; [`TreeError::Astray`] when there is one with that number.
    pub fn add_tree(&self, spec: &TreeSpec) -> Result<(), TreeError> {
        self.add_open_tree(self.shared.open_tree(spec)?)
    }

    /// Adds a tree that was built.
    ///
    /// # Errors
    /// [`TreeError::Astray`] when there is one with that number.
    pub fn add_built_tree(&self, id: TreeId, tree: BTree) -> Result<(), TreeError> {
        let row_locks_max = self.shared.options.row_locks_per_tree;
        self.add_open_tree(OpenTree::new(id, tree, row_locks_max))
    }

    fn add_open_tree(&self, tree: OpenTree) -> Result<(), TreeError> {
        let page = tree.btree.root();
        if self.shared.trees.add(tree) {
            return Ok(());
        }
        let what = "is the root of a tree whose number another tree has";
        Err(TreeError::Astray { page, what })
    }

    /// Removes a tree: at once, for all but the views that have it. The next checkpoint after the last of these is gone frees its
    /// pages. False when there is no such tree.
    pub fn remove_tree(&self, id: TreeId) -> bool {
        let Some(tree) = self.shared.trees.remove(id) else {
            return false;
        };
        let removed = self.shared.removed.lock();
        removed.unwrap_or_else(PoisonError::into_inner).push(tree);
        true
    }

    /// Frees the pages of removed trees while no flush is in progress. False if some of these trees cannot be freed yet, because a view
    /// has them: until a checkpoint after its end, flushes write their pages.
    pub fn free_trees(&self, trees: &[TreeId]) -> bool {
        let flushes = self.shared.checkpointing.lock();
        let _no_flush = flushes.unwrap_or_else(PoisonError::into_inner);
        let freed = self.shared.free_removed_trees();
        freed.is_ok() && !trees.iter().any(|tree| self.has_tree(*tree))
    }

    /// The log may have records of trees that are not there up to this number: no new tree may have it.
    #[must_use]
    pub fn unknown_tree_max(&self) -> u64 {
        self.shared.unknown_tree_max.load(Ordering::Relaxed)
    }

    /// Whether there is a tree, or one that was removed and whose pages have not been freed.
    #[must_use]
    pub fn has_tree(&self, id: TreeId) -> bool {
        let removed = self.shared.removed.lock();
        let removed = removed.unwrap_or_else(PoisonError::into_inner);
        removed.iter().any(|tree| tree.id() == id) || self.shared.trees.get(id).is_some()
    }

    /// Whether there are removed trees whose pages have not been freed.
    #[must_use]
    pub fn has_removed_trees(&self) -> bool {
        let removed = self.shared.removed.lock();
        !removed.unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Checks the pages of a tree as [`BTree::check`] does.
    ///
    /// # Errors
    /// [`TreeReadError::UnknownTree`].
    pub fn check_tree(&self, id: TreeId) -> Result<TreeReport, TreeReadError> {
        Ok(self.shared.tree(id)?.btree.check())
    }

    /// Writes all changed pages, and shortens the log.
    ///
    /// # Errors
    /// See [`TreeCheckpointError`].
    pub fn checkpoint(&self) -> Result<(), TreeCheckpointError> {
        self.shared.checkpoint()
    }

    /// Commits a batch that changes no rows, synced, behind all commits of rows before it.
    pub fn commit_pages(&self, batch: WriteBatch) -> Result<u64, quire_store::CommitError> {
        self.shared.log.commit_pages(batch, Durability::Synced)
    }

    /// The newest visible commit.
    #[must_use]
    pub fn visible(&self) -> LogSequence {
        LogSequence::new(self.shared.clock.visible())
    }

    /// Locks of everybody, and who waits for them. Rows that nobody waits for are left out.
    pub fn lock_report(&self) -> Vec<LockReport> {
        self.shared.locks.report()
    }

    /// The current state of transactions.
    #[must_use]
    pub fn statistics(&self) -> MvccStatistics {
        let shared = &self.shared;
        let trees = shared.trees.now();
        MvccStatistics {
            visible: shared.clock.visible(),
            oldest_snapshot: shared.snapshots.oldest(),
            versioned_keys: trees.values().map(|tree| tree.versions.key_count()).sum(),
            locks: shared.locks.count(),
            log_bytes: shared.log.live_bytes(),
        }
    }
}

impl SharedManager {
    pub(super) fn tree(&self, tree: TreeId) -> Result<Arc<OpenTree>, TreeReadError> {
        let open = self.trees.get(tree);
        open.ok_or(TreeReadError::UnknownTree { tree })
    }

    fn open_tree(&self, spec: &TreeSpec) -> Result<OpenTree, TreeError> {
        let guard = self.pool.begin_change();
        let btree = BTree::open_or_create(&self.pool, spec.codec, spec.options, spec.root, &guard)?;
        let mut open = OpenTree::new(spec.id, btree, self.options.row_locks_per_tree);
        open.holds_deletions = spec.holds_deletions;
        Ok(open)
    }

    /// From now on nothing is committed.
    pub(super) fn stop(&self, detail: &str) {
        let _ = self.stopped.set(detail.to_owned());
        self.clock.stop();
    }
}
