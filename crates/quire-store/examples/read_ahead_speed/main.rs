//! What read-ahead is worth: a scan on devices that are modelled, and on a file without the cache of the system.
//! `cargo run --release -p quire-store --example read_ahead_speed -- [FILE [MEGABYTES]]`.
//! FILE must not exist and is removed; without it there are the modelled devices only.
//!
//! With `requests FILE [MEGABYTES [ROUNDS]]` the reads of a file by threads are measured beside those by io_uring: see `requests.rs`.

#[cfg(target_os = "linux")]
mod reading_threads;
#[cfg(target_os = "linux")]
mod request_queue;
#[cfg(target_os = "linux")]
mod requests;
#[cfg(target_os = "linux")]
mod uring;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use quire_store::disk::{DeviceProfile, ThrottledDisk};
use quire_store::{
    DirectFileDisk, Disk, MemDisk, OpenMode, PageId, PageKind, ReadAheadStatistics, Volume,
    VolumeOptions,
};

/// A segment of a column.
const PAGE_BYTES: usize = 120 << 10;

/// Pages that are asked for together, as those of a row group are.
const GROUP_PAGES: usize = 8;

/// What a scan took.
struct ScanTimes {
    total: Duration,
    statistics: ReadAheadStatistics,
}

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args_os()
        .nth(1)
        .is_some_and(|it| it == "requests")
    {
        return compare_requests();
    }
    let path = std::env::args_os().nth(1).map(PathBuf::from);
    let megabytes = std::env::args()
        .nth(2)
        .map_or(Ok(64), |text| text.parse::<usize>())?;
    let memory = Arc::new(MemDisk::new());
    let pages = write(memory.clone(), 24 << 20)?;
    for profile in [
        DeviceProfile::DISK_7200_RPM,
        DeviceProfile::RAID_4,
        DeviceProfile::RAID_12,
        DeviceProfile::SATA_SSD,
        DeviceProfile::NVME_SSD,
    ] {
        let open = || {
            let disk = ThrottledDisk::new(memory.clone(), profile);
            Ok::<Arc<dyn Disk>, Box<dyn Error>>(Arc::new(disk))
        };
        let rate = profile.read_bytes_per_second;
        compare(profile.name, &open, &pages, Some(rate))?;
    }
    let Some(path) = path else { return Ok(()) };
    if path.exists() {
        return Err(format!("{} exists", path.display()).into());
    }
    let result = measure_file(&path, megabytes << 20);
    std::fs::remove_file(&path)?;
    result
}

#[cfg(target_os = "linux")]
fn compare_requests() -> Result<(), Box<dyn Error>> {
    let number = |index, default| {
        let text = std::env::args().nth(index);
        text.map_or(Ok(default), |text| text.parse::<usize>())
    };
    let path = std::env::args_os().nth(2).map(PathBuf::from);
    let path = path.ok_or("requests needs the path of a file that it may write")?;
    requests::compare_requests(&path, number(3, 1024)? << 20, number(4, 3)?)
}

#[cfg(not(target_os = "linux"))]
fn compare_requests() -> Result<(), Box<dyn Error>> {
    Err("only Linux has io_uring".into())
}

fn measure_file(path: &Path, bytes: usize) -> Result<(), Box<dyn Error>> {
    let pages = write(Arc::new(DirectFileDisk::open_or_create(path)?), bytes)?;
    let open = || {
        let disk = DirectFileDisk::open(path, OpenMode::ReadOnly)?;
        Ok::<Arc<dyn Disk>, Box<dyn Error>>(Arc::new(disk))
    };
    compare("file, direct I/O", &open, &pages, None)
}

fn write(disk: Arc<dyn Disk>, bytes: usize) -> Result<Vec<PageId>, Box<dyn Error>> {
    let volume = Volume::open_or_create(disk, VolumeOptions::default())?;
    let batch = volume.begin()?;
    let payload: Vec<u8> = (0..PAGE_BYTES).map(|at| (at * at / 7) as u8).collect();
    let pages = (0..bytes / PAGE_BYTES).map(|_| batch.write(PageKind::Segment, &payload));
    let pages = pages.collect::<Result<Vec<_>, _>>()?;
    batch.commit()?;
    volume.close()?;
    Ok(pages)
}

/// The scan without and with read-ahead, with no work and with as much work as the scan without it takes in all.
fn compare(
    name: &str,
    open: &dyn Fn() -> Result<Arc<dyn Disk>, Box<dyn Error>>,
    pages: &[PageId],
    bytes_per_second: Option<u64>,
) -> Result<(), Box<dyn Error>> {
    let megabytes = (pages.len() * PAGE_BYTES) as f64 / 1e6;
    let alone = scan(open()?, pages, false, Duration::ZERO)?;
    let work = alone.total / pages.len() as u32;
    for (ahead, work) in [
        (false, Duration::ZERO),
        (true, Duration::ZERO),
        (false, work),
        (true, work),
    ] {
        let times = scan(open()?, pages, ahead, work)?;
        let rate = megabytes / times.total.as_secs_f64();
        let share = bytes_per_second.map_or(String::new(), |most| {
            format!(", {:.0} % of the bandwidth", rate * 1e8 / most as f64)
        });
        println!(
            "{name}, read-ahead {}, work {:.0} ms: {:.0} ms, {rate:.0} MB/s{share}; {} requests ahead, waited {:.0} ms",
            if ahead { "on" } else { "off" },
            work.as_secs_f64() * 1e3 * pages.len() as f64,
            times.total.as_secs_f64() * 1e3,
            times.statistics.requests,
            times.statistics.wait.as_secs_f64() * 1e3,
        );
    }
    Ok(())
}

/// Reads all pages in their order and works on each for a while.
fn scan(
    disk: Arc<dyn Disk>,
    pages: &[PageId],
    is_ahead: bool,
    work: Duration,
) -> Result<ScanTimes, Box<dyn Error>> {
    let options = VolumeOptions {
        cache_bytes: 128 << 20,
        ..VolumeOptions::default()
    };
    let volume = Volume::open_with(disk, OpenMode::ReadOnly, options)?;
    let scan = volume.pin().read_ahead();
    let start = Instant::now();
    let mut asked = 0;
    for (number, page) in pages.iter().enumerate() {
        if is_ahead && number.is_multiple_of(GROUP_PAGES) {
            asked = asked.max(number);
            asked += scan.request(&pages[asked..]).pages;
        }
        scan.read(*page)?;
        let read = Instant::now();
        while read.elapsed() < work {
            std::hint::spin_loop();
        }
    }
    Ok(ScanTimes {
        total: start.elapsed(),
        statistics: scan.statistics(),
    })
}
