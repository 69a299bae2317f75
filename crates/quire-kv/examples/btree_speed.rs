//! Nanoseconds per operation of a tree in memory, beside an ordered map of the standard library with the same entries:
//! `cargo run --release -p quire-kv --example btree_speed`. Each figure is the best of some rounds. With more threads it is the
//! time that passes divided by the operations of all of them; the map is then behind a lock for readers and writers.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use quire_kv::btree::{BTree, Direction, TreeBuilder, TreeOptions};
use quire_store::pool::{PageCodec, Pool, PoolOptions};
use quire_store::{MemDisk, Volume, VolumeOptions};

const ENTRIES: u64 = 1_000_000;
const VALUE_BYTES: usize = 60;
const OPERATIONS: u64 = 100_000;
const ROUNDS: usize = 5;

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Map = RwLock<BTreeMap<[u8; 8], Vec<u8>>>;

struct Twins {
    pool: Pool,
    tree: BTree,
    map: Map,
    lsn: AtomicU64,
}

fn main() -> Result<(), Failure> {
    let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default())?;
    let options = PoolOptions {
        budget_bytes: 1 << 30,
        ..PoolOptions::default()
    };
    let pool = Pool::new(&volume, options);
    let (tree, build_ns) = build(&pool)?;
    let twins = Twins {
        pool,
        tree,
        map: RwLock::new(
            (0..ENTRIES)
                .map(|number| (key(number), vec![7; VALUE_BYTES]))
                .collect(),
        ),
        lsn: AtomicU64::new(2),
    };
    let report = twins.tree.check();
    println!(
        "{ENTRIES} entries of 8 + {VALUE_BYTES} bytes, {} levels, {} leaves",
        report.height, report.leaf_count
    );
    println!("build from sorted entries: {build_ns:.0} ns an entry");
    println!(
        "{:34} {:>8} {:>8} {:>7}",
        "ns per operation, best round", "tree", "map", "ratio"
    );
    for threads in [1, 8] {
        measure(&twins, threads)?;
    }
    Ok(())
}

/// Spread over all keys, each once.
fn key(number: u64) -> [u8; 8] {
    number.wrapping_mul(3).to_be_bytes()
}

fn build(pool: &Pool) -> Result<(BTree, f64), Failure> {
    let mut builder = TreeBuilder::new(pool, PageCodec::NONE, TreeOptions::default(), 1)?;
    let start = Instant::now();
    for number in 0..ENTRIES {
        builder.push(&key(number), &[7; VALUE_BYTES], &pool.begin_change())?;
    }
    let tree = builder.finish(&pool.begin_change())?;
    Ok((tree, start.elapsed().as_nanos() as f64 / ENTRIES as f64))
}

fn measure(twins: &Twins, threads: u64) -> Result<(), Failure> {
    let row = |what: &str, tree: f64, map: f64| {
        let what = format!("{what}, {threads} thread(s)");
        println!("{what:34} {tree:>8.0} {map:>8.0} {:>7.2}", tree / map);
    };
    let tree = best(threads, |seed| get_tree(twins, seed))?;
    row(
        "get",
        tree,
        best(threads, |seed| get_map(&twins.map, seed))?,
    );
    let tree = best(threads, |seed| put_tree(twins, seed, 0))?;
    row(
        "replace",
        tree,
        best(threads, |seed| put_map(&twins.map, seed, 0))?,
    );
    let tree = best(threads, |seed| put_tree(twins, seed, 1))?;
    row(
        "insert or replace",
        tree,
        best(threads, |seed| put_map(&twins.map, seed, 1))?,
    );
    let tree = best(threads, |_| scan_tree(&twins.tree))?;
    row(
        "scan, shown in the page",
        tree,
        best(threads, |_| scan_map(&twins.map))?,
    );
    let tree = best(threads, |_| scan_copies(&twins.tree))?;
    row(
        "scan, copied",
        tree,
        best(threads, |_| scan_map(&twins.map))?,
    );
    Ok(())
}

/// Best time of a round, divided by the number of operations, which `run` returns.
fn best(threads: u64, run: impl Fn(u64) -> Result<u64, Failure> + Sync) -> Result<f64, Failure> {
    let mut best = f64::INFINITY;
    for round in 0..ROUNDS as u64 {
        let start = Instant::now();
        let counts: Vec<_> = std::thread::scope(|scope| {
            let run = &run;
            let threads: Vec<_> = (0..threads)
                .map(|thread| scope.spawn(move || run(round << 32 | thread)))
                .collect();
            threads.into_iter().map(|thread| thread.join()).collect()
        });
        let elapsed = start.elapsed().as_nanos() as f64;
        let mut total = 0;
        for count in counts {
            total += count.map_err(|_| "a thread panicked")??;
        }
        best = best.min(elapsed / total as f64);
    }
    Ok(best)
}

/// splitmix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

fn get_tree(twins: &Twins, mut seed: u64) -> Result<u64, Failure> {
    for _ in 0..OPERATIONS {
        let key = key(random(&mut seed) % ENTRIES);
        black_box(twins.tree.get(&key, |value| value[0])?);
    }
    Ok(OPERATIONS)
}

fn get_map(map: &Map, mut seed: u64) -> Result<u64, Failure> {
    for _ in 0..OPERATIONS {
        let key = key(random(&mut seed) % ENTRIES);
        let map = map.read().unwrap_or_else(PoisonError::into_inner);
        black_box(map.get(&key).map(|value| value[0]));
    }
    Ok(OPERATIONS)
}

fn put_tree(twins: &Twins, mut seed: u64, offset: u8) -> Result<u64, Failure> {
    for _ in 0..OPERATIONS {
        let mut key = key(random(&mut seed) % ENTRIES);
        key[7] = key[7].wrapping_add(offset);
        let lsn = twins.lsn.fetch_add(1, Ordering::Relaxed);
        let guard = twins.pool.begin_change();
        twins.tree.put(&key, &[offset; VALUE_BYTES], lsn, &guard)?;
    }
    Ok(OPERATIONS)
}

fn put_map(map: &Map, mut seed: u64, offset: u8) -> Result<u64, Failure> {
    for _ in 0..OPERATIONS {
        let mut key = key(random(&mut seed) % ENTRIES);
        key[7] = key[7].wrapping_add(offset);
        let mut map = map.write().unwrap_or_else(PoisonError::into_inner);
        map.insert(key, vec![offset; VALUE_BYTES]);
    }
    Ok(OPERATIONS)
}

fn scan_tree(tree: &BTree) -> Result<u64, Failure> {
    let mut cursor = tree.cursor(&[], &[], Direction::Forward);
    let mut count = 0;
    while let Some(seen) = cursor.next_leaf(|entries| {
        entries.fold(0, |seen, entry| {
            black_box(entry.map(|entry| entry.value.len()).unwrap_or(0));
            seen + 1
        })
    })? {
        count += seen;
    }
    Ok(count)
}

fn scan_copies(tree: &BTree) -> Result<u64, Failure> {
    let mut cursor = tree.cursor(&[], &[], Direction::Forward);
    let mut count = 0;
    while let Some((key, value)) = cursor.next_entry()? {
        black_box((key, value));
        count += 1;
    }
    Ok(count)
}

fn scan_map(map: &Map) -> Result<u64, Failure> {
    let map = map.read().unwrap_or_else(PoisonError::into_inner);
    let mut count = 0;
    for (key, value) in &*map {
        black_box((key, value));
        count += 1;
    }
    Ok(count)
}
