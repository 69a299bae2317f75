//! A cold scan of a whole tree on devices that are modelled: `cargo run --release -p quire-kv --example range_speed`.
//!
//! *Processor* is the time of the scan on a disk in memory, without a wait; *device* is what the reads take there: transfers follow each other,
//! latencies may pass side by side. Leaves are read ahead, so a scan should take little more than the longer of both.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quire_codec::block::BlockCodecId;
use quire_kv::btree::{BTree, Direction, TreeBuilder, TreeOptions};
use quire_store::disk::{DeviceProfile, ThrottledDisk};
use quire_store::pool::{PageCodec, Pool, PoolOptions};
use quire_store::{Disk, Durability, MemDisk, PageId, Volume, VolumeOptions};

const ENTRIES: u64 = 300_000;
const VALUE_BYTES: usize = 180;

fn main() -> Result<(), Box<dyn Error>> {
    let memory: Arc<dyn Disk> = Arc::new(MemDisk::new());
    let codec = PageCodec::new(BlockCodecId::Zstd, None)?;
    let root = store(&memory, codec)?;
    let (processor, _) = scan(&memory, codec, root)?;
    for profile in [
        DeviceProfile::DISK_7200_RPM,
        DeviceProfile::SATA_SSD,
        DeviceProfile::NVME_SSD,
    ] {
        let device = Arc::new(ThrottledDisk::new(Arc::clone(&memory), profile));
        let before = device.statistics();
        let disk: Arc<dyn Disk> = Arc::clone(&device) as _;
        let (time, opened) = scan(&disk, codec, root)?;
        let after = device.statistics();
        println!(
            "{}: {} ms, of these {} ms to open; processor {} ms, device {} ms of transfers and {} ms of latencies; {} reads, {} KiB",
            profile.name,
            time.as_millis(),
            opened.as_millis(),
            processor.as_millis(),
            (after.transfer - before.transfer).as_millis(),
            (after.latency - before.latency).as_millis(),
            after.reads - before.reads,
            (after.read_bytes - before.read_bytes) >> 10,
        );
    }
    Ok(())
}

/// Half of each value is digits, the other half its own.
fn value(number: u64) -> Vec<u8> {
    let mut value = format!("{:0>1$}", number, VALUE_BYTES / 2).into_bytes();
    let mut mixed = number;
    while value.len() < VALUE_BYTES {
        mixed = (mixed ^ (mixed >> 29))
            .wrapping_mul(0xbf58_476d_1ce4_e5b9)
            .wrapping_add(0x9e37_79b9_7f4a_7c15);
        value.extend_from_slice(&mixed.to_le_bytes());
    }
    value
}

fn store(disk: &Arc<dyn Disk>, codec: PageCodec) -> Result<PageId, Box<dyn Error>> {
    let volume = Volume::open_or_create(Arc::clone(disk), VolumeOptions::default())?;
    let options = PoolOptions {
        budget_bytes: 512 << 20,
        ..PoolOptions::default()
    };
    let pool = Pool::new(&volume, options);
    let mut builder = TreeBuilder::new(&pool, codec, TreeOptions::default(), 1)?;
    for number in 0..ENTRIES {
        let guard = pool.begin_change();
        builder.push(&number.to_be_bytes(), &value(number), &guard)?;
    }
    let tree = builder.finish(&pool.begin_change())?;
    let (flush, ()) = pool.prepare_flush(|| ())?;
    flush.commit(volume.begin()?, Durability::Synced)?;
    Ok(tree.root())
}

/// Opens the tree and reads all of it; how long both took, and the first.
fn scan(
    disk: &Arc<dyn Disk>,
    codec: PageCodec,
    root: PageId,
) -> Result<(Duration, Duration), Box<dyn Error>> {
    let start = Instant::now();
    let volume = Volume::open_or_create(Arc::clone(disk), VolumeOptions::default())?;
    let pool = Pool::new(&volume, PoolOptions::default());
    let tree = BTree::open(&pool, codec, root)?;
    let opened = start.elapsed();
    let (mut cursor, mut count) = (tree.cursor(&[], &[], Direction::Forward), 0);
    while let Some((key, value)) = cursor.next_entry()? {
        if key.len() != 8 || value.len() < VALUE_BYTES {
            return Err("an entry is not what was stored".into());
        }
        count += 1;
    }
    if count != ENTRIES {
        return Err(format!("{count} entries, not {ENTRIES}").into());
    }
    Ok((start.elapsed(), opened))
}
