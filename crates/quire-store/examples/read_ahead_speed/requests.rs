//! Threads beside io_uring: the same reads of one file by both.
//!
//! Each case says how many reads of which length are in flight, in which order, through the cache of the system, which is emptied
//! before, or around it. Each is measured for a quarter of a second, by both in turn, in several rounds; the medians are printed.

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::fcntl::{OFlag, PosixFadviseAdvice, posix_fadvise};
use nix::time::{ClockId, clock_gettime};

use super::reading_threads::ReadingThreads;
use super::request_queue::RequestQueue;
use super::uring::UringQueue;

const REQUEST_BYTES: [usize; 3] = [4 << 10, 128 << 10, 2 << 20];
const IN_FLIGHT: [usize; 5] = [1, 2, 4, 8, 16];
const CASE_TIME: Duration = Duration::from_millis(250);

/// What the file is written in.
const WRITTEN_BYTES: usize = 2 << 20;

#[derive(Clone, Copy)]
struct RequestCase {
    is_direct: bool,
    is_scattered: bool,
    request_bytes: usize,
    in_flight: usize,
}

#[derive(Clone, Copy)]
enum RequestMethod {
    Threads,
    Uring,
}

/// What one measurement of a case came to.
#[derive(Clone, Copy)]
struct RequestRates {
    bytes_per_second: f64,
    requests_per_second: f64,
    processor_us_per_request: f64,
}

/// Measures all cases on a new file, which is removed, and prints them as a table.
pub fn compare_requests(path: &Path, bytes: usize, rounds: usize) -> Result<(), Box<dyn Error>> {
    if path.exists() {
        return Err(format!("{} exists", path.display()).into());
    }
    let bytes = (bytes / WRITTEN_BYTES).max(1) * WRITTEN_BYTES;
    let result = write_file(path, bytes).and_then(|()| measure_cases(path, bytes as u64, rounds));
    std::fs::remove_file(path)?;
    result
}

fn write_file(path: &Path, bytes: usize) -> Result<(), Box<dyn Error>> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let mut seed = 0_u64;
    let mut piece = vec![0; WRITTEN_BYTES];
    for _ in 0..bytes / WRITTEN_BYTES {
        // SplitMix64: nothing on the way to the device makes this smaller.
        for word in piece.chunks_exact_mut(8) {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word.copy_from_slice(&(mixed ^ (mixed >> 31)).to_le_bytes());
        }
        file.write_all(&piece)?;
    }
    Ok(file.sync_all()?)
}

fn measure_cases(path: &Path, file_bytes: u64, rounds: usize) -> Result<(), Box<dyn Error>> {
    let mut methods = vec![RequestMethod::Threads, RequestMethod::Uring];
    if let Err(error) = UringQueue::new(open(path, false)?, 1, 4096) {
        println!("The system refuses io_uring: {error}. Threads alone are measured.");
        methods.truncate(1);
    }
    let cases = all_cases();
    let mut rates: Vec<Vec<Vec<RequestRates>>> =
        vec![vec![Vec::with_capacity(rounds); methods.len()]; cases.len()];
    for _ in 0..rounds.max(1) {
        for (case, rates) in cases.iter().zip(&mut rates) {
            for (method, rates) in methods.iter().zip(rates) {
                rates.push(case.measure(*method, path, file_bytes)?);
            }
        }
    }
    println!(
        "| file | order | KiB | in flight | threads: MB/s | requests/s | processor, us/request | io_uring: MB/s | requests/s | processor, us/request |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (case, rates) in cases.iter().zip(&rates) {
        let columns = rates.iter().map(|rounds| RequestRates::median(rounds));
        let columns: Vec<String> = columns.map(|one| one.columns()).collect();
        println!("| {} | {} |", case.name(), columns.join(" | "));
    }
    if methods.len() > 1 {
        print_ratios(&cases, &rates);
    }
    Ok(())
}

fn all_cases() -> Vec<RequestCase> {
    let mut cases = Vec::new();
    for (is_direct, is_scattered) in [(false, false), (false, true), (true, false), (true, true)] {
        for request_bytes in REQUEST_BYTES {
            for in_flight in IN_FLIGHT {
                cases.push(RequestCase {
                    is_direct,
                    is_scattered,
                    request_bytes,
                    in_flight,
                });
            }
        }
    }
    cases
}

/// For each length of the reads, the geometric means of io_uring over threads.
fn print_ratios(cases: &[RequestCase], rates: &[Vec<Vec<RequestRates>>]) {
    for request_bytes in REQUEST_BYTES {
        let mut logarithms = (0.0, 0.0, 0.0);
        for (case, rates) in cases.iter().zip(rates) {
            if let [threads, uring] = rates.as_slice()
                && case.request_bytes == request_bytes
            {
                let (threads, uring) = (RequestRates::median(threads), RequestRates::median(uring));
                logarithms.0 += (uring.bytes_per_second / threads.bytes_per_second).ln();
                let processor = uring.processor_us_per_request / threads.processor_us_per_request;
                logarithms.1 += processor.ln();
                logarithms.2 += 1.0;
            }
        }
        println!(
            "{} KiB: io_uring has {:.2} times the bytes per second and {:.2} times the processor time per request (geometric means)",
            request_bytes >> 10,
            (logarithms.0 / logarithms.2).exp(),
            (logarithms.1 / logarithms.2).exp(),
        );
    }
}

impl RequestCase {
    fn name(&self) -> String {
        format!(
            "{} | {} | {} | {}",
            if self.is_direct { "direct" } else { "buffered" },
            if self.is_scattered {
                "scattered"
            } else {
                "sequential"
            },
            self.request_bytes >> 10,
            self.in_flight,
        )
    }

    fn measure(
        &self,
        method: RequestMethod,
        path: &Path,
        file_bytes: u64,
    ) -> Result<RequestRates, Box<dyn Error>> {
        let file = open(path, self.is_direct)?;
        posix_fadvise(&*file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?;
        let (slots, bytes) = (self.in_flight, self.request_bytes);
        Ok(match method {
            RequestMethod::Threads => {
                self.run(&mut ReadingThreads::new(file, slots, bytes)?, file_bytes)
            }
            RequestMethod::Uring => self.run(&mut UringQueue::new(file, slots, bytes)?, file_bytes),
        }?)
    }

    /// Keeps so many reads in flight until the time is over or all of the file has been read.
    fn run(&self, queue: &mut impl RequestQueue, file_bytes: u64) -> io::Result<RequestRates> {
        let mut offsets = self.offsets(file_bytes);
        let (mut requests, mut bytes, mut in_flight) = (0_u64, 0_u64, 0);
        let (processor, start) = (processor_time()?, Instant::now());
        for (slot, offset) in (0..self.in_flight).zip(offsets.by_ref()) {
            queue.begin(slot, offset)?;
            in_flight += 1;
        }
        while in_flight > 0 {
            let (slot, read_bytes) = queue.next_ended()?;
            requests += 1;
            bytes += read_bytes as u64;
            let is_over = start.elapsed() >= CASE_TIME;
            match offsets.next().filter(|_| !is_over) {
                Some(offset) => queue.begin(slot, offset)?,
                None => in_flight -= 1,
            }
        }
        let (seconds, processor) = (
            start.elapsed().as_secs_f64(),
            processor_time()?.saturating_sub(processor),
        );
        Ok(RequestRates {
            bytes_per_second: bytes as f64 / seconds,
            requests_per_second: requests as f64 / seconds,
            processor_us_per_request: processor.as_secs_f64() * 1e6 / requests as f64,
        })
    }

    /// Where the reads begin, each once. Scattered ones follow each other in steps of the golden section of the file.
    fn offsets(&self, file_bytes: u64) -> impl Iterator<Item = u64> + use<> {
        let request_bytes = self.request_bytes as u64;
        let count = (file_bytes / request_bytes).max(1);
        let mut step = 1;
        if self.is_scattered {
            step = (count as f64 * 0.618).max(1.0) as u64;
            while common_divisor(step, count) > 1 {
                step += 1;
            }
        }
        (0..count).map(move |number| number * step % count * request_bytes)
    }
}

fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 {
        one
    } else {
        common_divisor(other, one % other)
    }
}

impl RequestRates {
    /// Of each rate the median of the rounds.
    fn median(rounds: &[Self]) -> Self {
        let median = |rate: fn(&Self) -> f64| {
            let mut rates: Vec<f64> = rounds.iter().map(rate).collect();
            rates.sort_by(f64::total_cmp);
            rates.get(rates.len() / 2).copied().unwrap_or_default()
        };
        Self {
            bytes_per_second: median(|one| one.bytes_per_second),
            requests_per_second: median(|one| one.requests_per_second),
            processor_us_per_request: median(|one| one.processor_us_per_request),
        }
    }

    fn columns(&self) -> String {
        format!(
            "{:.0} | {:.0} | {:.1}",
            self.bytes_per_second / 1e6,
            self.requests_per_second,
            self.processor_us_per_request
        )
    }
}

fn open(path: &Path, is_direct: bool) -> io::Result<Arc<File>> {
    let mut options = OpenOptions::new();
    options.read(true);
    if is_direct {
        options.custom_flags(OFlag::O_DIRECT.bits());
    }
    options.open(path).map(Arc::new)
}

/// Of all threads of this process, those of the system that work for its ring included.
fn processor_time() -> io::Result<Duration> {
    Ok(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?.into())
}
