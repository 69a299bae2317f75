//! Whose turn it is to sync a data set or to write a batch of it, and group commit: threads that sync at the same time share one.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The turn of a data set, and its syncs, numbered.
#[derive(Default)]
pub(crate) struct SyncTurns {
    state: Mutex<TurnState>,
    /// The turn was given back, perhaps after a sync.
    ended: Condvar,
}

#[derive(Default)]
struct TurnState {
    is_taken: bool,
    syncs_begun: u64,
    /// The newest sync that has succeeded. Syncs have the turn, so all before it have ended.
    newest_done: u64,
}

/// The turn, until it is dropped.
pub(crate) struct SyncTurn<'a> {
    turns: &'a SyncTurns,
}

/// The turn to write a batch. While one is compressed, syncs may write log pages.
pub(crate) struct BatchTurn<'a> {
    pub(super) _turn: SyncTurn<'a>,
}

/// The turns to sync and to write batches: nothing of a data set is written by others.
pub(crate) struct SoleTurn<'a> {
    pub(crate) batches: BatchTurn<'a>,
    pub(super) _syncs: SyncTurn<'a>,
}

impl SyncTurns {
    /// Waits for the turn.
    pub(crate) fn take(&self) -> SyncTurn<'_> {
        let state = self.wait_while(self.lock(), |state| state.is_taken);
        self.taken(state)
    }

    /// Waits for the turn, or until another thread has done a sync that began after this call. That one has everything that was
    /// done before this call, so there is nothing left to sync, and the result is `None`.
    pub(super) fn take_unless_synced(&self) -> Option<SyncTurn<'_>> {
        let state = self.lock();
        let wanted = state.syncs_begun + 1;
        let must_wait = |state: &TurnState| state.is_taken && state.newest_done < wanted;
        let state = self.wait_while(state, must_wait);
        (state.newest_done < wanted).then(|| self.taken(state))
    }

    fn taken(&self, mut state: MutexGuard<'_, TurnState>) -> SyncTurn<'_> {
        state.is_taken = true;
        SyncTurn { turns: self }
    }

    fn wait_while<'a>(
        &self,
        state: MutexGuard<'a, TurnState>,
        condition: impl Fn(&TurnState) -> bool,
    ) -> MutexGuard<'a, TurnState> {
        self.ended
            .wait_while(state, |state| condition(state))
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, TurnState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SyncTurn<'_> {
    /// Does a sync of all that has changed when `sync` is called.
    pub(super) fn sync<E>(&self, sync: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let number = {
            let mut state = self.turns.lock();
            state.syncs_begun += 1;
            state.syncs_begun
        };
        sync()?;
        self.turns.lock().newest_done = number;
        Ok(())
    }
}

impl Drop for SyncTurn<'_> {
    fn drop(&mut self) {
        self.turns.lock().is_taken = false;
        self.turns.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn threads_that_come_during_a_sync_share_the_next_one() {
        let (turns, syncs) = (SyncTurns::default(), AtomicU64::new(0));
        let sync = || {
            if let Some(turn) = turns.take_unless_synced() {
                let done = turn.sync(|| {
                    syncs.fetch_add(1, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(300));
                    Ok::<(), ()>(())
                });
                done.unwrap();
            }
        };
        thread::scope(|scope| {
            scope.spawn(sync);
            while syncs.load(Ordering::SeqCst) == 0 {
                thread::yield_now();
            }
            for _ in 0..8 {
                scope.spawn(sync);
            }
        });
        // Eight syncs would follow if each thread did its own; one more if a thread was late by a whole sync.
        let syncs = syncs.load(Ordering::SeqCst);
        assert!((2..=3).contains(&syncs), "{syncs}");
    }

    #[test]
    fn a_failed_sync_is_not_shared() {
        let turns = SyncTurns::default();
        let turn = turns.take();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| turns.take_unless_synced().is_some());
            thread::sleep(Duration::from_millis(50));
            assert_eq!(turn.sync(|| Err(7)), Err(7));
            drop(turn);
            assert!(waiting.join().unwrap());
        });
    }
}
