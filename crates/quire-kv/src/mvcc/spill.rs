//! Changes of a transaction that are too many for memory: trees of its own, in a file of its own.
//!
//! The file has no name and is never synced: what is in it means nothing after the end of the process. An entry's value is a byte, 1 for a new value, which follows, 0 for a key that is removed.

use std::io;
use std::path::Path;
use std::sync::Arc;

use quire_store::pool::{PageCodec, Pool, PoolOptions};
use quire_store::{Disk, Durability, FileDisk, Volume, VolumeOptions};

use super::error::SpillError;
use crate::btree::{BTree, BTreeCursor, Direction, TreeError, TreeOptions};

/// The longest that there are: whatever a table can hold should fit, but for a byte.
const PAGE_BYTES: usize = 64 << 10;

/// Memory for the trees of one transaction.
const POOL_BYTES: usize = 16 << 20;

const REMOVED: u8 = 0;
const PUT: u8 = 1;

/// A file for the changes of one transaction.
pub(super) struct ChangeSpillFile {
    volume: Volume,
    pool: Pool,
}

/// Changes of one tree.
pub(super) struct SpilledChanges {
    file: Arc<ChangeSpillFile>,
    tree: BTree,
}

/// A file that nobody needs after a crash.
struct Unsynced(FileDisk);

impl Disk for Unsynced {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.0.set_len(bytes)
    }

    fn name(&self) -> String {
        self.0.name()
    }
}

impl ChangeSpillFile {
    pub(super) fn create(directory: Option<&Path>) -> Result<Arc<Self>, SpillError> {
        let disk = FileDisk::temporary(directory)?;
        let options = VolumeOptions {
            cache_bytes: 0,
            ..VolumeOptions::default()
        };
        let volume = Volume::create(Arc::new(Unsynced(disk)), options)?;
        let options = PoolOptions {
            budget_bytes: POOL_BYTES,
            compression_threads: 0,
            ..PoolOptions::default()
        };
        let pool = Pool::new(&volume, options);
        Ok(Arc::new(Self { volume, pool }))
    }

    /// Makes room in memory.
    fn settle(&self) -> Result<(), SpillError> {
        if self.pool.needs_flush() {
            let (flush, ()) = self.pool.prepare_flush(|| ())?;
            flush.commit(self.volume.begin()?, Durability::Unsynced)?;
        }
        Ok(())
    }
}

impl SpilledChanges {
    pub(super) fn new(file: &Arc<ChangeSpillFile>) -> Result<Self, TreeError> {
        let options = TreeOptions {
            page_bytes: PAGE_BYTES,
            layout: 0,
        };
        let guard = file.pool.begin_change();
        let tree = BTree::create(&file.pool, PageCodec::NONE, options, &guard)?;
        Ok(Self {
            file: Arc::clone(file),
            tree,
        })
    }

    /// Adds a change. False when it is too long.
    pub(super) fn put(&self, key: &[u8], value: Option<&[u8]>) -> Result<bool, SpillError> {
        let encoded = match value {
            Some(value) => [&[PUT], value].concat(),
            None => vec![REMOVED],
        };
        let guard = self.file.pool.begin_change();
        let put = self.tree.put(key, &encoded, 0, &guard);
        drop(guard);
        match put {
            Ok(_) => self.file.settle().map(|()| true),
            Err(TreeError::EntryTooLong { .. } | TreeError::KeyTooLong { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Shows the change of a key, if there is one.
    pub(super) fn get<R>(
        &self,
        key: &[u8],
        visit: impl FnOnce(Option<&[u8]>) -> R,
    ) -> Result<Option<R>, TreeError> {
        self.tree.get(key, |value| visit(decode(value)))
    }

    pub(super) fn contains(&self, key: &[u8]) -> Result<bool, TreeError> {
        Ok(self.tree.get(key, |_| ())?.is_some())
    }

    /// Changes by ascending key, from `low` up to, without, `high`. Bounds of no bytes are none.
    pub(super) fn range(&self, low: &[u8], high: &[u8]) -> SpilledRange<'_> {
        SpilledRange(self.tree.cursor(low, high, Direction::Forward))
    }
}

fn decode(value: &[u8]) -> Option<&[u8]> {
    match value {
        [PUT, value @ ..] => Some(value),
        _ => None,
    }
}

/// See [`SpilledChanges::range`].
pub(super) struct SpilledRange<'t>(BTreeCursor<'t>);

/// A key and its new value, or that it is removed.
pub(super) type OwnedChange = (Box<[u8]>, Option<Box<[u8]>>);

impl SpilledRange<'_> {
    pub(super) fn next(&mut self) -> Result<Option<OwnedChange>, TreeError> {
        let entry = self.0.next_entry()?;
        Ok(entry.map(|(key, value)| (key.into(), decode(value).map(Into::into))))
    }
}
