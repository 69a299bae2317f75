//! One transaction: what it sees, what it changes, and what it has locked.

use std::sync::Arc;

use quire_format::row_page::PageOp;

use super::commit::CommitAid;
use super::error::{KeyWriteError, LockError, TreeReadError};
use super::locks::{
    DefinitionLocks, HeldLocks, LockPosition, LockRequest, LockWait, RowLockMode, TableLockMode,
};
use super::manager::SharedManager;
use super::options::{Isolation, TransactionOptions};
use super::serializable::ReadSet;
use super::spare::clear;
use super::trees::{OpenTree, TreeId};
use super::view::{ReadSnapshot, ReadView};
use super::write_set::{WriteSet, WriteSetLookup};

/// A transaction. Dropping it rolls it back. It belongs to one thread at a time.
pub struct KvTransaction {
    pub(super) shared: Arc<SharedManager>,
    pub(super) options: TransactionOptions,
    pub(super) snapshot: Option<Arc<ReadSnapshot>>,
    pub(super) writes: WriteSet,
    pub(super) reads: Option<Arc<ReadSet>>,
    pub(super) locks: Option<HeldLocks>,
    pub(super) aid: CommitAid,
    savepoints: Vec<Mark>,
    next_savepoint: u64,
}

/// A point of a transaction to go back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KvSavepoint(u64);

struct Mark {
    savepoint: KvSavepoint,
    layers: usize,
    locks: LockPosition,
}

/// A row that is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockedRow {
    /// It was changed after the snapshot of the statement: read it again with [`KvTransaction::get_latest`]. At `ReadCommitted` only;
    /// otherwise such a row is [`LockError::Conflict`].
    pub is_changed_since_snapshot: bool,
}

impl KvTransaction {
    pub(super) fn new(shared: &Arc<SharedManager>, options: TransactionOptions) -> Self {
        let reads = (options.isolation == Isolation::Serializable).then(Arc::default);
        Self {
            shared: Arc::clone(shared),
            options,
            snapshot: None,
            writes: shared.new_write_set(),
            reads,
            locks: None,
            aid: CommitAid::default(),
            savepoints: Vec::new(),
            next_savepoint: 1,
        }
    }

    /// How it runs. The lock timeout, the cancellation and the durability may be changed at any time, the isolation before
    /// anything was done.
    pub fn options_mut(&mut self) -> &mut TransactionOptions {
        &mut self.options
    }

    /// How it runs.
    #[must_use]
    pub fn options(&self) -> &TransactionOptions {
        &self.options
    }

    /// What a statement that begins now sees: at `ReadCommitted` what is committed now, otherwise what was when the first
    /// statement began; and what the transaction has changed up to now, but not what it changes from now on.
    pub fn begin_statement(&mut self) -> ReadView {
        if self.options.isolation == Isolation::ReadCommitted {
            self.snapshot = None;
        }
        self.adopt_isolation();
        ReadView {
            snapshot: Arc::clone(self.snapshot()),
            trees: self.shared.trees.now(),
            layers: self.writes.freeze(),
            reads: self.reads.clone(),
        }
    }

    /// What is committed now, and everything that the transaction has changed, whatever its isolation: for constraints, which
    /// are about all rows there are.
    pub fn latest_view(&mut self) -> ReadView {
        ReadView {
            snapshot: Arc::new(ReadSnapshot::new(&self.shared)),
            trees: self.shared.trees.now(),
            layers: self.writes.freeze(),
            reads: self.reads.clone(),
        }
    }

    /// Shows the value of a key to `visit`, if there is one: its own change, or what the current statement's snapshot has.
    ///
    /// # Errors
    /// See [`TreeReadError`].
    pub fn get<R>(
        &mut self,
        tree: TreeId,
        key: &[u8],
        visit: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>, TreeReadError> {
        let visit = match self.writes.look(tree, key, |value| value.map(visit))? {
            WriteSetLookup::Shown(shown) => return Ok(shown),
            WriteSetLookup::Nothing(visit) => visit,
        };
        let open = self.shared.tree(tree)?;
        self.adopt_isolation();
        if let Some(reads) = &self.reads {
            reads.note_key(&open, key);
        }
        let at = self.snapshot().at();
        Ok(open.read_as_of(key, at, visit)?)
    }

    /// Shows the newest value of a key that the caller has locked to `visit`, if there is one: its own change, or what is
    /// committed.
    ///
    /// # Errors
    /// See [`TreeReadError`].
    pub fn get_latest<R>(
        &self,
        tree: TreeId,
        key: &[u8],
        visit: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>, TreeReadError> {
        let visit = match self.writes.look(tree, key, |value| value.map(visit))? {
            WriteSetLookup::Shown(shown) => return Ok(shown),
            WriteSetLookup::Nothing(visit) => visit,
        };
        let open = self.shared.tree(tree)?;
        if let Some(reads) = &self.reads {
            reads.note_key(&open, key);
        }
        // With the lock no commit of this key is under way, and the page has the newest.
        let (found, leaf) = open.btree.look(key, visit)?;
        self.aid.note_leaf(tree, leaf);
        Ok(found)
    }

    /// Adds an entry or replaces its value. Takes the lock of the row, if the transaction does not have it.
    ///
    /// # Errors
    /// See [`KeyWriteError`]: a lock, or an entry that the tree cannot hold.
    pub fn put(&mut self, tree: TreeId, key: &[u8], value: &[u8]) -> Result<(), KeyWriteError> {
        let overflow = false;
        let op = PageOp::Put {
            key,
            value,
            overflow,
        };
        self.change(tree, &op, Some(value))
    }

    /// As [`put`](Self::put), of a row that the caller has locked.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn put_locked(
        &mut self,
        tree: TreeId,
        key: &[u8],
        value: &[u8],
    ) -> Result<(), KeyWriteError> {
        let open = self.shared.trees.get(tree);
        let open = open.ok_or(LockError::UnknownTree { tree })?;
        let overflow = false;
        open.btree.check_size(&PageOp::Put {
            key,
            value,
            overflow,
        })?;
        Ok(self.writes.set(&open, key, Some(value))?)
    }

    /// Removes an entry, if there is one. Takes the lock of the row, if the transaction does not have it.
    ///
    /// # Errors
    /// See [`KeyWriteError`].
    pub fn remove(&mut self, tree: TreeId, key: &[u8]) -> Result<(), KeyWriteError> {
        self.change(tree, &PageOp::Remove { key }, None)
    }

    fn change(
        &mut self,
        tree: TreeId,
        op: &PageOp<'_>,
        value: Option<&[u8]>,
    ) -> Result<(), KeyWriteError> {
        let open = self.shared.trees.get(tree);
        let open = open.ok_or(LockError::UnknownTree { tree })?;
        open.btree.check_size(op)?;
        self.lock_open(&open, op.key(), RowLockMode::Exclusive, LockWait::Wait)?;
        Ok(self.writes.set(&open, op.key(), value)?)
    }

    /// Locks a row, present or not, until the transaction ends or goes back to a savepoint before. `None`: it was to
    /// be skipped.
    ///
    /// # Errors
    /// See [`LockError`]. After `Conflict` the lock is held.
    pub fn lock_row(
        &mut self,
        tree: TreeId,
        key: &[u8],
        mode: RowLockMode,
        wait: LockWait,
    ) -> Result<Option<LockedRow>, LockError> {
        let open = self.shared.trees.get(tree);
        let open = open.ok_or(LockError::UnknownTree { tree })?;
        self.lock_open(&open, key, mode, wait)
    }

    /// Locks a table, by any number that names it. False: it was to be skipped.
    ///
    /// # Errors
    /// See [`LockError`].
    pub fn lock_table(
        &mut self,
        table: u64,
        mode: TableLockMode,
        wait: LockWait,
    ) -> Result<bool, LockError> {
        let (locks, request) = self.locks(wait);
        locks.take_table(table, mode, &request)
    }

    /// Locks of definitions, which belong to this transaction among those that wait for each other. None is taken yet.
    pub fn definition_locks(&mut self) -> DefinitionLocks {
        let options = self.options.clone();
        let (locks, _) = self.locks(LockWait::Wait);
        locks.of_definitions(&options)
    }

    /// Remembers what was changed and locked until now. Costs little; a later change goes into a layer of its own.
    pub fn savepoint(&mut self) -> KvSavepoint {
        let savepoint = KvSavepoint(self.next_savepoint);
        self.next_savepoint += 1;
        let locks = self.locks.as_ref();
        self.savepoints.push(Mark {
            savepoint,
            layers: self.writes.mark(),
            locks: locks.map(HeldLocks::position).unwrap_or_default(),
        });
        savepoint
    }

    /// Forgets what was changed since, gives back what was locked since, and forgets later savepoints; the savepoint
    /// stays. False when it does not exist any more.
    pub fn rollback_to(&mut self, savepoint: KvSavepoint) -> bool {
        let Some(place) = self.place_of(savepoint) else {
            return false;
        };
        self.savepoints.truncate(place + 1);
        let mark = &self.savepoints[place];
        self.writes.truncate(mark.layers);
        if let Some(locks) = &mut self.locks {
            locks.release_since(mark.locks);
        }
        true
    }

    /// Forgets a savepoint, and those after it. False when it does not exist any more.
    pub fn release(&mut self, savepoint: KvSavepoint) -> bool {
        let Some(place) = self.place_of(savepoint) else {
            return false;
        };
        self.savepoints.truncate(place);
        let mark = self.savepoints.last().map(|mark| mark.layers);
        self.writes.set_floor(mark);
        true
    }

    /// Has it changed anything?
    #[must_use]
    pub fn has_changes(&self) -> bool {
        !self.writes.is_empty()
    }

    /// Forgets everything. The same as dropping it.
    pub fn rollback(self) {}

    /// Its changes were committed: it has done nothing from now on, and has locked nothing.
    pub(super) fn renew(&mut self) {
        (self.snapshot, self.reads) = (None, None);
        if let Some(locks) = &mut self.locks {
            locks.renew();
        }
        // Their numbers go on: a savepoint of before names none that comes.
        clear(&mut self.savepoints);
        self.aid.clear();
    }

    fn place_of(&self, savepoint: KvSavepoint) -> Option<usize> {
        let mut marks = self.savepoints.iter();
        marks.position(|mark| mark.savepoint == savepoint)
    }

    fn lock_open(
        &mut self,
        open: &Arc<OpenTree>,
        key: &[u8],
        mode: RowLockMode,
        wait: LockWait,
    ) -> Result<Option<LockedRow>, LockError> {
        self.adopt_isolation();
        let isolation = self.options.isolation;
        if isolation != Isolation::ReadCommitted {
            // Before waiting: what the other one changes is a conflict.
            self.snapshot();
        }
        let (locks, request) = self.locks(wait);
        if !locks.take_row(open, key, mode, &request)? {
            return Ok(None);
        }
        let changed =
            |snapshot: &Arc<ReadSnapshot>| open.versions.is_changed_since(key, snapshot.at());
        let is_changed = self.snapshot.as_ref().is_some_and(changed);
        if is_changed && isolation != Isolation::ReadCommitted {
            return Err(LockError::Conflict);
        }
        Ok(Some(LockedRow {
            is_changed_since_snapshot: is_changed,
        }))
    }

    fn locks(&mut self, wait: LockWait) -> (&mut HeldLocks, LockRequest<'_>) {
        let table = &self.shared.locks;
        let session = self.options.session;
        let locks = self
            .locks
            .get_or_insert_with(|| HeldLocks::new(table, session));
        let request = LockRequest {
            wait,
            timeout: self.options.lock_timeout,
            cancel: self.options.cancel.as_ref(),
        };
        (locks, request)
    }

    fn snapshot(&mut self) -> &Arc<ReadSnapshot> {
        let shared = &self.shared;
        self.snapshot
            .get_or_insert_with(|| Arc::new(ReadSnapshot::new(shared)))
    }

    /// The isolation may have been changed since the transaction was made.
    fn adopt_isolation(&mut self) {
        let is_serializable = self.options.isolation == Isolation::Serializable;
        if is_serializable != self.reads.is_some() {
            self.reads = is_serializable.then(Arc::default);
        }
    }
}
