//! Commit: the changes go to the log, then to the pages, then become visible.
//!
//! 1. A serializable transaction is validated.
//! 2. A change guard of the pool is acquired, so that no flush comes between the log and the pages. After an earlier failure to apply
//!    a logged commit, every further one is refused here.
//! 3. The redo records are logged. From here on the transaction is committed, with the sequence that the log assigned.
//! 4. For each key the old value is recorded as superseded at the sequence, then the page is changed.
//! 5. The guard is released, and the sequence becomes visible after all earlier ones.
//! 6. Superseded versions that no snapshot needs are dropped. Locks are released.
//!
//! A commit that was too large for memory excludes all others from step 2 to 4, and may admit flushes in between.
//!
//! The guard is held from before the sequence is assigned until the pages have the changes. A flush therefore finds in the pages exactly
//! the commits up to the newest one, as [`crate::btree::BTree::redo`] requires.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quire_format::row_page::{ApplyError, PageOp};
use quire_store::log::LogSequence;
use quire_store::pool::ChangeGuard;

use super::changes::TreeChanges;
use super::error::KvCommitError;
use super::manager::SharedManager;
use super::ordered::Change;
use super::redo::Redo;
use super::spare::clear;
use super::transaction::KvTransaction;
use super::trees::{OpenTree, TreeId};
use super::write_set::WriteSet;
use crate::btree::{NearLeaf, TreeError};

/// Redo records are cut into parts of about this length, or that of a large write set.
const REDO_PART_BYTES: usize = 1 << 20;

/// On a full disk parts are as long as one or two blocks: free space in short pieces can take them.
const REDO_PART_BYTES_FULL: usize = 7_500;

/// A large commit looks so often whether pages should be flushed.
const STEP: usize = 1000;

/// On a full disk a commit is tried so often again, each time after cleaning: others may have been quicker.
const ROOM_ATTEMPTS: usize = 3;

/// On a full disk a commit of more keys than this is one after which pages are flushed while it is applied.
const KEYS_AT_ONCE: usize = 4;

/// What a transaction has ready for its commit.
#[derive(Default)]
pub(super) struct CommitAid {
    /// Memory for its redo records.
    redo: Vec<u8>,
    /// The leaf where it has looked last for a row that it has locked: mostly it changes that row, and needs no descent for it. The
    /// frame stays in memory until the transaction ends.
    near: Mutex<Option<(TreeId, NearLeaf)>>,
}

impl CommitAid {
    pub(super) fn note_leaf(&self, tree: TreeId, leaf: NearLeaf) {
        *self.near() = Some((tree, leaf));
    }

    /// Keeps memory only.
    pub(super) fn clear(&mut self) {
        *self.near() = None;
        clear(&mut self.redo);
    }

    fn near(&self) -> MutexGuard<'_, Option<(TreeId, NearLeaf)>> {
        self.near.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KvTransaction {
    /// Commits. One that has changed nothing does nothing, and returns the newest visible commit.
    ///
    /// # Errors
    /// See [`KvCommitError`]. Unless the error says otherwise, the transaction is rolled back.
    pub fn commit(mut self) -> Result<LogSequence, KvCommitError> {
        self.commit_and_renew()
    }

    /// The same; it is a new transaction then, of the same options, and has the memory of the one that was committed.
    ///
    /// # Errors
    /// As [`commit`](Self::commit): it must be dropped.
    pub fn commit_and_renew(&mut self) -> Result<LogSequence, KvCommitError> {
        if !self.has_changes() {
            self.renew();
            return Ok(LogSequence::new(self.shared.clock.visible()));
        }
        let synchronous = self.options.synchronous;
        let log = |redo: Redo<'_>| Ok((redo.commit(synchronous)?, ()));
        self.commit_by(|shared, changes, aid| {
            let mut result: Result<_, KvCommitError> = shared.commit(changes, aid, log);
            for attempt in 0..ROOM_ATTEMPTS {
                match &result {
                    Err(error) if error.is_full() => shared.make_room(attempt > 0),
                    _ => break,
                }
                result = shared.commit(changes, aid, log);
            }
            result
        })
    }

    /// Commits together with what is not in trees: `log` is given the redo records, and commits them with
    /// [`Redo::commit_batch`] and a batch of the volume that may have other pages too. Without changes it is called
    /// all the same. What it returns besides is dropped when others see the commit.
    ///
    /// `log` begins the batch itself: the caller must not hold one when it calls this, and `log` must not use this
    /// pool's `begin_change`, trees or transactions.
    ///
    /// # Errors
    /// Those of `log`: the transaction is rolled back. See also [`KvCommitError`].
    pub fn commit_with<G, E: From<KvCommitError>>(
        mut self,
        log: impl FnOnce(Redo<'_>) -> Result<(LogSequence, G), E>,
    ) -> Result<LogSequence, E> {
        self.commit_by(|shared, changes, aid| shared.commit(changes, aid, log))
    }

    fn commit_by<E: From<KvCommitError>>(
        &mut self,
        commit: impl FnOnce(&SharedManager, &[TreeChanges], &mut CommitAid) -> Result<LogSequence, E>,
    ) -> Result<LogSequence, E> {
        let changes = self.writes.take_changes().map_err(KvCommitError::from)?;
        let sequence = if self.reads.is_some() && self.snapshot.is_some() {
            self.commit_validated(changes, commit)?
        } else {
            // What it overwrites need not be kept for it.
            self.snapshot = None;
            let sequence = commit(&self.shared, &changes, &mut self.aid)?;
            self.writes.keep_memory(changes);
            sequence
        };
        self.renew();
        self.shared.after_commit(self.options.synchronous);
        self.shared.keep_flush_room();
        Ok(sequence)
    }

    /// Commits changes, unless another has committed what the transaction has read.
    fn commit_validated<E: From<KvCommitError>>(
        &mut self,
        changes: Vec<TreeChanges>,
        commit: impl FnOnce(&SharedManager, &[TreeChanges], &mut CommitAid) -> Result<LogSequence, E>,
    ) -> Result<LogSequence, E> {
        let changes = Arc::new(changes);
        let validated = match (&self.reads, self.snapshot.take()) {
            (Some(reads), Some(snapshot)) => {
                let validation = &self.shared.validation;
                let validated = validation.validate(snapshot.at(), reads, &changes);
                Some(validated.ok_or(KvCommitError::Conflict)?)
            }
            _ => None,
        };
        let sequence = commit(&self.shared, &changes, &mut self.aid)?;
        drop(validated);
        Ok(sequence)
    }
}

impl SharedManager {
    pub(super) fn new_write_set(&self) -> WriteSet {
        let options = &self.options;
        WriteSet::new(options.write_set_bytes, options.spill_directory.as_ref())
    }

    fn commit<G, E: From<KvCommitError>>(
        &self,
        changes: &[TreeChanges],
        CommitAid { redo: memory, near }: &mut CommitAid,
        log: impl FnOnce(Redo<'_>) -> Result<(LogSequence, G), E>,
    ) -> Result<LogSequence, E> {
        self.wait_for_room();
        let part_bytes = if self.volume.is_full() {
            REDO_PART_BYTES_FULL
        } else {
            self.options.write_set_bytes.min(REDO_PART_BYTES)
        };
        let near = near.get_mut().unwrap_or_else(PoisonError::into_inner);
        let redo = Redo::of(&self.log, changes, part_bytes, memory)?;
        let redo_bytes = redo.bytes();
        let key_count: usize = changes.iter().map(|it| it.changes.len()).sum();
        let is_large = changes.iter().any(|of_tree| !of_tree.spilled.is_empty())
            || self.volume.is_full() && key_count > KEYS_AT_ONCE;
        let (sequence, held) = if is_large {
            let _alone = self.commits.write().unwrap_or_else(PoisonError::into_inner);
            self.log_and_apply(changes, || log(redo), near, redo_bytes, is_large)?
        } else {
            let _beside = self.commits.read().unwrap_or_else(PoisonError::into_inner);
            self.log_and_apply(changes, || log(redo), near, redo_bytes, is_large)?
        };
        let shown = self.clock.publish(sequence.get());
        drop(held);
        shown.map_err(|_| self.not_applied())?;
        // When the file of a large one cannot be read, older values stay in memory.
        let _ = self.snapshots.collect(sequence.get(), changes);
        Ok(sequence)
    }

    /// Steps 2 to 4.
    fn log_and_apply<G, E: From<KvCommitError>>(
        &self,
        changes: &[TreeChanges],
        log: impl FnOnce() -> Result<(LogSequence, G), E>,
        near: &mut Option<(TreeId, NearLeaf)>,
        redo_bytes: u64,
        is_large: bool,
    ) -> Result<(LogSequence, G), E> {
        let guard = self.pool.begin_change();
        if let Some(detail) = self.stopped.get() {
            let detail = detail.clone();
            return Err(KvCommitError::Stopped { detail }.into());
        }
        let (sequence, held) = log()?;
        self.logged_bytes.fetch_add(redo_bytes, Ordering::Relaxed);
        let mut logged = Logged {
            shared: self,
            is_applied: false,
        };
        let applied = if is_large {
            self.apply_large(changes, sequence.get(), guard)
        } else {
            let applied = apply(changes, sequence.get(), near, &guard);
            applied.map_err(|error| error.to_string())
        };
        match applied {
            Ok(()) => {
                logged.is_applied = true;
                Ok((sequence, held))
            }
            Err(detail) => {
                self.stop(&detail);
                Err(self.not_applied().into())
            }
        }
    }

    /// Applies a commit that may change more pages than the pool should have changed. No other commit is under way, so pages may be
    /// flushed on the way: they have a part of this commit and nothing of later ones, and redoing a part again changes nothing.
    fn apply_large(
        &self,
        changes: &[TreeChanges],
        sequence: u64,
        guard: ChangeGuard<'_>,
    ) -> Result<(), String> {
        // While the guard is held nobody flushes, and from now on nobody takes this commit for applied.
        self.applying.store(sequence, Ordering::SeqCst);
        let mut guard = Some(guard);
        let mut step = 0;
        // After a flush that failed the next is one of twice as many pages.
        let mut untried_bytes = 0;
        for of_tree in changes {
            let mut near = NearLeaf::default();
            of_tree
                .try_for_each(|key, value| {
                    step += 1;
                    let is_due = step % STEP == 0 && self.pool.needs_flush();
                    if is_due || self.is_flush_due() && self.pool.flush_bytes() > untried_bytes {
                        guard = None;
                        near = NearLeaf::default();
                        let changed_bytes = self.pool.flush_bytes();
                        untried_bytes = if self.flush_before(sequence) {
                            0
                        } else {
                            2 * changed_bytes
                        };
                    }
                    let guard = guard.get_or_insert_with(|| self.pool.begin_change());
                    apply_one(&of_tree.tree, (key, value), sequence, &mut near, guard)
                })
                .map_err(|error: TreeError| error.to_string())?;
        }
        // Nobody flushes between the last change and this.
        let guard = guard.unwrap_or_else(|| self.pool.begin_change());
        self.applying.store(0, Ordering::SeqCst);
        drop(guard);
        Ok(())
    }

    /// Makes room in the pool. If there is none on the disk, the pool exceeds its budget, and this is false.
    fn flush_before(&self, sequence: u64) -> bool {
        let one_at_a_time = self.checkpointing.lock();
        let _held = one_at_a_time.unwrap_or_else(PoisonError::into_inner);
        let before = || LogSequence::new(sequence - 1);
        self.flush_or_clean(before).is_ok()
    }

    fn not_applied(&self) -> KvCommitError {
        let detail = self.stopped.get().cloned().unwrap_or_default();
        KvCommitError::NotApplied { detail }
    }
}

/// A transaction that is in the log. Unless it is applied, nothing can be committed after it.
struct Logged<'a> {
    shared: &'a SharedManager,
    is_applied: bool,
}

impl Drop for Logged<'_> {
    fn drop(&mut self) {
        if !self.is_applied {
            self.shared.stop("a transaction could not be applied");
        }
    }
}

fn apply(
    changes: &[TreeChanges],
    sequence: u64,
    known: &mut Option<(TreeId, NearLeaf)>,
    guard: &ChangeGuard<'_>,
) -> Result<(), TreeError> {
    for of_tree in changes {
        let tree = &of_tree.tree;
        let known = known.take_if(|(known, _)| *known == tree.id());
        let mut near = known.map(|(_, leaf)| leaf).unwrap_or_default();
        of_tree
            .try_for_each(|key, value| apply_one(tree, (key, value), sequence, &mut near, guard))?;
    }
    Ok(())
}

fn apply_one(
    tree: &OpenTree,
    (key, value): Change<'_>,
    sequence: u64,
    near: &mut NearLeaf,
    guard: &ChangeGuard<'_>,
) -> Result<(), TreeError> {
    let op = match value {
        Some(value) => PageOp::Put {
            key,
            value,
            overflow: false,
        },
        None => PageOp::Remove { key },
    };
    let mut note = |superseded: Option<&[u8]>| tree.versions.note(key, sequence, superseded);
    match tree
        .btree
        .apply_seeing(&op, sequence, &mut note, near, guard)
    {
        // It was added and removed again, or was never there.
        Ok(_) | Err(TreeError::Entry(ApplyError::NoSuchKey)) => Ok(()),
        Err(error) => Err(error),
    }
}
