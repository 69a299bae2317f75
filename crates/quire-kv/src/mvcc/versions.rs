//! What keys had before the newest commits, for those who still read older states.
//!
//! The page of a tree has the newest committed value. A commit notes, under the latch of the page and before it changes it, what is
//! there: *until commit n it was this, or nothing*. A reader as of commit S looks, under the latch of the page, for the
//! first note of its key after S; without one the page has what it wants. Order of locks: the latch of a page, then this.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The superseded values of one tree.
#[derive(Default)]
pub(super) struct Versions {
    /// Keys in the map. While it is 0 nobody looks into the map.
    key_count: AtomicUsize,
    notes: RwLock<Notes>,
}

type Map = BTreeMap<Vec<u8>, Chain>;

#[derive(Default)]
struct Notes {
    map: Map,
    spare: SpareBytes,
}

/// Memory of keys and values that were forgotten: most notes are gone as soon as their commit is visible.
#[derive(Default)]
struct SpareBytes(Vec<Vec<u8>>);

impl SpareBytes {
    /// As many as some commits of single rows need at a time.
    const COUNT_MAX: usize = 16;
    const BYTES_MAX: usize = 1024;

    fn copy(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut copy = self.0.pop().unwrap_or_default();
        copy.extend_from_slice(bytes);
        copy
    }

    fn keep(&mut self, mut bytes: Vec<u8>) {
        let is_wanted = (1..=Self::BYTES_MAX).contains(&bytes.capacity());
        if is_wanted && self.0.len() < Self::COUNT_MAX {
            bytes.clear();
            self.0.push(bytes);
        }
    }
}

/// The notes of one key. Mostly there is one.
struct Chain {
    newest: KeyVersion,
    /// Ascending.
    older: Vec<KeyVersion>,
}

struct KeyVersion {
    superseded_at: u64,
    /// What was there; `None`: nothing.
    value: Option<Vec<u8>>,
}

/// What a version says: the value, or that there was none.
pub(super) type Superseded<'a> = Option<&'a [u8]>;

impl Chain {
    /// What there was as of commit `at`, if it has been superseded since.
    fn as_of(&self, at: u64) -> Option<Superseded<'_>> {
        let first_after = self
            .older
            .partition_point(|version| version.superseded_at <= at);
        let version = self.older.get(first_after).unwrap_or(&self.newest);
        (version.superseded_at > at).then_some(version.value.as_deref())
    }

    /// When the value that was superseded at `at` came, as far as is known: it cannot have been before. `None`: no such note.
    fn since(&self, at: u64) -> Option<u64> {
        let before = self
            .older
            .partition_point(|version| version.superseded_at < at);
        let version = self.older.get(before).unwrap_or(&self.newest);
        let predecessor = before
            .checked_sub(1)
            .and_then(|index| self.older.get(index));
        let since = predecessor.map_or(0, |version| version.superseded_at);
        (version.superseded_at == at).then_some(since)
    }

    /// Forgets a note. True when it was the last one.
    fn forget(&mut self, at: u64) -> bool {
        if self.newest.superseded_at == at {
            return match self.older.pop() {
                Some(version) => {
                    self.newest = version;
                    false
                }
                None => true,
            };
        }
        self.older.retain(|version| version.superseded_at != at);
        false
    }
}

impl Versions {
    /// Notes what `key` has until commit `at`. Again is as good as once.
    pub(super) fn note(&self, key: &[u8], at: u64, value: Option<&[u8]>) {
        let mut notes = self.write();
        let Notes { map, spare } = &mut *notes;
        let mut version = || KeyVersion {
            superseded_at: at,
            value: value.map(|value| spare.copy(value)),
        };
        if let Some(chain) = map.get_mut(key) {
            if chain.newest.superseded_at < at {
                let older = std::mem::replace(&mut chain.newest, version());
                chain.older.push(older);
            }
            return;
        }
        let chain = Chain {
            newest: version(),
            older: Vec::new(),
        };
        map.insert(spare.copy(key), chain);
        self.key_count.store(map.len(), Ordering::Release);
    }

    /// Shows what `key` had as of commit `at`, if it has been superseded since. For whoever has the latch of the key's page.
    pub(super) fn as_of<R>(
        &self,
        key: &[u8],
        at: u64,
        visit: impl FnOnce(Option<Superseded<'_>>) -> R,
    ) -> R {
        if self.is_empty() {
            return visit(None);
        }
        let notes = self.read();
        visit(notes.map.get(key).and_then(|chain| chain.as_of(at)))
    }

    /// Has `key` been changed after commit `at`? Known for sure only while a snapshot as of it is registered.
    pub(super) fn is_changed_since(&self, key: &[u8], at: u64) -> bool {
        let versions = self.open();
        versions.is_some_and(|versions| versions.is_changed_since(key, at))
    }

    /// All notes, to look through; `None` when there are none.
    pub(super) fn open(&self) -> Option<OpenVersions<'_>> {
        (!self.is_empty()).then(|| OpenVersions { notes: self.read() })
    }

    /// Goes through notes, of key and commit, and forgets those of which `is_needed` says no when told since when
    /// and until when their values were the newest.
    pub(super) fn review<'k, T>(
        &self,
        notes: impl Iterator<Item = (&'k [u8], u64, T)>,
        mut is_needed: impl FnMut(T, u64, u64) -> bool,
    ) {
        let mut all = self.write();
        let map = &mut all.map;
        for (key, at, context) in notes {
            let Some(chain) = map.get_mut(key) else {
                continue;
            };
            if let Some(since) = chain.since(at)
                && !is_needed(context, since, at)
                && chain.forget(at)
            {
                map.remove(key);
            }
        }
        self.key_count.store(map.len(), Ordering::Release);
    }

    /// Forgets the notes of these keys until commit `at`.
    pub(super) fn forget<'k>(&self, keys: impl Iterator<Item = &'k [u8]>, at: u64) {
        let mut notes = self.write();
        let Notes { map, spare } = &mut *notes;
        for key in keys {
            // Mostly there is no other note of the key.
            let Some((key, mut chain)) = map.remove_entry(key) else {
                continue;
            };
            if !chain.forget(at) {
                map.insert(key, chain);
                continue;
            }
            spare.keep(key);
            chain
                .newest
                .value
                .into_iter()
                .for_each(|value| spare.keep(value));
        }
        self.key_count.store(map.len(), Ordering::Release);
    }

    /// Keys of which older values are kept.
    pub(super) fn key_count(&self) -> usize {
        self.key_count.load(Ordering::Acquire)
    }

    fn is_empty(&self) -> bool {
        self.key_count() == 0
    }

    fn read(&self) -> RwLockReadGuard<'_, Notes> {
        self.notes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Notes> {
        self.notes.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The notes of a tree, which do not change while this is held.
pub(super) struct OpenVersions<'a> {
    notes: RwLockReadGuard<'a, Notes>,
}

impl OpenVersions<'_> {
    /// What keys from `low` up to, without, `high` had as of commit `at` that have been changed since. Bounds of no bytes
    /// are none.
    pub(super) fn range(
        &self,
        low: &[u8],
        high: &[u8],
        at: u64,
    ) -> impl Iterator<Item = (&[u8], Superseded<'_>)> {
        let high = match high {
            [] => Bound::Unbounded,
            _ => Bound::Excluded(high),
        };
        let range = self
            .notes
            .map
            .range::<[u8], _>((Bound::Included(low), high));
        range.filter_map(move |(key, chain)| Some((&**key, chain.as_of(at)?)))
    }

    pub(super) fn is_changed_since(&self, key: &[u8], at: u64) -> bool {
        let chain = self.notes.map.get(key);
        chain.is_some_and(|chain| chain.newest.superseded_at > at)
    }

    /// Has any key from `low` up to, without, `high` been changed after commit `at`?
    pub(super) fn is_any_changed_since(&self, low: &[u8], high: &[u8], at: u64) -> bool {
        let high = match high {
            [] => Bound::Unbounded,
            _ => Bound::Excluded(high),
        };
        let mut range = self
            .notes
            .map
            .range::<[u8], _>((Bound::Included(low), high));
        range.any(|(_, chain)| chain.newest.superseded_at > at)
    }
}
