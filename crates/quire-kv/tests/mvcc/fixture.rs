//! A volume with trees and transactions, and how to read all of a tree.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use quire_kv::btree::{Direction, TreeOptions};
use quire_kv::mvcc::{
    Isolation, Mvcc, MvccOptions, ReadView, TransactionOptions, TreeId, TreeSpec,
};
use quire_store::log::{LogOptions, VolumeLog};
use quire_store::pool::{PageCodec, Pool, PoolOptions};
use quire_store::{CATALOG_PAGE, Disk, MemDisk, PageId, PageKind, Volume, VolumeOptions};

pub type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

pub const PAGE_BYTES: usize = 4096;

/// splitmix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// The number of cases: more in long runs.
pub fn cases(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |count| count.parse().unwrap())
}

/// Trees 1, 2 … with roots at the first page numbers of a new volume.
pub struct Setup {
    pub volume: Volume,

    pub mvcc: Mvcc,
}

/// Without threads, everything happens in one order.
pub fn quiet() -> MvccOptions {
    MvccOptions {
        has_background_thread: false,
        ..MvccOptions::default()
    }
}

pub fn tree_options() -> TreeOptions {
    TreeOptions {
        page_bytes: PAGE_BYTES,
        layout: 0,
    }
}

pub fn spec(number: u64, root: PageId) -> TreeSpec {
    TreeSpec {
        id: TreeId::new(number),
        root,
        codec: PageCodec::NONE,
        options: tree_options(),
        holds_deletions: false,
    }
}

pub fn open(
    disk: Arc<dyn Disk>,
    budget_bytes: usize,
    options: MvccOptions,
    specs: impl FnOnce(&Volume) -> Vec<TreeSpec>,
) -> Setup {
    let volume_options = VolumeOptions {
        salt_seed: Some(7),
        ..VolumeOptions::default()
    };
    let volume = Volume::open_or_create(disk, volume_options).unwrap();
    let pool_options = PoolOptions {
        budget_bytes,
        compression_threads: 0,
        ..PoolOptions::default()
    };
    let pool = Pool::new(&volume, pool_options);
    let log = VolumeLog::open(&volume, LogOptions::default()).unwrap();
    let specs = specs(&volume);
    if !volume.pin().contains(CATALOG_PAGE) {
        // The catalog would name the roots, so that these numbers are not given out again.
        let batch = volume.begin().unwrap();
        batch
            .replace(CATALOG_PAGE, PageKind::Catalog, b"roots")
            .unwrap();
        batch.commit().unwrap();
    }
    let mvcc = Mvcc::open(&volume, &pool, &log, &specs, options).unwrap();
    Setup { volume, mvcc }
}

/// A new volume in memory with so many trees.
pub fn fresh(trees: u64, options: MvccOptions) -> Setup {
    open(Arc::new(MemDisk::new()), 1 << 20, options, |volume| {
        let spec = |number| spec(number, volume.allocate_page().unwrap());
        (1..=trees).map(spec).collect()
    })
}

/// Nobody waits: a lock that is not free is a timeout at once.
pub fn impatient(isolation: Isolation) -> TransactionOptions {
    TransactionOptions {
        isolation,
        lock_timeout: Some(Duration::ZERO),
        ..TransactionOptions::default()
    }
}

pub fn patient(isolation: Isolation) -> TransactionOptions {
    TransactionOptions {
        isolation,
        ..TransactionOptions::default()
    }
}

/// The entries of a range in the order of a scan.
pub fn scanned(
    view: &ReadView,
    tree: TreeId,
    low: &[u8],
    high: &[u8],
    direction: Direction,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut scan = view.scan(tree, low, high, direction).unwrap();
    let mut found = Vec::new();
    while let Some((key, value)) = scan.next_entry().unwrap() {
        found.push((key.to_vec(), value.to_vec()));
    }
    found
}

pub fn all(view: &ReadView, tree: TreeId) -> Entries {
    let found = scanned(view, tree, &[], &[], Direction::Forward);
    found.into_iter().collect()
}
