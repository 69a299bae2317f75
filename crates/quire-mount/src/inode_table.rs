//! Which inodes the kernel knows, so that those without a name stay as long as it does.
//!
//! The kernel counts: each answer that names an inode adds one, and it says how many it forgets. A file that is open, mapped, or the directory
//! that a process is in has a count. When such an inode loses a name it is *pinned*: opened in the data set, and released when
//! the kernel forgets it. No other inode costs the data set anything.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use quire_device::{DataSet, FileError};

/// Threads of the kernel look names up at once.
const SHARDS: usize = 16;

#[derive(Debug, Default)]
struct KnownInode {
    lookups: u64,
    is_pinned: bool,
}

/// Counts by inode.
#[derive(Debug, Default)]
pub(crate) struct InodeTable {
    shards: [Mutex<HashMap<u64, KnownInode>>; SHARDS],
}

impl InodeTable {
    fn shard(&self, inode: u64) -> MutexGuard<'_, HashMap<u64, KnownInode>> {
        let shard = &self.shards[(inode % SHARDS as u64) as usize];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The kernel is told of an inode.
    pub(crate) fn note_lookup(&self, inode: u64) {
        self.shard(inode).entry(inode).or_default().lookups += 1;
    }

    /// The kernel forgets an inode. True if it has to be released.
    pub(crate) fn forget(&self, inode: u64, lookups: u64) -> bool {
        let mut shard = self.shard(inode);
        let Some(known) = shard.get_mut(&inode) else {
            return false;
        };
        known.lookups = known.lookups.saturating_sub(lookups);
        if known.lookups > 0 {
            return false;
        }
        let is_pinned = known.is_pinned;
        shard.remove(&inode);
        is_pinned
    }

    /// Before an inode loses a name: keeps it if the kernel knows it.
    pub(crate) fn pin(&self, set: &DataSet, inode: u64) -> Result<(), FileError> {
        let mut shard = self.shard(inode);
        // With the lock held, so that it is not forgotten in between.
        match shard.get_mut(&inode) {
            Some(known) if !known.is_pinned => {
                set.open(inode)?;
                known.is_pinned = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Forgets all. Returns those that have to be released.
    pub(crate) fn take_pinned(&self) -> Vec<u64> {
        let mut pinned = Vec::new();
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            let known = shard.drain().filter(|(_, known)| known.is_pinned);
            pinned.extend(known.map(|(inode, _)| inode));
        }
        pinned
    }
}
