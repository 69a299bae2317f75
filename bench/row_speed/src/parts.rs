//! What is measured.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use quire_codec::block::BlockCodecId;
use quire_store::disk::DeviceProfile;
use quire_store::pool::PageCodec;

use crate::measure::{Rate, median, run};
use crate::quire::{Quire, Setup};
use crate::sqlite::Sqlite;
use crate::{Failure, Peer, Worker};

pub const THREADS: usize = 8;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_millis(1_000);

/// About what a row takes in a file that is not compressed.
const ROW_BYTES: u64 = 210;

pub const CODECS: [BlockCodecId; 3] = [BlockCodecId::None, BlockCodecId::Lz4, BlockCodecId::Zstd];

pub fn file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("row_speed.{name}"))
}

/// Removes what this program makes.
pub fn remove_files(folder: &Path) -> Result<(), Failure> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy());
        if name.is_some_and(|name| name.starts_with("row_speed.")) {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

pub fn setup(pool_bytes: usize, codec: BlockCodecId) -> Result<Setup, Failure> {
    Ok(Setup {
        pool_bytes,
        codec: PageCodec::new(codec, None)?,
        compression_threads: 1,
        device: None,
        target: None,
    })
}

/// Rows from 0 on, in transactions of `step` rows by one thread, into a table that is empty. Returns rows a second.
fn load(peer: &dyn Peer, count: u64, step: u64) -> Result<f64, Failure> {
    let mut worker = peer.worker()?;
    let start = Instant::now();
    for first in (0..count).step_by(step as usize) {
        worker.begin(false)?;
        for id in first..count.min(first + step) {
            worker.insert(id as i64)?;
        }
        worker.commit()?;
    }
    Ok(count as f64 / start.elapsed().as_secs_f64())
}

fn select(worker: &mut dyn Worker, id: u64) -> Result<(), Failure> {
    worker.select(id as i64).map(drop)
}

fn update_durably(worker: &mut dyn Worker, id: u64) -> Result<(), Failure> {
    worker.update(id as i64, true)
}

/// Three rows are read, and one is changed without waiting for the disk.
fn read_write(worker: &mut dyn Worker, id: u64) -> Result<(), Failure> {
    for other in [id / 2, id / 3, id] {
        worker.select(other as i64)?;
    }
    worker.update(id as i64, false)
}

type Work = fn(&mut dyn Worker, u64) -> Result<(), Failure>;

/// Runs one kind of work on all peers in turn. Returns a median for each.
fn compare(peers: &[(&str, &dyn Peer)], count: u64, work: Work) -> Result<Vec<Rate>, Failure> {
    let mut rates: Vec<Vec<Rate>> = vec![Vec::new(); peers.len()];
    for (_, peer) in peers {
        // Warm.
        run(*peer, THREADS, ROUND, count, work)?;
    }
    for _ in 0..ROUNDS {
        for ((_, peer), rates) in peers.iter().zip(&mut rates) {
            rates.push(run(*peer, THREADS, ROUND, count, work)?);
        }
    }
    let of = |rates: &Vec<Rate>| Rate {
        per_second: median(rates.iter().map(|rate| rate.per_second).collect()),
        p99_us: median(rates.iter().map(|rate| rate.p99_us).collect()),
        cpu_us: median(rates.iter().map(|rate| rate.cpu_us).collect()),
    };
    Ok(rates.iter().map(of).collect())
}

fn print(what: &str, peers: &[(&str, &dyn Peer)], rates: &[Rate], against: &str) {
    let at = peers.iter().position(|(name, _)| *name == against);
    let base = at.map_or(0.0, |at| rates[at].per_second);
    for ((name, _), rate) in peers.iter().zip(rates) {
        println!(
            "{what:24} {name:12} {:>10.0} /s  p99 {:>8.1} us  cpu {:>6.2} us  {:>6.2} x {against}",
            rate.per_second,
            rate.p99_us,
            rate.cpu_us,
            rate.per_second / base
        );
    }
}

/// All peers on the same rows, loaded in turn, closed and opened again with the pool to measure.
fn with_tables(
    folder: &Path,
    count: u64,
    pool_bytes: usize,
    device: Option<DeviceProfile>,
    measure: impl FnOnce(&[(&str, &dyn Peer)]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    remove_files(folder)?;
    let mut tables = Vec::new();
    for codec in CODECS {
        let path = file(folder, codec.name());
        let loading = setup(pool_bytes.max(64 << 20), codec)?;
        let table = Quire::open(&path, &loading)?;
        let rate = load(&table, count, 10_000)?;
        let bytes = table.close()?;
        println!(
            "{:24} {:12} {rate:>10.0} rows/s, {} MB",
            "load",
            codec.name(),
            bytes >> 20
        );
        let measured = Setup {
            device,
            ..setup(pool_bytes, codec)?
        };
        tables.push((codec.name(), Quire::open(&path, &measured)?));
    }
    let mut peers: Vec<(&str, &dyn Peer)> = Vec::new();
    peers.extend(
        tables
            .iter()
            .map(|(name, table)| (*name, table as &dyn Peer)),
    );
    let sqlite = Sqlite::open(&file(folder, "sqlite"), pool_bytes)?;
    if device.is_none() {
        let rate = load(&sqlite, count, 10_000)?;
        println!("{:24} {:12} {rate:>10.0} rows/s", "load", "SQLite");
        peers.push(("SQLite", &sqlite));
    }
    measure(&peers)?;
    for (name, table) in &tables {
        let stats = table.pool_stats();
        let (reads, writes) = table.device_counts();
        println!(
            "  {name}: {:.1} % hot, {:.1} % warm, {} reads and {} writes of the device, read {} ns, decode {} ns; compressed {} times by writers, {} in the background, {} by flushes, {} not at all",
            100.0 * stats.hot_hit_rate(),
            100.0 * stats.warm_hit_rate(),
            reads,
            writes,
            stats.read_ns,
            stats.decode_ns,
            stats.foreground_compressions,
            stats.background_compressions,
            stats.flush_compressions,
            stats.appended_images
        );
    }
    Ok(())
}

pub fn memory(folder: &Path) -> Result<(), Failure> {
    println!("Everything in the pool: 200,000 rows, 256 MB");
    with_tables(folder, 200_000, 256 << 20, None, |peers| {
        let selects = compare(peers, 200_000, select)?;
        print("point select", peers, &selects, "SQLite");
        print("point select", &peers[..3], &selects[..3], "none");
        let changes = compare(peers, 200_000, read_write)?;
        print("read-write", peers, &changes, "SQLite");
        print("read-write", &peers[..3], &changes[..3], "none");
        let updates = compare(peers, 200_000, update_durably)?;
        print("durable update", peers, &updates, "SQLite");
        print("durable update", &peers[..3], &updates[..3], "none");
        Ok(())
    })
}

/// What a program gets: SQL, prepared.
#[cfg(feature = "embedded")]
pub fn embedded(folder: &Path) -> Result<(), Failure> {
    use crate::embedded::Embedded;
    const COUNT: u64 = 200_000;
    const POOL_BYTES: usize = 256 << 20;
    println!("Prepared statements, everything in the pool: {COUNT} rows");
    remove_files(folder)?;
    let mut tables = Vec::new();
    for codec in CODECS {
        let path = file(folder, codec.name());
        tables.push((
            codec.name(),
            Embedded::open(&path, POOL_BYTES, codec.name())?,
        ));
    }
    let sqlite = Sqlite::open(&file(folder, "sqlite"), POOL_BYTES)?;
    let mut peers: Vec<(&str, &dyn Peer)> = Vec::new();
    peers.extend(
        tables
            .iter()
            .map(|(name, table)| (*name, table as &dyn Peer)),
    );
    peers.push(("SQLite", &sqlite));
    let mut loads = Vec::new();
    for (_, peer) in &peers {
        let per_second = load(*peer, COUNT, 10_000)?;
        loads.push(Rate {
            per_second,
            ..Rate::default()
        });
    }
    print("inserts, 10,000 each", &peers, &loads, "SQLite");
    let parts: [(&str, Work); 3] = [
        ("point select", select),
        ("read-write", read_write),
        ("durable update", update_durably),
    ];
    for (what, work) in parts {
        print(what, &peers, &compare(&peers, COUNT, work)?, "SQLite");
    }
    Ok(())
}

/// Eight times the pool; reading only, or changing as well.
pub fn large(folder: &Path, is_reading_only: bool) -> Result<(), Failure> {
    const POOL_BYTES: usize = 16 << 20;
    let count = 8 * POOL_BYTES as u64 / ROW_BYTES;
    println!(
        "Eight times the pool: {count} rows, {} MB of pool",
        POOL_BYTES >> 20
    );
    with_tables(folder, count, POOL_BYTES, None, |peers| {
        let selects = compare(peers, count, select)?;
        print("point select", peers, &selects, "SQLite");
        if is_reading_only {
            return Ok(());
        }
        let changes = compare(peers, count, read_write)?;
        print("read-write", peers, &changes, "SQLite");
        let updates = compare(peers, count, update_durably)?;
        print("durable update", peers, &updates, "SQLite");
        Ok(())
    })
}

pub fn throttled(folder: &Path) -> Result<(), Failure> {
    const POOL_BYTES: usize = 32 << 20;
    let count = 4 * POOL_BYTES as u64 / ROW_BYTES;
    println!(
        "Four times the pool on a SATA SSD: {count} rows, {} MB of pool",
        POOL_BYTES >> 20
    );
    let device = Some(DeviceProfile::SATA_SSD);
    with_tables(folder, count, POOL_BYTES, device, |peers| {
        let selects = compare(peers, count, select)?;
        print("point select", peers, &selects, "none");
        let changes = compare(peers, count, read_write)?;
        print("read-write", peers, &changes, "none");
        let updates = compare(peers, count, update_durably)?;
        print("durable update", peers, &updates, "none");
        Ok(())
    })
}

/// Inserts of single rows in a random order, as many threads, pages compressed in the background or not.
pub fn background(folder: &Path) -> Result<(), Failure> {
    println!("Inserts in a random order, a row a transaction, synchronous = normal");
    for codec in [BlockCodecId::Lz4Hc, BlockCodecId::Zlib, BlockCodecId::Zstd] {
        let mut rates: [Vec<Rate>; 2] = Default::default();
        let mut share = Vec::new();
        for _ in 0..ROUNDS {
            for threads in [0, 1] {
                remove_files(folder)?;
                let setup = Setup {
                    compression_threads: threads,
                    ..setup(64 << 20, codec)?
                };
                let table = Quire::open(&file(folder, codec.name()), &setup)?;
                let rate = run(&table, THREADS, 3 * ROUND, u64::MAX >> 8, |worker, id| {
                    worker.begin(false)?;
                    worker.insert(id as i64)?;
                    worker.commit()
                })?;
                rates[threads].push(rate);
                let stats = table.pool_stats();
                if threads > 0 {
                    let all = stats.background_compressions
                        + stats.foreground_compressions
                        + stats.flush_compressions;
                    share.push(100.0 * stats.background_compressions as f64 / all.max(1) as f64);
                }
            }
        }
        let of = |rates: &[Rate], what: fn(&Rate) -> f64| median(rates.iter().map(what).collect());
        let [without, with] = [0, 1].map(|at| of(&rates[at], |rate| rate.per_second));
        let [slow, fast] = [0, 1].map(|at| of(&rates[at], |rate| rate.p99_us));
        println!(
            "{:8} synchronous {without:>8.0} /s, p99 {slow:>7.1} us; background {with:>8.0} /s ({:+.1} %), p99 {fast:>7.1} us; {:.1} % of the compressions in the background",
            codec.name(),
            100.0 * (with / without - 1.0),
            median(share)
        );
    }
    Ok(())
}
