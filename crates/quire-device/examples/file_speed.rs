//! Speed of the files of a data set beside plain files in the same directory, measured in turns because machines are noisy.
//!
//! `cargo run --release -p quire-device --example file_speed -- DIRECTORY [MEGABYTES]`

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use quire_device::{
    DataSet, DataSetCodec, DataSetProperties, DataSetVolume, DeviceOptions, NewInode, ROOT_INODE,
    SynchronousWrites,
};
use quire_store::{FileDisk, Volume, VolumeOptions};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Time of each measurement of calls that are counted.
const PERIOD: Duration = Duration::from_secs(3);
/// The file that is overwritten.
const OVERWRITTEN_BYTES: u64 = 64 << 20;
const CREATES: usize = 20_000;

/// A file to be measured.
trait MeasuredFile: Sync {
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Failure>;
    fn read(&self, offset: u64, length: usize) -> Result<usize, Failure>;
    fn sync(&self) -> Result<(), Failure>;
}

struct SetFile {
    set: Arc<DataSet>,
    inode: u64,
}

impl MeasuredFile for SetFile {
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.set.write(self.inode, offset, bytes)?)
    }

    fn read(&self, offset: u64, length: usize) -> Result<usize, Failure> {
        Ok(self.set.read(self.inode, offset, length)?.len())
    }

    fn sync(&self) -> Result<(), Failure> {
        Ok(self.set.sync_file(self.inode)?)
    }
}

impl MeasuredFile for File {
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.write_all_at(bytes, offset)?)
    }

    fn read(&self, offset: u64, length: usize) -> Result<usize, Failure> {
        let mut bytes = vec![0; length];
        self.read_exact_at(&mut bytes, offset)?;
        Ok(bytes.len())
    }

    fn sync(&self) -> Result<(), Failure> {
        Ok(self.sync_data()?)
    }
}

/// SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// Rows of numbers and words: LZ4 halves them.
    fn rows(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(length + 64);
        while bytes.len() < length {
            let number = self.next();
            let row = format!("{:016x} account {:06} open\n", number, number % 1000);
            bytes.extend(row.as_bytes());
        }
        bytes.truncate(length);
        bytes
    }
}

fn properties(codec: &str, record_bytes: u32, synchronous: SynchronousWrites) -> DataSetProperties {
    DataSetProperties {
        compression: DataSetCodec::from_name(codec),
        record_bytes: Some(record_bytes),
        synchronous: Some(synchronous),
        ..DataSetProperties::default()
    }
}

/// Overwrites of 4 KiB, each synced, by `threads`: how many a second.
fn synced_writes(file: &dyn MeasuredFile, threads: u64) -> Result<f64, Failure> {
    let start = Instant::now();
    let work = |thread: u64| -> Result<u64, Failure> {
        let mut numbers = Numbers(thread);
        let page = numbers.rows(4096);
        let mut count = 0;
        while start.elapsed() < PERIOD {
            let offset = numbers.next() % (OVERWRITTEN_BYTES / 4096) * 4096;
            file.write(offset, &page)?;
            file.sync()?;
            count += 1;
        }
        Ok(count)
    };
    let counts: Result<Vec<u64>, Failure> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || work(thread)))
            .collect();
        workers
            .into_iter()
            .map(|worker| {
                worker
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    Ok(counts?.iter().sum::<u64>() as f64 / start.elapsed().as_secs_f64())
}

fn filled(file: &dyn MeasuredFile, bytes: u64) -> Result<f64, Failure> {
    let mut numbers = Numbers(7);
    let pieces: Vec<Vec<u8>> = (0..16).map(|_| numbers.rows(1 << 20)).collect();
    let start = Instant::now();
    for (index, offset) in (0..bytes).step_by(1 << 20).enumerate() {
        file.write(offset, &pieces[index % 16])?;
    }
    file.sync()?;
    Ok(bytes as f64 / 1e6 / start.elapsed().as_secs_f64())
}

fn sequential_reads(file: &dyn MeasuredFile, bytes: u64) -> Result<f64, Failure> {
    let start = Instant::now();
    for offset in (0..bytes).step_by(128 << 10) {
        file.read(offset, 128 << 10)?;
    }
    Ok(bytes as f64 / 1e6 / start.elapsed().as_secs_f64())
}

/// Reads of 16 KiB, how many a second.
fn random_reads(file: &dyn MeasuredFile, bytes: u64) -> Result<f64, Failure> {
    let mut numbers = Numbers(3);
    let start = Instant::now();
    let mut count = 0;
    while start.elapsed() < PERIOD {
        file.read((numbers.next() % (bytes >> 14)) << 14, 16 << 10)?;
        count += 1;
    }
    Ok(f64::from(count) / start.elapsed().as_secs_f64())
}

struct Bench<'a> {
    directory: &'a Path,
    sets: DataSetVolume,
    bytes: u64,
}

impl Bench<'_> {
    fn file(&self, name: &str, properties: DataSetProperties) -> Result<SetFile, Failure> {
        self.sets.create_set(name, properties)?;
        let set = self.sets.open_set(name)?;
        let inode = set.create(ROOT_INODE, b"file", &NewInode::file(0o644))?;
        Ok(SetFile { set, inode })
    }

    fn plain(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        options.open(self.directory.join("plain"))
    }

    fn show(&self, what: &str, unit: &str, set: f64, plain: f64) {
        println!(
            "| {what} | {set:.0} {unit} | {plain:.0} {unit} | {:.2} |",
            set / plain
        );
    }

    fn syncs(&self) -> Result<(), Failure> {
        let plain = self.plain()?;
        filled(&plain, OVERWRITTEN_BYTES)?;
        for (mode, name) in [
            (SynchronousWrites::Compressed, "compressed"),
            (SynchronousWrites::Logged, "logged"),
        ] {
            for record_bytes in [8 << 10, 128 << 10] {
                let set_name = format!("{name}-{record_bytes}");
                let file = self.file(&set_name, properties("lz4", record_bytes, mode))?;
                filled(&file, OVERWRITTEN_BYTES)?;
                for threads in [1, 4, 16] {
                    let base = synced_writes(&plain, threads)?;
                    let what = format!(
                        "4 KiB and fsync, {name}, records of {} KiB, {threads} threads",
                        record_bytes >> 10
                    );
                    self.show(&what, "/s", synced_writes(&file, threads)?, base);
                }
            }
        }
        Ok(())
    }

    fn streams(&self) -> Result<(), Failure> {
        for codec in ["off", "lz4", "zstd"] {
            let plain = self.plain()?;
            let base = filled(&plain, self.bytes)?;
            let set_name = format!("stream-{codec}");
            let how = properties(codec, 128 << 10, SynchronousWrites::Compressed);
            let file = self.file(&set_name, how)?;
            let found = filled(&file, self.bytes)?;
            self.show(&format!("sequential write, {codec}"), "MB/s", found, base);
            let base = sequential_reads(&plain, self.bytes)?;
            let found = sequential_reads(&file, self.bytes)?;
            self.show(&format!("sequential read, {codec}"), "MB/s", found, base);
            let base = random_reads(&plain, self.bytes)?;
            let found = random_reads(&file, self.bytes)?;
            self.show(&format!("16 KiB random reads, {codec}"), "/s", found, base);
            drop(file);
            self.sets.close_set(&set_name)?;
            self.sets.destroy_set(&set_name)?;
        }
        let how = properties("lz4", 16 << 10, SynchronousWrites::Compressed);
        let file = self.file("pages", how)?;
        filled(&file, self.bytes)?;
        let plain = self.plain()?;
        filled(&plain, self.bytes)?;
        let base = random_reads(&plain, self.bytes)?;
        let found = random_reads(&file, self.bytes)?;
        self.show(
            "16 KiB random reads, lz4, records of 16 KiB",
            "/s",
            found,
            base,
        );
        Ok(())
    }

    fn creates(&self) -> Result<(), Failure> {
        let directory = self.directory.join("plain files");
        fs::create_dir(&directory)?;
        let start = Instant::now();
        for number in 0..CREATES {
            File::create(directory.join(format!("file {number}")))?;
        }
        let base = CREATES as f64 / start.elapsed().as_secs_f64();
        fs::remove_dir_all(&directory)?;
        let file = self.file("creates", DataSetProperties::default())?;
        let start = Instant::now();
        for number in 0..CREATES {
            let name = format!("file {number}");
            file.set
                .create(ROOT_INODE, name.as_bytes(), &NewInode::file(0o644))?;
        }
        let found = CREATES as f64 / start.elapsed().as_secs_f64();
        self.show("creates", "/s", found, base);
        Ok(())
    }
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("name a directory")?;
    let directory = Path::new(&directory).join(format!("file-speed-{}", std::process::id()));
    let megabytes = arguments
        .next()
        .map_or(Ok(1024), |text| text.parse::<u64>())?;
    let only = arguments.next();
    fs::create_dir(&directory)?;
    let measured = measure(&directory, megabytes << 20, only.as_deref());
    fs::remove_dir_all(&directory)?;
    measured
}

fn measure(directory: &Path, bytes: u64, only: Option<&str>) -> Result<(), Failure> {
    let disk = FileDisk::open_or_create(directory.join("volume"))?;
    let volume = Volume::create(Arc::new(disk), VolumeOptions::default())?;
    let sets = DataSetVolume::create(volume, DeviceOptions::default())?;
    let bench = Bench {
        directory,
        sets,
        bytes,
    };
    println!("| what | data set | plain file | ratio |\n|---|---|---|---|");
    let is_wanted = |what: &str| only.is_none_or(|only| only == what);
    if is_wanted("syncs") {
        bench.syncs()?;
    }
    if is_wanted("streams") {
        bench.streams()?;
    }
    if is_wanted("creates") {
        bench.creates()?;
    }
    Ok(())
}
