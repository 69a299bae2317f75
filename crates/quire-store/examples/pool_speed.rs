//! How fast a pool gives pages: `cargo run --release -p quire-store --example pool_speed -- FILE [MEGABYTES]`. The file must
//! not exist and is removed. Pages of 16 KiB whose entries are half text and half numbers; best of several rounds.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quire_codec::block::BlockCodecId;
use quire_format::row_page::{PAGE_BYTES_DEFAULT, PageOp, PageSetup, RowPageMut};
use quire_store::pool::{PageCodec, PageFrame, Pool, PoolOptions};
use quire_store::{Durability, FileDisk, PageId, Volume, VolumeOptions};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const ROUNDS: usize = 7;

fn main() -> Result<(), Failure> {
    let path = std::env::args_os()
        .nth(1)
        .map(PathBuf::from)
        .ok_or("which file?")?;
    let megabytes = std::env::args()
        .nth(2)
        .map_or(Ok(64), |text| text.parse::<usize>())?;
    if path.exists() {
        return Err(format!("{} exists", path.display()).into());
    }
    for id in [
        BlockCodecId::None,
        BlockCodecId::Lz4,
        BlockCodecId::Lz4Hc,
        BlockCodecId::Zlib,
        BlockCodecId::Zstd,
    ] {
        let result = measure(&path, megabytes << 20, PageCodec::new(id, None)?);
        std::fs::remove_file(&path)?;
        result?;
    }
    Ok(())
}

fn measure(path: &PathBuf, total_bytes: usize, codec: PageCodec) -> Result<(), Failure> {
    let options = VolumeOptions {
        cache_bytes: 2 * total_bytes,
        ..VolumeOptions::default()
    };
    let volume = Volume::open_or_create(Arc::new(FileDisk::open_or_create(path)?), options)?;
    let everything = 4 * total_bytes;
    let pool = pool(&volume, everything);
    let mut pages = Vec::new();
    let start = Instant::now();
    for number in 0..total_bytes / PAGE_BYTES_DEFAULT {
        pages.push(pool.add(page(number as u64)?, codec)?.page());
    }
    println!("{}: made {:.0} MB/s", codec.id(), rate(total_bytes, start));
    let start = Instant::now();
    let (flush, ()) = pool.prepare_flush(|| ())?;
    let image_bytes = flush.image_bytes();
    println!(
        "  images {:.0} MB/s, {:.1} % of the pages",
        rate(total_bytes, start),
        image_bytes as f64 / total_bytes as f64 * 100.0
    );
    flush.commit(volume.begin()?, Durability::Synced)?;
    for threads in [1, 8] {
        let ns = best(|| get_all(&pool, &pages, codec, threads, 20))?;
        println!(
            "  {threads} thread(s): hot get {ns:.0} ns, of which {:.0} ns reading a key",
            best(|| read_all(&pool, &pages, codec))?
        );
        let ns = best(|| {
            // Frames have a sixteenth of a budget that is so small, images the rest.
            let warm = self::pool(&volume, everything);
            get_all(&warm, &pages, codec, threads, 1)
        })?;
        println!("  {threads} thread(s): warm get {:.1} us", ns / 1e3);
    }
    apply_all(&pool, &pages, codec)?;
    drop(pool);
    misses(&volume, &pages, codec)
}

fn pool(volume: &Volume, budget_bytes: usize) -> Pool {
    let options = PoolOptions {
        budget_bytes,
        ..PoolOptions::default()
    };
    Pool::new(volume, options)
}

/// Reads pages in an order that no cache foresees, with a budget for hardly any.
fn misses(volume: &Volume, pages: &[PageId], codec: PageCodec) -> Result<(), Failure> {
    for threads in [1, 8] {
        let small = pool(volume, 16 * PAGE_BYTES_DEFAULT);
        let ns = best(|| get_all(&small, pages, codec, threads, 1))?;
        let stats = small.stats();
        println!(
            "  {threads} thread(s): miss {:.1} us, of which reading {:.1}, decoding {:.1}",
            ns / 1e3,
            stats.read_ns as f64 / 1e3,
            stats.decode_ns as f64 / 1e3
        );
    }
    Ok(())
}

fn best(mut round: impl FnMut() -> Result<f64, Failure>) -> Result<f64, Failure> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        best = best.min(round()?);
    }
    Ok(best)
}

/// Nanoseconds of a get: of elapsed time, with all threads working.
fn get_all(
    pool: &Pool,
    pages: &[PageId],
    codec: PageCodec,
    threads: usize,
    repeats: usize,
) -> Result<f64, Failure> {
    let start = Instant::now();
    std::thread::scope(|scope| {
        let work = |thread: usize| {
            for _ in 0..repeats {
                for at in (thread..pages.len()).step_by(threads) {
                    // 8,191 is prime and so visits every page.
                    pool.get(pages[at * 8_191 % pages.len()], codec)?;
                }
            }
            Ok::<(), Failure>(())
        };
        let workers: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || work(thread)))
            .collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().map_err(|_| "a thread panicked")?)
    })?;
    Ok(per_item(start.elapsed(), pages.len() * repeats))
}

fn read_all(pool: &Pool, pages: &[PageId], codec: PageCodec) -> Result<f64, Failure> {
    let frames: Vec<Arc<PageFrame>> = pages
        .iter()
        .map(|page| pool.get(*page, codec))
        .collect::<Result<_, _>>()?;
    let start = Instant::now();
    for frame in &frames {
        frame.read(|page| page.get(b"00000100").map(|found| found.is_some()))??;
    }
    Ok(per_item(start.elapsed(), frames.len()))
}

fn apply_all(pool: &Pool, pages: &[PageId], codec: PageCodec) -> Result<(), Failure> {
    let before = pool.stats();
    let start = Instant::now();
    for round in 0..100_u64 {
        for page in pages {
            let (key, value) = (format!("{:08}", round), format!("changed {round}"));
            let op = PageOp::Put {
                key: key.as_bytes(),
                value: value.as_bytes(),
                overflow: false,
            };
            pool.get(*page, codec)?.apply(&op, round)?;
        }
    }
    let after = pool.stats();
    let foreground = after.foreground_compressions - before.foreground_compressions;
    let background = after.background_compressions - before.background_compressions;
    println!(
        "  update {:.0} ns; compressions: {foreground} foreground, {background} background",
        per_item(start.elapsed(), 100 * pages.len())
    );
    Ok(())
}

fn page(seed: u64) -> Result<Box<[u8]>, Failure> {
    let mut bytes = vec![0; PAGE_BYTES_DEFAULT].into_boxed_slice();
    let mut page = RowPageMut::create(&mut bytes, &PageSetup::default())?;
    for number in 0..120_u64 {
        let mixed = (seed * 1_000 + number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut value =
            format!("the quick brown fox {} jumps over {}", mixed % 100, number).into_bytes();
        value.extend_from_slice(&mixed.to_le_bytes());
        value.extend_from_slice(&mixed.rotate_left(17).wrapping_mul(mixed | 1).to_le_bytes());
        page.insert(format!("{number:08}").as_bytes(), &value, false)?;
    }
    Ok(bytes)
}

fn rate(bytes: usize, start: Instant) -> f64 {
    bytes as f64 / 1e6 / start.elapsed().as_secs_f64()
}

fn per_item(duration: Duration, count: usize) -> f64 {
    duration.as_nanos() as f64 / count as f64
}
