//! Who compresses leaves while rows are inserted in random order (paper 4, J. Ma et al., §V-D and table VIII), and how often that fails:
//! `cargo run --release -p quire-kv --example insert_compression -- [ROWS] [THREADS]`. Rows of 612 bytes, most of it text; leaves with images of 8 KiB, and of
//! any size. *sync*: whoever fills a log compresses, and what fails is split. *async*: 16 threads, and advance split.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use quire_codec::block::BlockCodecId;
use quire_kv::btree::{BTree, TreeOptions};
use quire_kv::mvcc::{Mvcc, MvccOptions, Synchronous, TransactionOptions, TreeId, TreeSpec};
use quire_store::log::{LogOptions, VolumeLog};
use quire_store::pool::{PageCodec, PageTarget, Pool, PoolOptions};
use quire_store::{MemDisk, Volume, VolumeOptions};

const TREE: TreeId = TreeId::new(1);
const SLOT_BYTES: usize = 8 << 10;
const POOL_BYTES: usize = 8 << 20;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let rows = arguments.next().unwrap_or(Ok(65_536))?;
    let threads = arguments.next().unwrap_or(Ok(1))?;
    println!("{rows} rows, {threads} threads");
    println!(
        "codec  leaves   compression     rows/s  compressions: writers  threads ( share)  flushes   failed ( share)  splits: failed  advance  MB"
    );
    for id in [BlockCodecId::Lz4Hc, BlockCodecId::Zlib] {
        for (is_fixed, is_async) in [(true, false), (true, true), (false, false), (false, true)] {
            measure(id, is_fixed, is_async, rows, threads)?;
        }
    }
    Ok(())
}

fn measure(
    id: BlockCodecId,
    is_fixed: bool,
    is_async: bool,
    rows: u64,
    threads: u64,
) -> Result<(), Failure> {
    let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default())?;
    let options = PoolOptions {
        budget_bytes: POOL_BYTES,
        compression_threads: if is_async { 16 } else { 0 },
        ..PoolOptions::default()
    };
    let pool = Pool::new(&volume, options);
    let codec = PageCodec::new(id, None)?;
    let codec = if is_fixed {
        let target = PageTarget {
            splits_in_advance: is_async,
            ..PageTarget::new(SLOT_BYTES)
        };
        pool.with_target(codec, TREE.get(), target)
    } else {
        codec
    };
    let tree = BTree::create(&pool, codec, TreeOptions::default(), &pool.begin_change())?;
    let log = VolumeLog::open(&volume, LogOptions::default())?;
    let mvcc = Mvcc::open(
        &volume,
        &pool,
        &log,
        &[] as &[TreeSpec],
        MvccOptions::default(),
    )?;
    mvcc.add_built_tree(TREE, tree)?;
    let start = Instant::now();
    insert_all(&mvcc, rows, threads)?;
    let seconds = start.elapsed().as_secs_f64();
    let stats = pool.stats();
    mvcc.checkpoint()?;
    let (writers, background) = (stats.foreground_compressions, stats.background_compressions);
    let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
    println!(
        "{:6} {:8} {:11} {:>9.0} {:>22} {:>8} ({:>4.1} %) {:>8} {:>8} ({:>4.1} %) {:>15} {:>8} {:>5.1}",
        id.name(),
        if is_fixed { "8 KiB" } else { "any size" },
        if is_async { "async" } else { "sync" },
        rows as f64 / seconds,
        writers,
        background,
        percent(background, writers + background),
        stats.flush_compressions,
        stats.target_failures,
        percent(stats.target_failures, stats.target_compressions),
        stats.failure_splits,
        stats.advance_splits,
        volume.stats().live_bytes as f64 / 1e6,
    );
    Ok(())
}

fn insert_all(mvcc: &Mvcc, rows: u64, threads: u64) -> Result<(), Failure> {
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let insert_some = || {
            let options = TransactionOptions {
                synchronous: Synchronous::Normal,
                ..TransactionOptions::default()
            };
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= rows {
                    return Ok::<(), Failure>(());
                }
                let mut transaction = mvcc.begin(options.clone());
                transaction.put(TREE, &mixed(number).to_be_bytes(), &row(number))?;
                transaction.commit()?;
            }
        };
        let writers: Vec<_> = (0..threads).map(|_| scope.spawn(insert_some)).collect();
        writers
            .into_iter()
            .try_for_each(|writer| writer.join().map_err(|_| "a thread panicked")?)
    })
}

/// Each number once, in an order that nothing foresees: the finalizer of splitmix64 is a bijection.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Twelve bytes of integers, and a text of 500 to 684 bytes: a few identifiers, words, and what all rows have.
fn row(number: u64) -> Vec<u8> {
    const WORDS: [&str; 16] = [
        "page",
        "of",
        "the",
        "compressed",
        "time",
        "people",
        "river",
        "company",
        "number",
        "small",
        "between",
        "system",
        "against",
        "music",
        "question",
        "market",
    ];
    const FLAGS: &str = "&exp=0&sample=none&cache=hit&retry=0&charset=utf-8&lang=zh&module=frontend&region=north&cluster=bj01&status=200&spider=no";
    let mut state = number;
    let mut random = move || {
        state = mixed(state);
        state
    };
    let bytes = 500 + (random() % 185) as usize;
    let mut text = format!(
        "request=GET&path=/item/{}.html&user={:016x}{:016x}&query=",
        random() % 1_000_000,
        random(),
        random()
    );
    for _ in 0..20 {
        text.push_str(WORDS[(random() % 16) as usize]);
        text.push('+');
    }
    while text.len() < bytes {
        text.push_str(FLAGS);
    }
    text.truncate(bytes);
    let mut row = ((random() % 1_000) as u32).to_be_bytes().to_vec();
    row.extend_from_slice(&((random() % 10) as u32).to_be_bytes());
    row.extend_from_slice(&((1_377_000_000 + random() % 1_000_000) as u32).to_be_bytes());
    row.extend_from_slice(text.as_bytes());
    row
}
