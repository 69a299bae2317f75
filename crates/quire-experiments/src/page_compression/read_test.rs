//! Rows read by their keys (§VI-B): tables IV to VII, figures 6 and 7.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use quire_kv::btree::BTree;
use quire_lab::page_model::paper::UNCOMPRESSED_HIT_RATE;
use quire_store::disk::DiskTraffic;
use quire_store::pool::{PoolPolicy, PoolStats};
use quire_store::{MemDisk, PageId};

use super::chosen_keys::{ChosenKeys, exponent_for};
use super::record_tree::{RecordVolume, TreeSetup, in_threads, key};
use super::storage::RecordStorage;
use super::{PageCompressionError, PageCompressionSetup};

const TREE: u64 = 1;

/// §VI-B: "20% of all the data".
const READ_FRACTION: u64 = 5;

/// A pool in which everything fits, to fill the tree.
const FILL_POOL_FACTOR: usize = 4;

/// All that was measured.
#[derive(Clone, Debug)]
pub struct ReadTest {
    /// Of Zipf's law, so that uncompressed pages are found as often as the paper's.
    pub(crate) exponent: f64,
    pub(crate) cases: Vec<ReadCase>,
}

/// One of the paper's configurations.
#[derive(Clone, Debug)]
pub(crate) struct ReadCase {
    pub(crate) storage: RecordStorage,
    pub(crate) policy: PoolPolicy,
    /// Bytes of the images of all pages.
    pub(crate) live_bytes: u64,
    /// By the numbers of connections of the setup.
    pub(crate) runs: Vec<ReadRun>,
}

/// Reads by so many connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadRun {
    pub(crate) reads_per_second: f64,
    pub(crate) seconds: f64,
    pub(crate) traffic: DiskTraffic,
    pub(crate) stats: PoolStats,
}

/// A file with all rows, and where its tree is.
struct FilledDisk {
    storage: RecordStorage,
    disk: Arc<MemDisk>,
    root: PageId,
    live_bytes: u64,
}

pub(crate) fn run(
    setup: &PageCompressionSetup,
    progress: &mut dyn FnMut(&str),
) -> Result<ReadTest, PageCompressionError> {
    let mut filled = Vec::new();
    for storage in RecordStorage::ALL {
        let disk = fill(setup, storage)?;
        progress(&format!(
            "{} rows, {}: {:.1} MB",
            setup.rows,
            storage.name(),
            disk.live_bytes as f64 / 1e6
        ));
        filled.push(disk);
    }
    let exponent = calibrate(setup, &filled)?;
    progress(&format!("Zipf's exponent {exponent:.3}"));
    let mut cases = Vec::new();
    for disk in &filled {
        // InnoDB's pool, and for comparison ours.
        for policy in [disk.storage.policy(), PoolPolicy::Tuned] {
            let case = disk.measure(setup, policy, exponent)?;
            progress(&format!(
                "{} by keys, {policy}: {:.0} rows/s with one connection",
                disk.storage.name(),
                case.runs.first().map_or(0.0, |run| run.reads_per_second)
            ));
            cases.push(case);
        }
    }
    Ok(ReadTest { exponent, cases })
}

/// Inserts all rows in random order.
fn fill(
    setup: &PageCompressionSetup,
    storage: RecordStorage,
) -> Result<FilledDisk, PageCompressionError> {
    let disk = Arc::new(MemDisk::new());
    let tree_setup = TreeSetup {
        storage,
        policy: PoolPolicy::Tuned,
        pool_bytes: FILL_POOL_FACTOR * setup.read_pool_bytes,
        compression_threads: 1,
        splits_in_advance: true,
    };
    let records = RecordVolume::open(Arc::clone(&disk), None, tree_setup)?;
    let tree = records.create_tree(TREE)?;
    for row in permutation(setup.rows) {
        records.insert(&tree, row, &setup.records)?;
        if records.pool.needs_flush() {
            records.flush()?;
        }
    }
    records.flush()?;
    let root = tree.root();
    let live_bytes = records.volume.stats().live_bytes;
    drop((tree, records));
    Ok(FilledDisk {
        storage,
        disk,
        root,
        live_bytes,
    })
}

/// All numbers below `count`, in an order that nothing foresees: those of a full linear congruential cycle (Hull and Dobell, 1962) that are below.
fn permutation(count: u64) -> impl Iterator<Item = u64> {
    let period = count.max(4).next_power_of_two();
    let next = move |number: &u64| {
        let product = number.wrapping_mul(0x5851_f42d);
        Some(product.wrapping_add(0x1405_7b7f) % period)
    };
    let numbers = std::iter::successors(Some(0), next).take(period as usize);
    numbers.filter(move |number| *number < count)
}

/// The exponent with which uncompressed pages are found as often as the paper's (table VI).
fn calibrate(
    setup: &PageCompressionSetup,
    filled: &[FilledDisk],
) -> Result<f64, PageCompressionError> {
    let uncompressed = filled.iter().find(|disk| !disk.storage.is_compressed());
    let Some(uncompressed) = uncompressed else {
        return Ok(0.0);
    };
    exponent_for(UNCOMPRESSED_HIT_RATE, |exponent| {
        let opened = uncompressed.open(setup, uncompressed.storage.policy(), false)?;
        let keys = ChosenKeys::new(setup.rows, exponent);
        let run = opened.read(setup, keys, 1)?;
        Ok(run.stats.leaf_hot_hit_rate())
    })
}

/// A filled disk with a pool.
struct OpenedTree {
    records: RecordVolume,
    tree: BTree,
}

impl FilledDisk {
    fn open(
        &self,
        setup: &PageCompressionSetup,
        policy: PoolPolicy,
        is_slow: bool,
    ) -> Result<OpenedTree, PageCompressionError> {
        let tree_setup = TreeSetup {
            storage: self.storage,
            policy,
            pool_bytes: setup.read_pool_bytes,
            compression_threads: 0,
            splits_in_advance: true,
        };
        let device = setup.device.filter(|_| is_slow);
        let records = RecordVolume::open(Arc::clone(&self.disk), device, tree_setup)?;
        let tree = records.open_tree(TREE, self.root)?;
        Ok(OpenedTree { records, tree })
    }

    fn measure(
        &self,
        setup: &PageCompressionSetup,
        policy: PoolPolicy,
        exponent: f64,
    ) -> Result<ReadCase, PageCompressionError> {
        let keys = ChosenKeys::new(setup.rows, exponent);
        let mut runs = Vec::new();
        for connections in &setup.connections {
            let opened = self.open(setup, policy, true)?;
            runs.push(opened.read(setup, keys, *connections)?);
        }
        Ok(ReadCase {
            storage: self.storage,
            policy,
            live_bytes: self.live_bytes,
            runs,
        })
    }
}

impl OpenedTree {
    /// Reads a fifth of the rows, by so many connections together. The pool is empty before, as after a start of the server.
    fn read(
        &self,
        setup: &PageCompressionSetup,
        keys: ChosenKeys,
        connections: usize,
    ) -> Result<ReadRun, PageCompressionError> {
        let reads = (setup.rows / READ_FRACTION).max(1);
        let next = AtomicU64::new(0);
        let before = self.records.volume.disk_traffic();
        let start = Instant::now();
        in_threads(connections, |_| {
            loop {
                let access = next.fetch_add(1, Ordering::Relaxed);
                if access >= reads {
                    return Ok(());
                }
                let row = keys.row(access);
                let found = self.tree.get(&key(row), <[u8]>::len)?;
                found.ok_or(PageCompressionError::Missing(row))?;
            }
        })?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(ReadRun {
            reads_per_second: reads as f64 / seconds,
            seconds,
            traffic: self.records.volume.disk_traffic().since(&before),
            stats: self.records.pool.stats(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_has_each_number_once() {
        for count in [1, 2, 5, 64, 1_000] {
            let mut numbers: Vec<u64> = permutation(count).collect();
            assert!(count < 64 || !numbers.is_sorted());
            numbers.sort_unstable();
            assert_eq!(numbers, (0..count).collect::<Vec<_>>());
        }
    }
}
