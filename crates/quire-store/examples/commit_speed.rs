//! What a small commit costs:
//! `cargo run --release -p quire-store --example commit_speed -- FILE [THREADS…]`
//!
//! First without a device: time of the processor for a batch of one small page and for a commit of the log, with what
//! is written and synced. Then on FILE, which must not exist and is removed: durable commits of the log a second.
//! `bench/commit_sqlite.py` does the same with SQLite on the same file system.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use quire_store::log::{LogOptions, VolumeLog};
use quire_store::{
    CATALOG_PAGE, Disk, Durability, FileDisk, MemDisk, PageKind, Volume, VolumeOptions,
};

type AnyError = Box<dyn std::error::Error>;

/// Redo records of a row of about a hundred bytes.
const RECORD_BYTES: usize = 120;

const COMMITS_IN_MEMORY: u64 = 40_000;

const SECONDS_ON_FILE: f64 = 3.0;

/// A checkpoint of the row tables comes after so many commits.
const COMMITS_PER_TRUNCATION: u64 = 5_000;

/// Counts what reaches the disk below.
struct Counting<D> {
    disk: D,
    write_count: AtomicU64,
    written_bytes: AtomicU64,
    sync_count: AtomicU64,
}

impl<D: Disk> Counting<D> {
    fn new(disk: D) -> Arc<Self> {
        Arc::new(Self {
            disk,
            write_count: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
            sync_count: AtomicU64::new(0),
        })
    }

    fn counts(&self) -> [u64; 3] {
        [&self.write_count, &self.written_bytes, &self.sync_count]
            .map(|count| count.load(Ordering::Relaxed))
    }
}

impl<D: Disk> Disk for Counting<D> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.disk.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.write_count.fetch_add(1, Ordering::Relaxed);
        self.written_bytes
            .fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.disk.write_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_count.fetch_add(1, Ordering::Relaxed);
        self.disk.sync()
    }

    fn len(&self) -> io::Result<u64> {
        self.disk.len()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.disk.set_len(bytes)
    }

    fn name(&self) -> String {
        self.disk.name()
    }
}

fn main() -> Result<(), AnyError> {
    let mut arguments = std::env::args_os().skip(1);
    let path = arguments.next().map(PathBuf::from).ok_or("which file?")?;
    let mut thread_counts = Vec::new();
    for argument in arguments {
        thread_counts.push(argument.to_string_lossy().parse::<u64>()?);
    }
    if thread_counts.is_empty() {
        thread_counts = vec![1, 8];
    }
    in_memory()?;
    for thread_count in thread_counts {
        if path.exists() {
            return Err(format!("{} exists", path.display()).into());
        }
        let result = on_file(&path, thread_count);
        std::fs::remove_file(&path)?;
        result?;
    }
    Ok(())
}

fn in_memory() -> Result<(), AnyError> {
    for live_bytes in [0, 64 << 20] {
        let disk = Counting::new(MemDisk::new());
        let volume = Volume::create(disk.clone(), VolumeOptions::default())?;
        fill(&volume, live_bytes)?;
        let batches = || -> Result<(), AnyError> {
            for at in 0..COMMITS_IN_MEMORY {
                let batch = volume.begin()?;
                batch.replace(CATALOG_PAGE, PageKind::Catalog, &at.to_le_bytes())?;
                batch.commit()?;
            }
            Ok(())
        };
        let what = format!(
            "batch of a small page, {} MiB of other pages",
            live_bytes >> 20
        );
        measured(&what, &disk, batches)?;
        let log = VolumeLog::open(&volume, LogOptions::default())?;
        for durability in [Durability::Synced, Durability::Unsynced] {
            let commits = || -> Result<(), AnyError> {
                for at in 0..COMMITS_IN_MEMORY {
                    log.commit(&[at as u8; RECORD_BYTES], durability)?;
                    truncate_now_and_then(&volume, &log, at)?;
                }
                Ok(())
            };
            let what = format!(
                "log, {durability:?}, {} MiB of other pages",
                live_bytes >> 20
            );
            measured(&what, &disk, commits)?;
        }
    }
    Ok(())
}

/// Pages that commits must not depend on.
fn fill(volume: &Volume, bytes: usize) -> Result<(), AnyError> {
    let batch = volume.begin()?;
    for at in 0..bytes >> 14 {
        batch.write(PageKind::Segment, &vec![at as u8; 16 << 10])?;
    }
    batch.commit()?;
    Ok(())
}

fn truncate_now_and_then(volume: &Volume, log: &VolumeLog, at: u64) -> Result<(), AnyError> {
    if (at + 1).is_multiple_of(COMMITS_PER_TRUNCATION) {
        let batch = volume.begin()?;
        log.truncate(&batch, log.last_sequence())?;
        batch.commit()?;
    }
    Ok(())
}

/// Time that this thread has had a processor, where the system tells (Linux); otherwise time.
fn processor_time(start: Instant) -> Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = statistics
        .split(' ')
        .next()
        .and_then(|text| text.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Best of a few rounds, per commit, since others may use the machine.
fn measured<D: Disk>(
    what: &str,
    disk: &Counting<D>,
    mut work: impl FnMut() -> Result<(), AnyError>,
) -> Result<(), AnyError> {
    const ROUNDS: usize = 5;
    let before = disk.counts();
    let clock = Instant::now();
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let before = processor_time(clock);
        work()?;
        best = best.min(processor_time(clock) - before);
    }
    let after = disk.counts();
    let commits = (COMMITS_IN_MEMORY * ROUNDS as u64) as f64;
    let each = |at: usize| (after[at] - before[at]) as f64 / commits;
    println!(
        "{what}: {:.2} us; {:.3} writes, {:.0} bytes, {:.3} syncs per commit",
        best.as_secs_f64() * 1e6 / COMMITS_IN_MEMORY as f64,
        each(0),
        each(1),
        each(2),
    );
    Ok(())
}

fn on_file(path: &Path, thread_count: u64) -> Result<(), AnyError> {
    let disk = Counting::new(FileDisk::open_or_create(path)?);
    let volume = Volume::open_or_create(disk.clone(), VolumeOptions::default())?;
    let log = VolumeLog::open(&volume, LogOptions::default())?;
    log.commit(b"the first", Durability::Synced)?;
    let before = disk.counts();
    let start = Instant::now();
    let counts: Vec<Result<u64, String>> = std::thread::scope(|scope| {
        let work = || {
            let mut count = 0;
            while start.elapsed().as_secs_f64() < SECONDS_ON_FILE {
                log.commit(&[count as u8; RECORD_BYTES], Durability::Synced)
                    .map_err(|error| error.to_string())?;
                count += 1;
            }
            Ok(count)
        };
        let threads: Vec<_> = (0..thread_count).map(|_| scope.spawn(work)).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined
            .map(|result| result.unwrap_or_else(|_| Err("a thread has panicked".to_owned())))
            .collect()
    });
    let seconds = start.elapsed().as_secs_f64();
    let commits: u64 = counts.into_iter().sum::<Result<u64, String>>()?;
    let after = disk.counts();
    println!(
        "log on a file, {thread_count} threads: {:.0} durable commits/s; {:.3} syncs, {:.0} bytes per commit",
        commits as f64 / seconds,
        (after[2] - before[2]) as f64 / commits as f64,
        (after[1] - before[1]) as f64 / commits as f64,
    );
    Ok(())
}
