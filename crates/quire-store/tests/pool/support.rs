//! Volumes, pools and pages for tests.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use quire_codec::block::{BlockCodecId, BlockOptions, open};
use quire_format::row_page::{PageImage, PageOp, PageSetup, RowPage, RowPageMut};
use quire_store::disk::{DiskCall, HookedDisk};
use quire_store::pool::{Flush, PageCodec, PageFrame, Pool, PoolOptions, PoolPolicy};
use quire_store::{Disk, Durability, MemDisk, PageId, Pin, Volume, VolumeOptions};

pub const PAGE_BYTES: usize = 4096;

pub type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

/// SplitMix64 (Steele, Lea, Flood 2014).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((value ^ (value >> 31)) % limit as u64) as usize
    }
}

pub fn volume_options() -> VolumeOptions {
    VolumeOptions {
        cache_bytes: 1 << 20,
        salt_seed: Some(7),
        ..VolumeOptions::default()
    }
}

pub fn volume(disk: Arc<dyn Disk>) -> Volume {
    Volume::open_or_create(disk, volume_options()).unwrap()
}

pub fn codec(id: BlockCodecId) -> PageCodec {
    PageCodec::new(id, None).unwrap()
}

pub fn lz4() -> PageCodec {
    codec(BlockCodecId::Lz4)
}

thread_local! {
    static POLICY: Cell<PoolPolicy> = const { Cell::new(PoolPolicy::Tuned) };
}

/// The policy of the pools that this thread makes.
pub fn policy() -> PoolPolicy {
    POLICY.get()
}

/// Runs tests with pools whose frames hold their images, and have half of the budget, as at first in others.
pub fn in_pools_of_twins(tests: &[fn()]) {
    POLICY.set(PoolPolicy::Twins {
        uncompressed_percent: 50,
    });
    tests.iter().for_each(|test| test());
    POLICY.set(PoolPolicy::Tuned);
}

/// A pool for about so many pages, half of them as frames, without threads.
pub fn pool_of(volume: &Volume, pages: usize) -> Pool {
    let options = PoolOptions {
        policy: policy(),
        budget_bytes: pages * (PAGE_BYTES + 400),
        compression_threads: 0,
        ..PoolOptions::default()
    };
    Pool::new(volume, options)
}

pub fn empty_page() -> Box<[u8]> {
    let mut bytes = vec![0; PAGE_BYTES];
    RowPageMut::create(&mut bytes, &PageSetup::default()).unwrap();
    bytes.into()
}

pub fn page_of(entries: &Entries) -> Box<[u8]> {
    let mut bytes = empty_page();
    let mut page = RowPageMut::open(&mut bytes).unwrap();
    for (key, value) in entries {
        page.insert(key, value, false).unwrap();
    }
    bytes
}

pub fn put<'a>(key: &'a [u8], value: &'a [u8]) -> PageOp<'a> {
    PageOp::Put {
        key,
        value,
        overflow: false,
    }
}

pub fn entries_of(page: RowPage<'_>) -> Entries {
    let entry = |index| {
        let entry = page.entry(index).unwrap();
        (entry.key(), entry.value.to_vec())
    };
    (0..page.len()).map(entry).collect()
}

pub fn entries(frame: &PageFrame) -> Entries {
    frame.read(entries_of).unwrap()
}

pub fn commit(volume: &Volume, flush: Flush) -> u64 {
    let batch = volume.begin().unwrap();
    flush.commit(batch, Durability::Synced).unwrap()
}

pub fn flush(volume: &Volume, pool: &Pool) -> u64 {
    let (flush, ()) = pool.prepare_flush(|| ()).unwrap();
    commit(volume, flush)
}

/// The page as it is in a snapshot of the volume, without any pool.
pub fn stored_entries(pin: &Pin, page: PageId) -> Entries {
    let image = pin.read(page).unwrap();
    let image = PageImage::open(&image).unwrap();
    let mut bytes = vec![0; image.page_bytes()];
    let mut codec = open(image.codec(), &BlockOptions::default()).unwrap();
    image.decode(codec.as_mut(), &mut bytes).unwrap();
    entries_of(RowPage::open(&bytes).unwrap())
}

/// Adds `count` pages, each with a value of 600 bytes that nothing shortens, and flushes them.
pub fn random_pages(volume: &Volume, pool: &Pool, count: usize) -> Vec<PageId> {
    let mut random = Random(3);
    let mut page = |_| {
        let value = (0..600).map(|_| random.below(256) as u8).collect();
        let entries = Entries::from([(b"random".to_vec(), value)]);
        pool.add(page_of(&entries), lz4()).unwrap().page()
    };
    let pages = (0..count).map(&mut page).collect();
    flush(volume, pool);
    pages
}

/// A disk whose reads take a while once it is told so.
pub fn slow_reads(is_slow: &Arc<AtomicBool>) -> Arc<dyn Disk> {
    let is_slow = Arc::clone(is_slow);
    let wait = move |call| {
        if call == DiskCall::Read && is_slow.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_micros(500));
        }
    };
    Arc::new(HookedDisk::new(MemDisk::new(), wait))
}
