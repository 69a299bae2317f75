//! Trees of records in a volume on a modelled device, and who flushes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use quire_kv::btree::{BTree, TreeOptions};
use quire_store::disk::{DeviceProfile, ThrottledDisk};
use quire_store::pool::{Pool, PoolOptions, PoolPolicy};
use quire_store::{Disk, Durability, MemDisk, PageId, Volume, VolumeOptions};

use super::storage::RecordStorage;
use super::{PageCompressionError, RecordSource};

/// A moment between two looks at whether a flush is wanted.
const FLUSH_INTERVAL: Duration = Duration::from_millis(1);

/// Longest wait for a flush.
const ROOM_WAIT: Duration = Duration::from_secs(10);

/// How a pool is opened over a disk.
#[derive(Clone, Copy)]
pub(crate) struct TreeSetup {
    pub(crate) storage: RecordStorage,
    pub(crate) policy: PoolPolicy,
    pub(crate) pool_bytes: usize,
    pub(crate) compression_threads: usize,
    pub(crate) splits_in_advance: bool,
}

/// A volume and its pool.
pub(crate) struct RecordVolume {
    pub(crate) volume: Volume,
    pub(crate) pool: Pool,
    setup: TreeSetup,
    lsn: AtomicU64,
}

impl RecordVolume {
    /// Opens the volume on `disk`, or makes it, as slow as `device`.
    pub(crate) fn open(
        disk: Arc<MemDisk>,
        device: Option<DeviceProfile>,
        setup: TreeSetup,
    ) -> Result<Self, PageCompressionError> {
        let disk: Arc<dyn Disk> = match device {
            Some(device) => Arc::new(ThrottledDisk::new(disk, device)),
            None => disk,
        };
        let options = VolumeOptions {
            cache_bytes: setup.pool_bytes,
            ..VolumeOptions::default()
        };
        let volume = Volume::open_or_create(disk, options)?;
        let options = PoolOptions {
            budget_bytes: setup.pool_bytes,
            policy: setup.policy,
            compression_threads: setup.compression_threads,
            ..PoolOptions::default()
        };
        let pool = Pool::new(&volume, options);
        Ok(Self {
            volume,
            pool,
            setup,
            lsn: AtomicU64::new(1),
        })
    }

    /// A new tree.
    pub(crate) fn create_tree(&self, number: u64) -> Result<BTree, PageCompressionError> {
        let in_advance = self.setup.splits_in_advance;
        let codec = self.setup.storage.codec(&self.pool, number, in_advance)?;
        let guard = self.pool.begin_change();
        Ok(BTree::create(
            &self.pool,
            codec,
            TreeOptions::default(),
            &guard,
        )?)
    }

    /// A tree that is there.
    pub(crate) fn open_tree(
        &self,
        number: u64,
        root: PageId,
    ) -> Result<BTree, PageCompressionError> {
        let in_advance = self.setup.splits_in_advance;
        let codec = self.setup.storage.codec(&self.pool, number, in_advance)?;
        Ok(BTree::open(&self.pool, codec, root)?)
    }

    /// Inserts a row.
    pub(crate) fn insert(
        &self,
        tree: &BTree,
        number: u64,
        records: &RecordSource,
    ) -> Result<(), PageCompressionError> {
        // Not while a guard is held, which the flush waits for. If the flush fails, the test ends late.
        self.pool.wait_for_room(ROOM_WAIT);
        let lsn = self.lsn.fetch_add(1, Ordering::Relaxed);
        let guard = self.pool.begin_change();
        tree.put(&key(number), &records(number), lsn, &guard)?;
        Ok(())
    }

    /// Writes what has changed.
    pub(crate) fn flush(&self) -> Result<(), PageCompressionError> {
        let (flush, ()) = self.pool.prepare_flush(|| ())?;
        flush.commit(self.volume.begin()?, Durability::Synced)?;
        Ok(())
    }

    /// Flushes when it is time, until `is_over`; then everything.
    pub(crate) fn flush_until(&self, is_over: &AtomicBool) -> Result<(), PageCompressionError> {
        while !is_over.load(Ordering::Relaxed) {
            if self.pool.needs_flush() {
                self.flush()?;
            } else {
                std::thread::sleep(FLUSH_INTERVAL);
            }
        }
        self.flush()
    }
}

/// The key of a row: each number once, in an order that nothing foresees (the finalizer of splitmix64, a bijection).
pub(crate) fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The key of a row as a tree orders it.
pub(crate) fn key(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

/// Runs `work` in so many threads, by their numbers, and waits for them.
pub(crate) fn in_threads<T: Send>(
    count: usize,
    work: impl Fn(usize) -> Result<T, PageCompressionError> + Sync,
) -> Result<Vec<T>, PageCompressionError> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads = (0..count).map(|number| scope.spawn(move || work(number)));
        let threads: Vec<_> = threads.collect();
        let results = threads.into_iter().map(|thread| match thread.join() {
            Ok(result) => result,
            Err(_) => Err(PageCompressionError::Panicked),
        });
        results.collect()
    })
}
