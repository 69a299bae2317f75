//! What a transaction costs beside the bare tree: `cargo run --release -p quire-kv --example transaction_speed [FILE]`.
//! Nanoseconds of CPU time per operation of one thread, the best of some rounds; and durable commits per second of 8
//! threads on a new file, beside as many appends of 4 KiB to another file, each synced by itself.

use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use quire_kv::btree::{BTree, Direction, TreeBuilder, TreeOptions};
use quire_kv::mvcc::{
    Isolation, LockWait, Mvcc, MvccOptions, RowLockMode, Synchronous, TableLockMode,
    TransactionOptions, TreeId, TreeSpec,
};
use quire_store::log::{LogOptions, VolumeLog};
use quire_store::pool::{PageCodec, Pool, PoolOptions};
use quire_store::{FileDisk, Volume, VolumeOptions};

const ENTRIES: u64 = 100_000;
const VALUE: [u8; 60] = [7; 60];
const ROUNDS: usize = 7;
const TREE: TreeId = TreeId::new(1);

type Failure = Box<dyn std::error::Error + Send + Sync>;

struct Setup {
    volume: Volume,
    pool: Pool,
    mvcc: Mvcc,
    bare: BTree,
}

fn main() -> Result<(), Failure> {
    let path = std::env::args_os().nth(1);
    let path = path.map_or_else(|| PathBuf::from("transaction_speed.quire"), PathBuf::from);
    let setup = build(&path)?;
    measure_reads(&setup)?;
    measure_locks(&setup)?;
    measure_writes(&setup)?;
    measure_durable(&setup, &path)?;
    drop(setup);
    std::fs::remove_file(&path)?;
    Ok(())
}

/// Spread over all keys, each once.
fn key(number: u64) -> [u8; 8] {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % ENTRIES).to_be_bytes()
}

fn build(path: &Path) -> Result<Setup, Failure> {
    let disk = Arc::new(FileDisk::open_or_create(path)?);
    let volume = Volume::create(disk, VolumeOptions::default())?;
    let options = PoolOptions {
        budget_bytes: 1 << 30,
        ..PoolOptions::default()
    };
    let pool = Pool::new(&volume, options);
    let log = VolumeLog::open(&volume, LogOptions::default())?;
    let tree = || -> Result<BTree, Failure> {
        let mut builder = TreeBuilder::new(&pool, PageCodec::NONE, TreeOptions::default(), 0)?;
        for number in 0..ENTRIES {
            builder.push(&number.to_be_bytes(), &VALUE, &pool.begin_change())?;
        }
        Ok(builder.finish(&pool.begin_change())?)
    };
    let (bare, tree) = (tree()?, tree()?);
    let mvcc = Mvcc::open(
        &volume,
        &pool,
        &log,
        &[] as &[TreeSpec],
        MvccOptions::default(),
    )?;
    mvcc.add_built_tree(TREE, tree)?;
    mvcc.checkpoint()?;
    Ok(Setup {
        volume,
        pool,
        mvcc,
        bare,
    })
}

/// CPU time of the main thread in nanoseconds.
fn cpu_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let first = stat
        .split(' ')
        .next()
        .and_then(|number| number.parse().ok());
    first.unwrap_or(0)
}

/// The best of some rounds, in nanoseconds of this thread's CPU time per operation.
fn best(
    what: &str,
    operations: u64,
    mut run: impl FnMut(u64) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut best = f64::MAX;
    for round in 0..ROUNDS as u64 {
        let start = cpu_ns();
        for number in 0..operations {
            run(round * operations + number)?;
        }
        best = best.min((cpu_ns() - start) as f64 / operations as f64);
    }
    println!("{what:52} {best:8.0} ns");
    Ok(())
}

fn measure_reads(setup: &Setup) -> Result<(), Failure> {
    let Setup { mvcc, bare, .. } = setup;
    let sum = |value: &[u8]| {
        black_box(value[0]);
    };
    best("read: bare tree", 200_000, |number| {
        bare.get(&key(number), sum)?;
        Ok(())
    })?;
    best("read: auto-commit", 200_000, |number| {
        mvcc.get(TREE, &key(number), sum)?;
        Ok(())
    })?;
    let view = mvcc.view();
    best("read: view that exists", 200_000, |number| {
        view.get(TREE, &key(number), sum)?;
        Ok(())
    })?;
    best("read: transaction of one statement", 200_000, |number| {
        let mut transaction = mvcc.begin(TransactionOptions::default());
        transaction.begin_statement().get(TREE, &key(number), sum)?;
        transaction.commit()?;
        Ok(())
    })?;
    best("scan of 100 entries: bare tree", 10_000, |number| {
        let low = key(number);
        let mut cursor = bare.cursor(&low, &[], Direction::Forward);
        for _ in 0..100 {
            black_box(cursor.next_entry()?);
        }
        Ok(())
    })?;
    best("scan of 100 entries: view", 10_000, |number| {
        let mut scan = view.scan(TREE, &key(number), &[], Direction::Forward)?;
        for _ in 0..100 {
            black_box(scan.next_entry()?);
        }
        Ok(())
    })
}

fn measure_locks(setup: &Setup) -> Result<(), Failure> {
    let mut transaction = setup.mvcc.begin(TransactionOptions::default());
    best("lock and unlock of a row", 100_000, |number| {
        let savepoint = transaction.savepoint();
        transaction.lock_row(TREE, &key(number), RowLockMode::Exclusive, LockWait::Wait)?;
        transaction.rollback_to(savepoint);
        transaction.release(savepoint);
        Ok(())
    })?;
    best("lock and unlock of a table", 100_000, |number| {
        let savepoint = transaction.savepoint();
        transaction.lock_table(number % 100, TableLockMode::RowExclusive, LockWait::Wait)?;
        transaction.rollback_to(savepoint);
        transaction.release(savepoint);
        Ok(())
    })
}

fn measure_writes(setup: &Setup) -> Result<(), Failure> {
    let Setup {
        mvcc, bare, pool, ..
    } = setup;
    best("update: bare tree", 50_000, |number| {
        bare.put(&key(number), &VALUE, 1, &pool.begin_change())?;
        Ok(())
    })?;
    for (name, isolation, synchronous) in [
        (
            "normal, read committed",
            Isolation::ReadCommitted,
            Synchronous::Normal,
        ),
        (
            "off, read committed",
            Isolation::ReadCommitted,
            Synchronous::Off,
        ),
        (
            "off, serializable",
            Isolation::Serializable,
            Synchronous::Off,
        ),
    ] {
        let options = TransactionOptions {
            synchronous,
            isolation,
            ..TransactionOptions::default()
        };
        best(&format!("update and commit: {name}"), 50_000, |number| {
            let mut transaction = mvcc.begin(options.clone());
            transaction.put(TREE, &key(number), &VALUE)?;
            transaction.commit()?;
            Ok(())
        })?;
    }
    let options = TransactionOptions {
        synchronous: Synchronous::Normal,
        ..TransactionOptions::default()
    };
    best("1000 updates and an unsynced commit", 50, |number| {
        let mut transaction = mvcc.begin(options.clone());
        for step in 0..1000 {
            transaction.put(TREE, &key(number * 1000 + step), &VALUE)?;
        }
        transaction.commit()?;
        Ok(())
    })
}

fn measure_durable(setup: &Setup, path: &Path) -> Result<(), Failure> {
    const THREADS: u64 = 8;
    const COMMITS: u64 = 500;
    let appended = path.with_extension("appended");
    let file = File::create(&appended)?;
    let start = Instant::now();
    for number in 0..COMMITS {
        file.write_all_at(&[7; 4096], number * 4096)?;
        file.sync_data()?;
    }
    let rate = COMMITS as f64 / start.elapsed().as_secs_f64();
    println!("{:52} {rate:8.0} a second", "appends of 4 KiB, each synced");
    std::fs::remove_file(appended)?;
    for threads in [1, THREADS] {
        let start = Instant::now();
        let results = std::thread::scope(|scope| {
            let commit = |thread: u64| {
                for number in 0..COMMITS {
                    let mut transaction = setup.mvcc.begin(TransactionOptions::default());
                    transaction.put(TREE, &key(thread * COMMITS + number), &VALUE)?;
                    transaction.commit()?;
                }
                Ok::<(), Failure>(())
            };
            let threads: Vec<_> = (0..threads)
                .map(|thread| scope.spawn(move || commit(thread)))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join())
                .collect::<Vec<_>>()
        });
        for result in results {
            result.map_err(|_| "a thread has panicked")??;
        }
        let rate = (threads * COMMITS) as f64 / start.elapsed().as_secs_f64();
        println!(
            "{:52} {rate:8.0} a second",
            format!("durable commits, {threads} threads")
        );
    }
    println!(
        "{:52} {:8}",
        "commits of the volume",
        setup.volume.commit_sequence()
    );
    Ok(())
}
