//! How fast a volume writes and reads: `cargo run --release -p quire-store --example store_speed
//! -- FILE [MEGABYTES]`. The file must not exist and is removed.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use quire_store::{FileDisk, OpenMode, PageId, PageKind, Volume, VolumeOptions};

const PAGE_BYTES: usize = 128 << 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os()
        .nth(1)
        .map(PathBuf::from)
        .ok_or("which file?")?;
    let megabytes = std::env::args()
        .nth(2)
        .map_or(Ok(220), |text| text.parse::<usize>())?;
    if path.exists() {
        return Err(format!("{} exists", path.display()).into());
    }
    let result = measure(&path, megabytes << 20);
    std::fs::remove_file(&path)?;
    result
}

fn measure(path: &PathBuf, total_bytes: usize) -> Result<(), Box<dyn std::error::Error>> {
    let options = VolumeOptions {
        cache_bytes: 0,
        ..VolumeOptions::default()
    };
    let disk = Arc::new(FileDisk::open_or_create(path)?);
    let volume = Volume::open_or_create(disk, options.clone())?;
    let payload: Vec<u8> = (0..PAGE_BYTES).map(|at| (at * at / 7) as u8).collect();
    let start = Instant::now();
    let batch = volume.begin()?;
    let mut pages = Vec::new();
    for _ in 0..total_bytes / PAGE_BYTES {
        pages.push(batch.write(PageKind::Segment, &payload)?);
    }
    report("write, before the commit", total_bytes, start);
    batch.commit()?;
    report("write, committed and durable", total_bytes, start);
    let start = Instant::now();
    volume.close()?;
    println!("close: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    let start = Instant::now();
    let disk = Arc::new(FileDisk::open(path, OpenMode::ReadWrite)?);
    let volume = Volume::open_with(disk, OpenMode::ReadWrite, options)?;
    println!("open: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    for threads in [1, 2] {
        for _ in 0..2 {
            let start = Instant::now();
            read_all(&volume, &pages, threads)?;
            report(
                &format!("read with checksum, {threads} thread(s)"),
                total_bytes,
                start,
            );
        }
    }
    small_commits(&volume)
}

fn read_all(
    volume: &Volume,
    pages: &[PageId],
    threads: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let share = pages.len().div_ceil(threads);
    std::thread::scope(|scope| {
        let reads: Vec<_> = pages
            .chunks(share)
            .map(|pages| {
                scope.spawn(|| {
                    pages
                        .iter()
                        .try_for_each(|page| volume.read(*page).map(drop))
                })
            })
            .collect();
        for read in reads {
            read.join().map_err(|_| "a reader panicked")??;
        }
        Ok(())
    })
}

fn small_commits(volume: &Volume) -> Result<(), Box<dyn std::error::Error>> {
    const COMMITS: u32 = 200;
    let start = Instant::now();
    for at in 0..COMMITS {
        let batch = volume.begin()?;
        batch.write(PageKind::Table, &at.to_le_bytes())?;
        batch.commit()?;
    }
    println!(
        "small commit: {:.2} ms",
        start.elapsed().as_secs_f64() * 1e3 / f64::from(COMMITS)
    );
    Ok(())
}

fn report(what: &str, bytes: usize, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{what}: {:.0} ms, {:.2} GB/s",
        seconds * 1e3,
        bytes as f64 / seconds / 1e9
    );
}
