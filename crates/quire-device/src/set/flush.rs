//! Writing what has changed, as one batch.
//!
//! 1. What operations have changed becomes a layer that nothing changes, and operations begin a new one above it.
//! 2. Its records are compressed, without a lock.
//! 3. A batch gets the records, the nodes of the tree on the way to what changes, and the head. It frees what cannot be reached any
//!    more ([`crate::dead`]).
//! 4. The batch is committed; operations use the new tree, and the layer is dropped. If anything has failed, the layer is put back
//!    beneath what has changed since, and nothing is lost.
//!
//! On a full disk, dead space is cleaned, and then what the layer removes is committed alone ([`super::removals`]) to make room for the rest.
//!
//! A batch of the volume counts as a whole or not at all, so a crash at any moment leaves the tree of one of them. Readers hold a pin
//! of the commit before while a batch is committed, so the pages of the tree in use are there until the new one is used.

use std::sync::Arc;

use quire_format::data_set::DataSetHead;
use quire_store::{Durability, PageId};

use super::frozen::FrozenState;
use super::state::DataSet;
use super::turn::BatchTurn;
use crate::error::DeviceStorageError;

impl DataSet {
    /// Writes what has changed, compressed as the properties say.
    pub(crate) fn flush(&self, durability: Durability) -> Result<(), DeviceStorageError> {
        let turn = self.take_batch_turn();
        self.flush_in_turn(&turn, durability)
    }

    /// Writes what has changed if it takes too much memory.
    pub(super) fn relieve(&self) -> Result<(), DeviceStorageError> {
        if !self.has_too_much() {
            return Ok(());
        }
        let turn = self.take_batch_turn();
        // Threads that have waited for the turn find that another one has written everything: a batch of the little that came
        // meanwhile would be of no use.
        if self.has_too_much() {
            self.flush_in_turn(&turn, Durability::Unsynced)
        } else {
            Ok(())
        }
    }

    fn has_too_much(&self) -> bool {
        self.lock().current.bytes() >= self.context.options.dirty_bytes
    }

    /// As [`DataSet::flush`], for the thread that has the turn.
    pub(crate) fn flush_in_turn(
        &self,
        _turn: &BatchTurn<'_>,
        durability: Durability,
    ) -> Result<(), DeviceStorageError> {
        let Some(head_page) = self.head_page.filter(|_| !self.is_read_only()) else {
            return Ok(());
        };
        let Some(frozen) = self.freeze(durability)? else {
            return Ok(());
        };
        let written = self.write_out_or_make_room(frozen, head_page, durability);
        let mut state = self.lock();
        let held = state.held.take();
        let generation = state.frozen.take();
        match written {
            Ok(()) => {
                state.unlogged.end_batch();
                // Giving back the memory of thousands of records takes milliseconds, so the lock is released first.
                drop(state);
                drop((generation, held));
                Ok(())
            }
            Err(error) => {
                if let Some(generation) = generation {
                    let generation = Arc::unwrap_or_clone(generation);
                    state.current.put_beneath(generation);
                }
                state.unlogged.fail_batch();
                Err(error)
            }
        }
    }

    fn write_out_or_make_room(
        &self,
        mut frozen: FrozenState,
        head_page: PageId,
        durability: Durability,
    ) -> Result<(), DeviceStorageError> {
        let is_full = |written: &Result<(), DeviceStorageError>| {
            written.as_ref().is_err_and(DeviceStorageError::is_full)
        };
        let mut written = self.write_out(&frozen, head_page, durability);
        if is_full(&written) {
            frozen = self.clean(frozen);
            written = self.write_out(&frozen, head_page, durability);
        }
        // If nothing can be removed, the error is that of what should have been written.
        if is_full(&written) && matches!(self.write_removals(&frozen, head_page), Ok(true)) {
            frozen = self.clean(frozen);
            written = self.write_out(&frozen, head_page, durability);
        }
        written
    }

    /// On a full disk: what is dead in the file becomes room. Then `frozen` is upon the newest batch.
    fn clean(&self, frozen: FrozenState) -> FrozenState {
        let volume = &self.context.volume;
        // A pin would keep what is dead. Without one, readers see the newest commit, of which the tree is the one in use.
        let FrozenState {
            generation,
            head,
            boundaries,
            logged_pages,
            reader,
        } = frozen;
        drop(reader);
        drop(self.lock().held.take());
        let mut moved_bytes = 0;
        // When a step fails, what was moved before helps all the same.
        while let Ok(step) = volume.clean() {
            moved_bytes += step.moved_bytes;
            if step.moved_bytes == 0 || moved_bytes > step.file_bytes_before.saturating_mul(2) {
                break;
            }
        }
        // Space that this does not give back is found by the next checkpoint.
        let _ = volume.checkpoint();
        let pin = volume.pin();
        let mut state = self.lock();
        state.held = Some(pin.clone());
        FrozenState {
            generation,
            head: DataSetHead {
                next_inode: head.next_inode,
                ..state.head.clone()
            },
            boundaries,
            logged_pages,
            reader: self.context.reader_of(pin),
        }
    }

    /// Makes the batches durable that have been committed without. For who has locked the writing of the head.
    pub(super) fn sync_commits(&self) -> Result<(), DeviceStorageError> {
        // An empty batch syncs what was committed before it.
        self.context.volume.begin()?.commit()?;
        self.lock().is_unsynced = false;
        Ok(())
    }

    /// Takes what has changed. `None` when that is nothing; then what was written without a sync is durable if that is asked for.
    fn freeze(&self, durability: Durability) -> Result<Option<FrozenState>, DeviceStorageError> {
        let _writing = self.lock_head_writing();
        let mut state = self.lock();
        if state.current.is_empty() && state.head.log.is_empty() {
            let is_unsynced = state.is_unsynced;
            drop(state);
            if is_unsynced && durability == Durability::Synced {
                self.sync_commits()?;
            }
            return Ok(None);
        }
        state.unlogged.begin_batch();
        let generation = Arc::new(std::mem::take(&mut state.current));
        state.frozen = Some(Arc::clone(&generation));
        let pin = self.context.volume.pin();
        state.held = Some(pin.clone());
        Ok(Some(FrozenState {
            generation,
            head: DataSetHead {
                next_inode: state.next_inode,
                ..state.head.clone()
            },
            logged_pages: state.head.log.len(),
            boundaries: state.boundaries,
            reader: self.context.reader_of(pin),
        }))
    }
}
