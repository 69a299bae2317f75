//! The newest committed state of the tables, and how far its pin of the volume has to be kept.

use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use quire_store::Volume;

use crate::catalog::Catalog;
use crate::pages::PageSource;
use crate::snapshot::Snapshot;

/// The newest state. It owns nothing that writes.
pub(crate) struct Published {
    volume: Volume,
    /// The newest state, as the volume had it when it was published, or later.
    current: RwLock<Newest>,
    /// Held by who commits tables, until it has published them: meanwhile catalog and volume may differ.
    table_commits: RwLock<()>,
}

/// A state, and the commit of the volume whose pages it has pinned.
struct Newest {
    snapshot: Snapshot,
    sequence: u64,
}

impl Published {
    pub(crate) fn new(volume: Volume, snapshot: Snapshot, sequence: u64) -> Self {
        let current = RwLock::new(Newest { snapshot, sequence });
        Self {
            volume,
            current,
            table_commits: RwLock::default(),
        }
    }

    /// To be held while tables are committed.
    pub(crate) fn table_commit(&self) -> RwLockWriteGuard<'_, ()> {
        let commits = self.table_commits.write();
        commits.unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows the newest catalog, which nobody can publish meanwhile.
    pub(crate) fn with_catalog<R>(&self, look: impl FnOnce(&Catalog) -> R) -> R {
        let current = self.current.read();
        let current = current.unwrap_or_else(PoisonError::into_inner);
        look(current.snapshot.catalog())
    }

    /// The newest tables, pinned as the volume has them now: space that rows have left since need not be kept for them.
    pub(crate) fn newest(&self) -> Snapshot {
        let current = self.current.read();
        let current = current.unwrap_or_else(PoisonError::into_inner);
        if current.sequence == self.volume.commit_sequence() {
            return current.snapshot.clone();
        }
        drop(current);
        // While tables are being committed, the catalog may be older than the volume.
        let guard = self.table_commits.try_read();
        let current = self.current.write();
        let mut current = current.unwrap_or_else(PoisonError::into_inner);
        if guard.is_ok() {
            current.sequence = self.volume.commit_sequence();
            let source = PageSource::Committed(self.volume.pin());
            current.snapshot = current.snapshot.pinned_as(source);
        }
        current.snapshot.clone()
    }

    /// Makes a state that has just been committed the newest one.
    pub(crate) fn publish(&self, catalog: Catalog) {
        let sequence = self.volume.commit_sequence();
        let source = PageSource::Committed(self.volume.pin());
        let snapshot = Snapshot::new(catalog, source);
        let current = self.current.write();
        *current.unwrap_or_else(PoisonError::into_inner) = Newest { snapshot, sequence };
    }
}
