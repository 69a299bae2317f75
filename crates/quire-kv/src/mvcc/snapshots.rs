//! Who still reads which older state, and what nobody does.
//!
//! The value that a commit n superseded, and that was the newest since commit p, is read by snapshots as of p or later, but before n. When n is
//! visible no new snapshot can need it. So the value is kept exactly when there is a registered snapshot in that interval, and then it is
//! hung on the newest of them; when that one ends, its values are looked at again. A commit and the end of a snapshot
//! cost as much as they have changed or kept, however much else there is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::changes::TreeChanges;
use super::clock::CommitClock;
use super::trees::OpenTree;
use crate::btree::TreeError;

/// Values looked at before others may register.
const STEP: usize = 256;

/// The registered snapshots, ascending.
#[derive(Default)]
pub(super) struct Snapshots {
    slots: Mutex<Vec<SnapshotSlot>>,
}

struct SnapshotSlot {
    at: u64,
    count: usize,
    kept: Vec<RetainedVersion>,
}

/// A version: of which tree, which key, and until which commit.
struct RetainedVersion {
    tree: Arc<OpenTree>,
    key: Box<[u8]>,
    until: u64,
}

impl Snapshots {
    /// Registers a snapshot of what is visible.
    pub(super) fn register(&self, clock: &CommitClock) -> u64 {
        let mut slots = self.lock();
        let at = clock.visible();
        match slots.last_mut() {
            Some(newest) if newest.at == at => newest.count += 1,
            _ => slots.push(SnapshotSlot {
                at,
                count: 1,
                kept: Vec::new(),
            }),
        }
        at
    }

    /// Ends a snapshot.
    pub(super) fn end(&self, at: u64) {
        let mut slots = self.lock();
        let Ok(place) = slots.binary_search_by_key(&at, |slot| slot.at) else {
            return;
        };
        slots[place].count -= 1;
        if slots[place].count > 0 {
            return;
        }
        if slots[place].kept.is_empty() {
            slots.remove(place);
            return;
        }
        drop(slots);
        while self.release_some(at) {}
    }

    /// Looks again at some of what was kept for a snapshot that nobody has any more. True when there may be more.
    fn release_some(&self, at: u64) -> bool {
        let mut slots = self.lock();
        let Ok(place) = slots.binary_search_by_key(&at, |slot| slot.at) else {
            return false;
        };
        if slots[place].count > 0 {
            return false;
        }
        let start = slots[place].kept.len().saturating_sub(STEP);
        let reviewed = slots[place].kept.split_off(start);
        if slots[place].kept.is_empty() {
            slots.remove(place);
        }
        let mut before = place.checked_sub(1).and_then(|place| slots.get_mut(place));
        for kept in reviewed {
            let tree = Arc::clone(&kept.tree);
            let mut is_needed = false;
            let note = [(&*kept.key, kept.until, ())];
            tree.versions.review(note.into_iter(), |(), since, _| {
                is_needed = before.as_ref().is_some_and(|slot| slot.at >= since);
                is_needed
            });
            if is_needed && let Some(slot) = &mut before {
                slot.kept.push(kept);
            }
        }
        start > 0
    }

    /// Forgets what the commit `until`, which is visible, has superseded, and keeps what a snapshot needs.
    pub(super) fn collect(&self, until: u64, changes: &[TreeChanges]) -> Result<(), TreeError> {
        for of_tree in changes {
            if of_tree.spilled.is_empty() {
                let keys = of_tree.changes.iter().map(|(key, _)| key);
                self.collect_keys(until, &of_tree.tree, keys);
                continue;
            }
            let mut keys: Vec<Box<[u8]>> = Vec::with_capacity(STEP);
            of_tree.try_for_each(|key, _| {
                keys.push(key.into());
                if keys.len() == STEP {
                    self.collect_keys(until, &of_tree.tree, keys.iter().map(|key| &**key));
                    keys.clear();
                }
                Ok::<(), TreeError>(())
            })?;
            self.collect_keys(until, &of_tree.tree, keys.iter().map(|key| &**key));
        }
        Ok(())
    }

    fn collect_keys<'k>(
        &self,
        until: u64,
        tree: &Arc<OpenTree>,
        keys: impl Iterator<Item = &'k [u8]>,
    ) {
        let mut slots = self.lock();
        let place = slots.partition_point(|slot| slot.at < until);
        let mut newest_before = place.checked_sub(1).and_then(|place| slots.get_mut(place));
        if newest_before.is_none() {
            return tree.versions.forget(keys, until);
        }
        let notes = keys.map(|key| (key, until, key));
        tree.versions.review(notes, |key, since, until| {
            let slot = newest_before.as_mut().filter(|slot| slot.at >= since);
            let kept = slot.map(|slot| {
                slot.kept.push(RetainedVersion {
                    tree: Arc::clone(tree),
                    key: key.into(),
                    until,
                });
            });
            kept.is_some()
        });
    }

    /// The oldest registered snapshot.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.lock().first().map(|slot| slot.at)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SnapshotSlot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
