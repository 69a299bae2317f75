//! Commit: into the log, into the pages, before everybody's eyes; in this order.
//!
//! 1. Whoever may not commit is told.
//! 2. A guard of the pool is taken, so that no flush comes between the log and the pages.
//! 3. The redo records are logged. From here on the transaction is committed, with the sequence the log gave it.
//! 4. Each key: what was there is noted as superseded at the sequence, then the page is changed.
//! 5. The guard is given back, and the sequence is published when those before it are.
//! 6. What the commit has superseded is forgotten, unless a snapshot needs it. Locks are released.
//!
//! As the guard is held from before the sequence is given until the pages have the changes, a flush finds all commits up to
//! the newest in the pages, and none above: what [`crate::btree::BTree::redo`] demands.

use std::sync::Arc;

use quire_format::redo::{RedoChange, RedoWriter};
use quire_format::row_page::{ApplyError, PageOp};
use quire_store::Durability;
use quire_store::log::LogSequence;
use quire_store::pool::ChangeGuard;

use super::error::CommitError;
use super::manager::Shared;
use super::options::Synchronous;
use super::transaction::Transaction;
use super::trees::OpenTree;
use super::write_set::TreeChanges;
use crate::btree::TreeError;

impl Transaction {
    /// Commits. One that has changed nothing does nothing, and returns the newest visible commit.
    ///
    /// # Errors
    /// See [`CommitError`]. Unless the error says otherwise, the transaction is rolled back.
    pub fn commit(mut self) -> Result<LogSequence, CommitError> {
        if !self.has_changes() {
            return Ok(LogSequence::new(self.shared.clock.visible()));
        }
        let shared = Arc::clone(&self.shared);
        let durability = match self.options.synchronous {
            Synchronous::Full => Durability::Synced,
            Synchronous::Normal | Synchronous::Off => Durability::Unsynced,
        };
        let changes = std::mem::take(&mut self.writes).into_changes();
        let only_removes = is_only_removing(&changes);
        self.commit_changes(changes, |records| {
            let sequence = match only_removes {
                true => shared.log.commit_making_room(records, durability),
                false => shared.log.commit(records, durability),
            };
            sequence.map_err(CommitError::from)
        })
    }

    /// Commits together with what is not in trees: `log` is given the redo records, and commits them in a batch of the
    /// volume ([`quire_store::log`]) that may have other pages too. It returns the sequence that the log gave them. Without
    /// changes it is called all the same.
    ///
    /// `log` begins the batch itself: the caller must not hold one when it calls this, and `log` must not use this
    /// pool's `begin_change`, trees or transactions.
    ///
    /// # Errors
    /// Those of `log`: the transaction is rolled back. See also [`CommitError`].
    pub fn commit_with<E: From<CommitError>>(
        mut self,
        log: impl FnOnce(&[u8]) -> Result<LogSequence, E>,
    ) -> Result<LogSequence, E> {
        let changes = std::mem::take(&mut self.writes).into_changes();
        self.commit_changes(changes, log)
    }

    fn commit_changes<E: From<CommitError>>(
        mut self,
        changes: Vec<TreeChanges>,
        log: impl FnOnce(&[u8]) -> Result<LogSequence, E>,
    ) -> Result<LogSequence, E> {
        let shared = Arc::clone(&self.shared);
        let changes = Arc::new(changes);
        let validated = match (&self.reads, self.snapshot.take()) {
            (Some(reads), Some(snapshot)) => {
                let validated = shared.validation.validate(snapshot.at(), reads, &changes);
                Some(validated.ok_or(CommitError::Conflict)?)
            }
            _ => None,
        };
        let sequence = shared.commit(&changes, log)?;
        shared.snapshots.collect(sequence.get(), &changes);
        drop(validated);
        drop(self.locks.take());
        shared.after_commit(self.options.synchronous);
        Ok(sequence)
    }
}

impl Shared {
    fn commit<E: From<CommitError>>(
        &self,
        changes: &[TreeChanges],
        log: impl FnOnce(&[u8]) -> Result<LogSequence, E>,
    ) -> Result<LogSequence, E> {
        self.wait_for_room();
        let records = redo_records(changes);
        let guard = self.pool.begin_change();
        if let Some(detail) = self.stopped.get() {
            let detail = detail.clone();
            return Err(CommitError::Stopped { detail }.into());
        }
        let sequence = log(&records)?;
        let mut logged = Logged {
            shared: self,
            is_applied: false,
        };
        let applied = apply(changes, sequence.get(), &guard);
        if let Err(error) = applied {
            let detail = error.to_string();
            self.stop(&detail);
            return Err(CommitError::NotApplied { detail }.into());
        }
        logged.is_applied = true;
        drop(guard);
        match self.clock.publish(sequence.get()) {
            Ok(()) => Ok(sequence),
            Err(_) => {
                let detail = self.stopped.get().cloned().unwrap_or_default();
                Err(CommitError::NotApplied { detail }.into())
            }
        }
    }
}

/// A transaction that is in the log. Unless it is applied, nothing can be committed after it.
struct Logged<'a> {
    shared: &'a Shared,
    is_applied: bool,
}

impl Drop for Logged<'_> {
    fn drop(&mut self) {
        if !self.is_applied {
            self.shared.stop("a transaction could not be applied");
        }
    }
}

fn is_only_removing(changes: &[TreeChanges]) -> bool {
    let mut all = changes.iter().flat_map(|of_tree| of_tree.changes.values());
    all.all(Option::is_none)
}

fn redo_records(changes: &[TreeChanges]) -> Vec<u8> {
    let mut records = RedoWriter::default();
    for TreeChanges { tree, changes } in changes {
        let tree = tree.id().get();
        for (key, value) in changes {
            records.push(&match value {
                Some(value) => RedoChange::Put { tree, key, value },
                None => RedoChange::Remove { tree, key },
            });
        }
    }
    records.finish()
}

fn apply(changes: &[TreeChanges], sequence: u64, guard: &ChangeGuard<'_>) -> Result<(), TreeError> {
    for TreeChanges { tree, changes } in changes {
        for (key, value) in changes {
            apply_one(tree, key, value.as_deref(), sequence, guard)?;
        }
    }
    Ok(())
}

fn apply_one(
    tree: &OpenTree,
    key: &[u8],
    value: Option<&[u8]>,
    sequence: u64,
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
    match tree.btree.apply_seeing(&op, sequence, &mut note, guard) {
        // It was added and removed again, or was never there.
        Ok(_) | Err(TreeError::Entry(ApplyError::NoSuchKey)) => Ok(()),
        Err(error) => Err(error),
    }
}
