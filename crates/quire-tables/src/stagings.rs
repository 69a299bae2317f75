//! Who writes pages ahead of a commit, and the staging mark that stands for all of them.
//!
//! Several write transactions may stage at the same time; the volume has one mark. It covers the pages from the lowest that any of them can
//! have named. Who stages first writes it, who ends last frees it. Both do so with the volume's turn, and say so here before
//! they give it back: in the order of batches, no staged page is without a mark.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use quire_store::PageId;

/// The transactions that may stage.
#[derive(Default)]
pub(crate) struct Stagings {
    state: Mutex<State>,
    /// Signalled when it is known what became of a last batch.
    decided: Condvar,
    entering: Mutex<()>,
}

#[derive(Default)]
struct State {
    next: u64,
    active: BTreeMap<u64, Active>,
    /// There is a mark, and nobody is about to free it.
    is_marked: bool,
    /// The mark covers pages of one that has ended: it stays until they are swept.
    is_kept: bool,
}

struct Active {
    /// The lowest page that it can have named.
    first_page: PageId,
    end: End,
}

/// What is known of the last batch of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It has not begun, or has failed.
    Not,
    /// It is being committed.
    Begun,
    /// It is in the volume: no page is staged.
    Done,
}

/// One of them, until it is dropped.
pub(crate) struct Registered {
    stagings: Arc<Stagings>,
    number: u64,
}

impl Stagings {
    /// Held while one begins: nobody else begins, and whoever is alone stays alone.
    pub(crate) fn enter(&self) -> MutexGuard<'_, ()> {
        self.entering.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is none.
    pub(crate) fn is_idle(&self) -> bool {
        self.lock().active.is_empty()
    }

    /// While there is none: whether the volume has a mark, which then is that of one that has ended.
    pub(crate) fn note_left_mark(&self, is_marked: bool) {
        let mut state = self.lock();
        (state.is_marked, state.is_kept) = (is_marked, is_marked);
    }

    /// Begins one, whose pages are not below `first_page`.
    pub(crate) fn register(self: &Arc<Self>, first_page: PageId) -> Registered {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        let end = End::Not;
        state.active.insert(number, Active { first_page, end });
        Registered {
            stagings: Arc::clone(self),
            number,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registered {
    /// Whether a mark covers the pages of this one.
    pub(crate) fn is_marked(&self) -> bool {
        self.stagings.lock().is_marked
    }

    /// The lowest page that any of them can have named.
    pub(crate) fn first_page(&self) -> Option<PageId> {
        let state = self.stagings.lock();
        state.active.values().map(|it| it.first_page).min()
    }

    /// The mark is in the volume.
    pub(crate) fn note_mark(&self) {
        self.stagings.lock().is_marked = true;
    }

    /// The last batch begins: whether it is to free the mark. To be asked by who has the volume's turn, and followed by
    /// [`Registered::note_end`]. If it is to, the others take the mark for gone from now on.
    pub(crate) fn begin_end(&self) -> bool {
        let mut state = self.stagings.lock();
        // Whose last batch had the turn before this one is about to say what became of it, and needs no turn for that.
        while state.others(self.number).any(|end| end == End::Begun)
            && state.others(self.number).all(|end| end != End::Not)
        {
            let woken = self.stagings.decided.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        let frees = state.may_free(self.number);
        if frees {
            state.is_marked = false;
        }
        state.set_end(self.number, End::Begun);
        frees
    }

    /// What became of the last batch, which was to free the mark if `frees`.
    pub(crate) fn note_end(&self, frees: bool, is_done: bool) {
        let mut state = self.stagings.lock();
        state.is_marked |= frees && !is_done;
        let end = if is_done { End::Done } else { End::Not };
        state.set_end(self.number, end);
        drop(state);
        self.stagings.decided.notify_all();
    }

    /// Whether this one might free the mark, to know whether a batch is worthwhile.
    pub(crate) fn may_free(&self) -> bool {
        self.stagings.lock().may_free(self.number)
    }

    /// Pages of this one stay behind: the mark must stay too.
    pub(crate) fn keep_mark(&self) {
        self.stagings.lock().is_kept = true;
    }
}

impl State {
    /// How far the others have come.
    fn others(&self, number: u64) -> impl Iterator<Item = End> {
        let others = self.active.iter().filter(move |(it, _)| **it != number);
        others.map(|(_, active)| active.end)
    }

    fn may_free(&self, number: u64) -> bool {
        let is_last = self.others(number).all(|end| end == End::Done);
        is_last && self.is_marked && !self.is_kept
    }

    fn set_end(&mut self, number: u64, end: End) {
        if let Some(active) = self.active.get_mut(&number) {
            active.end = end;
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.stagings.lock().active.remove(&self.number);
        self.stagings.decided.notify_all();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn page(number: u64) -> PageId {
        PageId::new(number).unwrap()
    }

    #[test]
    fn the_last_to_end_frees_the_mark_of_all() {
        let stagings = Arc::new(Stagings::default());
        let older = stagings.register(page(100));
        let newer = stagings.register(page(200));
        assert_eq!(newer.first_page(), Some(page(100)));
        newer.note_mark();
        assert!(older.is_marked() && !older.begin_end());
        older.note_end(false, true);
        // It has ended, if not gone.
        assert!(newer.begin_end());
        drop(older);
        // Another that begins meanwhile writes its own.
        let newest = stagings.register(page(300));
        assert!(!newest.is_marked());
        newer.note_end(true, false);
        assert!(newest.is_marked() && !newer.begin_end());
        newer.note_end(false, true);
        newest.keep_mark();
        assert!(!newest.may_free());
        drop((newer, newest));
        assert!(stagings.is_idle());
    }

    /// Who ends behind another waits until it is known whether that one's pages are committed.
    #[test]
    fn one_of_two_that_end_together_frees_the_mark() {
        for is_done in [true, false] {
            let stagings = Arc::new(Stagings::default());
            let (first, second) = (stagings.register(page(100)), stagings.register(page(200)));
            first.note_mark();
            assert!(!first.begin_end());
            let frees = std::thread::scope(|scope| {
                let behind = scope.spawn(|| second.begin_end());
                first.note_end(false, is_done);
                behind.join().unwrap()
            });
            // One that failed frees its pages, and the mark with them.
            assert_eq!(frees, is_done);
            second.note_end(frees, true);
            assert_eq!(first.is_marked(), !is_done);
            assert_eq!(first.begin_end(), !is_done);
        }
    }
}
