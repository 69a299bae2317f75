//! Images of any size against fixed sizes with compression failures, as InnoDB has them (paper 4, §III and §V-D).

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use quire_codec::block::BlockCodecId;
use quire_store::pool::PageTarget;

use crate::parts::{THREADS, file, remove_files, setup};
use crate::quire::{Quire, Setup};
use crate::rows::Random;
use crate::{Failure, Peer};

const ROWS: u64 = 200_000;
const SLOT_BYTES: [usize; 2] = [8 << 10, 4 << 10];

struct Policy {
    name: &'static str,
    target: Option<PageTarget>,
}

fn policies(slot_bytes: usize) -> [Policy; 5] {
    let fixed = |name, has_adaptive_padding, splits_in_advance| Policy {
        name,
        target: Some(PageTarget {
            slot_bytes,
            has_adaptive_padding,
            splits_in_advance,
        }),
    };
    [
        Policy {
            name: "any size",
            target: None,
        },
        fixed("fixed", false, false),
        fixed("padding", true, false),
        fixed("advance", false, true),
        fixed("both", true, true),
    ]
}

/// Rows in a random order, a row a transaction, by all threads. Returns rows a second.
fn insert_all(table: &Quire) -> Result<f64, Failure> {
    let start = Instant::now();
    let failure = Mutex::new(None);
    std::thread::scope(|scope| {
        for thread in 0..THREADS as u64 {
            let failure = &failure;
            scope.spawn(move || {
                let result = insert_some(table, thread);
                if let (Err(error), Ok(mut failure)) = (result, failure.lock()) {
                    *failure = Some(error);
                }
            });
        }
    });
    match failure.into_inner() {
        Ok(None) => Ok(ROWS as f64 / start.elapsed().as_secs_f64()),
        Ok(Some(error)) => Err(error),
        Err(_) => Err("a thread has panicked".into()),
    }
}

fn insert_some(table: &Quire, thread: u64) -> Result<(), Failure> {
    let mut worker = table.worker()?;
    for number in (thread..ROWS).step_by(THREADS) {
        let id = Random(number).next() >> 8;
        worker.begin(false)?;
        worker.insert(id as i64)?;
        worker.commit()?;
    }
    Ok(())
}

pub fn targets(folder: &Path) -> Result<(), Failure> {
    println!(
        "{ROWS} rows inserted in a random order, a row a transaction, {THREADS} threads, synchronous = normal"
    );
    println!(
        "codec   bytes policy     rows/s  compressions (background)  failed    splits: failed  advance  padding  live MB  file MB"
    );
    for codec in [BlockCodecId::Lz4Hc, BlockCodecId::Zlib, BlockCodecId::Zstd] {
        for slot_bytes in SLOT_BYTES {
            for policy in policies(slot_bytes) {
                if policy.target.is_some() || slot_bytes == SLOT_BYTES[0] {
                    measure(folder, codec, slot_bytes, &policy)?;
                }
            }
        }
    }
    Ok(())
}

fn measure(
    folder: &Path,
    codec: BlockCodecId,
    slot_bytes: usize,
    policy: &Policy,
) -> Result<(), Failure> {
    remove_files(folder)?;
    let setup = Setup {
        target: policy.target,
        ..setup(64 << 20, codec)?
    };
    let table = Quire::open(&file(folder, codec.name()), &setup)?;
    let rate = insert_all(&table)?;
    let stats = table.pool_stats();
    let live_bytes = table.live_bytes()?;
    let file_bytes = table.close()?;
    let compressions =
        stats.background_compressions + stats.foreground_compressions + stats.flush_compressions;
    let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
    println!(
        "{:7} {:5} {:9} {:>7.0} {:>13} ({:>4.1} %) {:>12} ({:>4.1} %) {:>8} {:>8} {:>8} {:>8.1} {:>8.1}",
        codec.name(),
        policy.target.map_or(0, |_| slot_bytes),
        policy.name,
        rate,
        compressions,
        percent(stats.background_compressions, compressions),
        stats.target_failures,
        percent(stats.target_failures, stats.target_compressions),
        stats.failure_splits,
        stats.advance_splits,
        stats.padding_bytes,
        live_bytes as f64 / 1e6,
        file_bytes as f64 / 1e6,
    );
    Ok(())
}
