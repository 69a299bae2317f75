//! Who writes pages ahead of a commit, and the staging mark that stands for all of them.
//!
//! Several write transactions may stage at the same time; the volume has one mark. It covers the pages from the lowest that any of them can
//! have named. Who stages first writes it. The last batch of a transaction frees it if all others are done by then; what is not known yet
//! is not waited for, so of two that end together neither may. Then who is done last frees it in a batch of its own. Whether there is a mark is asked and
//! changed with the volume's turn: in the order of batches, no staged page is without one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quire_format::staging_mark::StagingMark;
use quire_store::{CommitError, Durability, PageId, Pin, STAGING_PAGE, Volume};

use crate::error::EngineError;

/// The transactions that may stage.
#[derive(Default)]
pub(crate) struct Stagings {
    /// Held for a moment only, by some with the volume's turn.
    state: Mutex<State>,
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
    /// It has no staged pages any more, and will have none.
    is_done: bool,
}

/// One of them, until it is dropped.
pub(crate) struct Registered {
    stagings: Arc<Stagings>,
    number: u64,
}

/// What was left by those that have ended, to be swept while others begin.
pub(crate) struct Leftovers {
    /// Keeps the mark.
    pub(crate) registered: Registered,
    /// Pages from here on are those of others.
    pub(crate) end: PageId,
}

impl Stagings {
    /// While there is none, a mark in the volume is that of one that has ended: who is told of it sweeps what it covers, or keeps it.
    pub(crate) fn leftovers(self: &Arc<Self>, volume: &Volume) -> Option<Leftovers> {
        let mut state = self.lock();
        if !state.active.is_empty() {
            return None;
        }
        let mark = staging_mark(&volume.pin());
        state.is_marked = !matches!(mark, Ok(None));
        state.is_kept = mark.is_err();
        let first_page = mark.ok()??.first_page;
        // Who begins later names its pages later, too.
        let end = volume.next_page()?;
        let registered = self.register_in(&mut state, first_page);
        Some(Leftovers { registered, end })
    }

    /// Begins one, whose pages are not below `first_page`.
    pub(crate) fn register(self: &Arc<Self>, first_page: PageId) -> Registered {
        self.register_in(&mut self.lock(), first_page)
    }

    fn register_in(self: &Arc<Self>, state: &mut State, first_page: PageId) -> Registered {
        let number = state.next;
        state.next += 1;
        let is_done = false;
        let active = Active {
            first_page,
            is_done,
        };
        state.active.insert(number, active);
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

    /// Whether a batch that takes the last pages of this one is to free the mark, too: then the others take it for gone from now on. To be
    /// asked by who has the volume's turn, and followed by [`Registered::note_end`].
    pub(crate) fn begin_end(&self) -> bool {
        let mut state = self.stagings.lock();
        let frees = state.may_free(self.number);
        if frees {
            state.is_marked = false;
        }
        frees
    }

    /// What became of that batch, which was to free the mark if `frees`; or nothing was staged. True if the mark is still there, and nobody
    /// else will free it.
    pub(crate) fn note_end(&self, frees: bool, is_done: bool) -> bool {
        let mut state = self.stagings.lock();
        state.is_marked |= frees && !is_done;
        if let Some(active) = state.active.get_mut(&self.number) {
            active.is_done |= is_done;
        }
        is_done && state.may_free(self.number)
    }

    /// Frees the mark that was left, in a batch that has nothing else.
    ///
    /// # Errors
    /// The mark stays.
    pub(crate) fn free_mark(&self, volume: &Volume) -> Result<(), CommitError> {
        let batch = volume.begin()?;
        batch.use_reserve();
        // Another may have begun, or have been here.
        if !self.begin_end() {
            return Ok(());
        }
        let freed = batch.free(STAGING_PAGE).map_err(CommitError::from);
        let freed = freed.and_then(|()| batch.commit_with(Durability::Unsynced));
        self.note_end(true, freed.is_ok());
        freed.map(drop)
    }

    /// Pages of this one stay behind: the mark must stay too.
    pub(crate) fn keep_mark(&self) {
        self.stagings.lock().is_kept = true;
    }
}

impl State {
    /// Whether all others are done, and there is a mark that need not stay.
    fn may_free(&self, number: u64) -> bool {
        let mut others = self.active.iter().filter(|(it, _)| **it != number);
        others.all(|(_, active)| active.is_done) && self.is_marked && !self.is_kept
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut state = self.stagings.lock();
        let active = state.active.remove(&self.number);
        // After a panic nobody knows what is staged.
        state.is_kept |= active.is_some_and(|active| !active.is_done);
    }
}

/// The staging mark of a state, if there is one.
pub(crate) fn staging_mark(pin: &Pin) -> Result<Option<StagingMark>, EngineError> {
    if !pin.contains(STAGING_PAGE) {
        return Ok(None);
    }
    let mark = StagingMark::decode(&pin.read(STAGING_PAGE)?);
    mark.map(Some).map_err(|source| EngineError::Corrupt {
        what: "the staging mark".to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use quire_store::{MemDisk, PageKind, VolumeOptions};

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
        assert!(!older.note_end(false, true));
        // It has ended, if not gone.
        assert!(newer.begin_end());
        drop(older);
        // Another that begins meanwhile writes its own.
        let newest = stagings.register(page(300));
        assert!(!newest.is_marked());
        assert!(!newer.note_end(true, false));
        assert!(newest.is_marked() && !newer.begin_end());
        assert!(!newer.note_end(false, true));
        newest.keep_mark();
        assert!(!newest.begin_end() && !newest.note_end(false, true));
    }

    /// Neither waits for the other, who may have to wait for the turn of the first.
    #[test]
    fn of_two_that_end_together_the_second_frees_the_mark_in_a_batch_of_its_own() {
        for is_done in [true, false] {
            let stagings = Arc::new(Stagings::default());
            let (first, second) = (stagings.register(page(100)), stagings.register(page(200)));
            first.note_mark();
            assert!(!first.begin_end() && !second.begin_end());
            assert!(!first.note_end(false, is_done));
            assert_eq!(second.note_end(false, true), is_done);
            // One that failed frees its pages, and the mark with them.
            let last = if is_done { &second } else { &first };
            assert!(last.begin_end() && !last.note_end(true, true));
            assert!(!first.is_marked());
        }
    }

    #[test]
    fn who_has_staged_nothing_leaves_no_mark_of_others_behind() {
        let stagings = Arc::new(Stagings::default());
        let (idle, loads) = (stagings.register(page(100)), stagings.register(page(200)));
        loads.note_mark();
        assert!(!loads.begin_end() && !loads.note_end(false, true));
        drop(loads);
        assert!(idle.note_end(false, true));
    }

    #[test]
    fn what_has_ended_is_swept_by_one_while_others_begin() {
        let disk = Arc::new(MemDisk::new());
        let volume = Volume::open_or_create(disk, VolumeOptions::default()).unwrap();
        let stagings = Arc::new(Stagings::default());
        assert!(stagings.leftovers(&volume).is_none());
        let first_page = volume.allocate_page().unwrap();
        let batch = volume.begin().unwrap();
        let mark = StagingMark { first_page };
        batch
            .replace(STAGING_PAGE, PageKind::Staging, &mark.encode())
            .unwrap();
        batch.commit().unwrap();
        let left = stagings.leftovers(&volume).unwrap();
        assert_eq!(left.registered.first_page(), Some(first_page));
        assert_eq!(left.end.get(), first_page.get() + 1);
        // There is only one who sweeps, and the mark covers the others, too.
        assert!(stagings.leftovers(&volume).is_none());
        let other = stagings.register(volume.next_page().unwrap());
        assert!(other.is_marked() && !left.registered.begin_end());
        assert!(!left.registered.note_end(false, true));
        assert!(other.begin_end());
        other.note_end(true, true);
        drop((left, other));
        // One that does not say how it ended leaves the mark to the next.
        drop(stagings.register(first_page));
        assert!(stagings.lock().is_kept);
        assert!(stagings.leftovers(&volume).is_some());
    }
}
