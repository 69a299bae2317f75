//! Readers of a scan that need the same column at the same time: one decodes it into the pool, the others wait and find it there.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A row group and a column of it.
type DecodedPlace = (usize, usize);

/// What readers are decoding. The lock covers the set only: nothing is read or decoded under it.
#[derive(Default)]
pub(super) struct DecodeTurns {
    taken: Mutex<HashSet<DecodedPlace>>,
    given_back: Condvar,
}

/// The turn to decode a column; dropping it lets those go on who wait.
pub(super) struct DecodeTurn<'t> {
    turns: &'t DecodeTurns,
    place: DecodedPlace,
}

/// What a reader is to do.
pub(super) enum PoolLookup<'t, T> {
    /// Nothing: it is there.
    Found(T),
    /// To decode it. Without a turn another reader has done so, and the pool has not kept it: it is not waited for again.
    Missing(Option<DecodeTurn<'t>>),
}

impl DecodeTurns {
    /// Looks for a column by `find`, once more if another reader is decoding it, when that one has ended.
    pub(super) fn find<T>(
        &self,
        place: DecodedPlace,
        find: impl Fn() -> Option<T>,
    ) -> PoolLookup<'_, T> {
        if let Some(found) = find() {
            return PoolLookup::Found(found);
        }
        let turn = self.take_or_wait(place);
        match find() {
            Some(found) => PoolLookup::Found(found),
            None => PoolLookup::Missing(turn),
        }
    }

    fn take_or_wait(&self, place: DecodedPlace) -> Option<DecodeTurn<'_>> {
        let mut taken = self.lock();
        if taken.insert(place) {
            return Some(DecodeTurn { turns: self, place });
        }
        while taken.contains(&place) {
            let woken = self.given_back.wait(taken);
            taken = woken.unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<DecodedPlace>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for DecodeTurn<'_> {
    fn drop(&mut self) {
        self.turns.lock().remove(&self.place);
        self.turns.given_back.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    const READERS: usize = 4;

    /// Readers that look for the same column at the same time; returns how many decoded it.
    fn decoded_by_all(is_kept: bool) -> usize {
        let turns = DecodeTurns::default();
        let (pool, decoded) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let barrier = Barrier::new(READERS);
        thread::scope(|scope| {
            for _ in 0..READERS {
                scope.spawn(|| {
                    barrier.wait();
                    let find = || (pool.load(Ordering::SeqCst) == 7).then_some(7);
                    match turns.find((0, 1), find) {
                        PoolLookup::Found(value) => assert_eq!(value, 7),
                        PoolLookup::Missing(turn) => {
                            decoded.fetch_add(1, Ordering::SeqCst);
                            if is_kept {
                                pool.store(7, Ordering::SeqCst);
                            }
                            drop(turn);
                        }
                    }
                });
            }
        });
        decoded.into_inner()
    }

    #[test]
    fn one_reader_decodes_for_all() {
        for _ in 0..50 {
            assert_eq!(decoded_by_all(true), 1);
        }
    }

    #[test]
    fn readers_of_a_pool_that_keeps_nothing_decode_for_themselves() {
        for _ in 0..50 {
            assert_eq!(decoded_by_all(false), READERS);
        }
    }

    #[test]
    fn columns_do_not_wait_for_each_other() {
        let turns = DecodeTurns::default();
        let find = || None::<()>;
        let first = turns.find((0, 0), find);
        assert!(matches!(first, PoolLookup::Missing(Some(_))));
        for place in [(0, 1), (1, 0)] {
            assert!(matches!(
                turns.find(place, find),
                PoolLookup::Missing(Some(_))
            ));
        }
        drop(first);
        assert!(matches!(
            turns.find((0, 0), find),
            PoolLookup::Missing(Some(_))
        ));
    }
}
