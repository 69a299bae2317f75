//! How long a durable commit takes while changed pages are flushed:
//! `cargo run --release -p quire-kv --example commit_latency -- FILE [SECONDS [THREADS…]]`
//!
//! A table and an index that are several times as large as the pool. Each transaction updates two rows, moves an entry of the
//! index, and commits. FILE must not exist and is removed. Printed are commits a second; how long they took; the same of those
//! that ran beside a write of more than 64 KiB, which only flushes make; and what the syncs had to take along.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use quire_codec::block::BlockCodecId;
use quire_kv::btree::{BTree, TreeBuilder, TreeOptions};
use quire_kv::mvcc::{Mvcc, MvccOptions, TransactionOptions, TreeId, TreeSpec};
use quire_store::log::{LogOptions, VolumeLog};
use quire_store::pool::{PageCodec, Pool, PoolOptions};
use quire_store::{Disk, FileDisk, Volume, VolumeOptions};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const ROWS: u64 = 400_000;
const POOL_BYTES: usize = 32 << 20;
const TABLE: TreeId = TreeId::new(1);
const INDEX: TreeId = TreeId::new(2);
const LONG_WRITE_BYTES: usize = 64 << 10;

/// Measures what reaches the file.
struct MeasuredDisk {
    disk: FileDisk,
    written_bytes: AtomicU64,
    unsynced_bytes: AtomicU64,
    /// Of one sync.
    synced_bytes_max: AtomicU64,
    sync_count: AtomicU64,
    sync_us: AtomicU64,
    long_writes: AtomicU64,
}

impl MeasuredDisk {
    fn new(disk: FileDisk) -> Self {
        Self {
            disk,
            written_bytes: AtomicU64::new(0),
            unsynced_bytes: AtomicU64::new(0),
            synced_bytes_max: AtomicU64::new(0),
            sync_count: AtomicU64::new(0),
            sync_us: AtomicU64::new(0),
            long_writes: AtomicU64::new(0),
        }
    }

    fn long_writes(&self) -> u64 {
        self.long_writes.load(Ordering::Relaxed)
    }

    fn clear(&self) {
        for counter in [
            &self.written_bytes,
            &self.synced_bytes_max,
            &self.sync_count,
            &self.sync_us,
        ] {
            counter.store(0, Ordering::Relaxed);
        }
    }
}

impl Disk for MeasuredDisk {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.disk.read_at(buffer, offset)
    }

    fn read_scattered_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.disk.read_scattered_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let count = bytes.len() as u64;
        self.written_bytes.fetch_add(count, Ordering::Relaxed);
        self.unsynced_bytes.fetch_add(count, Ordering::Relaxed);
        if bytes.len() > LONG_WRITE_BYTES {
            self.long_writes.fetch_add(1, Ordering::Relaxed);
        }
        self.disk.write_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        let taken = self.unsynced_bytes.swap(0, Ordering::Relaxed);
        self.synced_bytes_max.fetch_max(taken, Ordering::Relaxed);
        let start = Instant::now();
        let synced = self.disk.sync();
        let took = start.elapsed().as_micros() as u64;
        self.sync_us.fetch_add(took, Ordering::Relaxed);
        self.sync_count.fetch_add(1, Ordering::Relaxed);
        synced
    }

    fn len(&self) -> io::Result<u64> {
        self.disk.len()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.disk.set_len(bytes)
    }

    fn discard(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.disk.discard(offset, bytes)
    }

    fn name(&self) -> String {
        self.disk.name()
    }
}

struct CommitTime {
    took: Duration,
    /// A long write began meanwhile.
    is_beside_flush: bool,
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().map(PathBuf::from).ok_or("which file?")?;
    let seconds = arguments.next().map_or(Ok(10), |text| text.parse())?;
    let threads: Result<Vec<u64>, _> = arguments.map(|text| text.parse()).collect();
    let threads = Some(threads?).filter(|threads| !threads.is_empty());
    for thread_count in threads.unwrap_or_else(|| vec![1, 4, 8, 16]) {
        if path.exists() {
            return Err(format!("{} exists", path.display()).into());
        }
        let measured = measure(&path, thread_count, Duration::from_secs(seconds));
        std::fs::remove_file(&path)?;
        measured?;
    }
    Ok(())
}

fn measure(path: &Path, thread_count: u64, time: Duration) -> Result<(), Failure> {
    let disk = Arc::new(MeasuredDisk::new(FileDisk::open_or_create(path)?));
    let (mvcc, pool) = build(&disk)?;
    disk.clear();
    let start = Instant::now();
    let results: Vec<Result<Vec<CommitTime>, Failure>> = std::thread::scope(|scope| {
        let work = |thread| commit_until(&mvcc, &disk, thread, start + time);
        let threads: Vec<_> = (0..thread_count)
            .map(|thread| scope.spawn(move || work(thread)))
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined
            .map(|result| result.unwrap_or_else(|_| Err("a thread has panicked".into())))
            .collect()
    });
    let elapsed = start.elapsed();
    let mut times = Vec::new();
    for result in results {
        times.extend(result?);
    }
    report(thread_count, &times, elapsed, &disk);
    drop((mvcc, pool));
    Ok(())
}

fn build(disk: &Arc<MeasuredDisk>) -> Result<(Mvcc, Pool), Failure> {
    let disk = Arc::clone(disk) as Arc<dyn Disk>;
    let volume = Volume::create(disk, VolumeOptions::default())?;
    let options = PoolOptions {
        budget_bytes: POOL_BYTES,
        ..PoolOptions::default()
    };
    let pool = Pool::new(&volume, options);
    let log = VolumeLog::open(&volume, LogOptions::default())?;
    let trees: &[TreeSpec] = &[];
    let mvcc = Mvcc::open(&volume, &pool, &log, trees, MvccOptions::default())?;
    let codec = PageCodec::new(BlockCodecId::Lz4, None)?;
    for (id, is_index) in [(TABLE, false), (INDEX, true)] {
        let mut builder = TreeBuilder::new(&pool, codec, TreeOptions::default(), 0)?;
        for number in 0..ROWS {
            if is_index {
                builder.push(&index_key(number, number), &[], &pool.begin_change())?;
            } else {
                let value = row(number, 0);
                builder.push(&number.to_be_bytes(), &value, &pool.begin_change())?;
            }
            if pool.needs_flush() {
                mvcc.checkpoint()?;
            }
        }
        let tree: BTree = builder.finish(&pool.begin_change())?;
        mvcc.add_built_tree(id, tree)?;
    }
    mvcc.checkpoint()?;
    Ok((mvcc, pool))
}

/// About 190 bytes, half of them digits that do not repeat.
fn row(number: u64, version: u64) -> Vec<u8> {
    let mut random = SplitMix(number ^ version << 32);
    let mut text = format!("row {number:012} in version {version:08}, and its padding: ");
    for _ in 0..6 {
        text.push_str(&format!("{:011}-", random.next() % 100_000_000_000));
    }
    text.push_str("the same words at the end of each row, as texts have them");
    text.into_bytes()
}

fn index_key(value: u64, row: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&value.to_be_bytes());
    key[8..].copy_from_slice(&row.to_be_bytes());
    key
}

/// S. Vigna's generator.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

fn commit_until(
    mvcc: &Mvcc,
    disk: &MeasuredDisk,
    thread: u64,
    end: Instant,
) -> Result<Vec<CommitTime>, Failure> {
    let mut random = SplitMix(thread + 1);
    let mut times = Vec::new();
    while Instant::now() < end {
        let mut transaction = mvcc.begin(TransactionOptions::default());
        for _ in 0..2 {
            let number = random.next() % ROWS;
            let value = row(number, random.next() >> 40);
            transaction.put(TABLE, &number.to_be_bytes(), &value)?;
        }
        let number = random.next() % ROWS;
        transaction.remove(INDEX, &index_key(number, number))?;
        transaction.put(INDEX, &index_key(random.next() % ROWS, number), &[])?;
        let (before, start) = (disk.long_writes(), Instant::now());
        transaction.commit()?;
        times.push(CommitTime {
            took: start.elapsed(),
            is_beside_flush: disk.long_writes() != before,
        });
    }
    Ok(times)
}

fn report(thread_count: u64, times: &[CommitTime], elapsed: Duration, disk: &MeasuredDisk) {
    let rate = times.len() as f64 / elapsed.as_secs_f64();
    let all = times.iter().map(|time| time.took).collect();
    println!(
        "{thread_count} threads: {rate:.0} commits/s, ms: {}",
        percentiles(all)
    );
    let beside = times.iter().filter(|time| time.is_beside_flush);
    let beside: Vec<_> = beside.map(|time| time.took).collect();
    let share = 100.0 * beside.len() as f64 / times.len().max(1) as f64;
    println!(
        "  beside a flush: {share:.1} %, ms: {}",
        percentiles(beside)
    );
    let count = disk.sync_count.load(Ordering::Relaxed).max(1);
    println!(
        "  {count} syncs of {:.2} ms, with up to {} KiB; {} MiB written",
        disk.sync_us.load(Ordering::Relaxed) as f64 / 1e3 / count as f64,
        disk.synced_bytes_max.load(Ordering::Relaxed) >> 10,
        disk.written_bytes.load(Ordering::Relaxed) >> 20,
    );
}

fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let Some(last) = times.last() else {
        return "none".to_owned();
    };
    let ms = |time: &Duration| time.as_secs_f64() * 1e3;
    let at = |share: f64| ms(&times[((times.len() as f64 * share) as usize).min(times.len() - 1)]);
    format!(
        "p50 {:.2}, p99 {:.2}, p99.9 {:.2}, max {:.2}",
        at(0.5),
        at(0.99),
        at(0.999),
        ms(last)
    )
}
