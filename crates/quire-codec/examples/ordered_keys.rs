//! How much shorter keys of strings get that compare as the strings do, and what that costs: one file per
//! column, one value per line.
//!
//! ```text
//! cargo run --release -p quire-codec --example ordered_keys -- FILE...
//! ```
//!
//! Columns of the report: symbols asked for; bytes of the table; bytes of all values by bytes of all keys, and the
//! same with the table; nanoseconds to encode and decode a value, and to find one in a sorted array of
//! all, of keys and of raw values; milliseconds to train. Trained on one value in as many as leave 1 MB. The best of 5
//! rounds, in time of the thread where the kernel tells it, so that other work on the machine counts little.

use quire_codec::ordered::OrderedCode;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

const SYMBOL_LIMITS: [usize; 5] = [0, 256, 1_024, 4_096, 16_384];
const SAMPLE_BYTES: usize = 1 << 20;
const ROUNDS: usize = 5;

/// Time this thread has run, where the kernel tells it.
fn ran() -> Option<Duration> {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = statistics.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// Time that `work` takes: of this thread, or else what passes.
fn time(work: impl FnOnce()) -> Duration {
    let (before, start) = (ran(), Instant::now());
    work();
    let passed = start.elapsed();
    let ran = before.zip(ran()).map(|(before, after)| after - before);
    ran.filter(|ran| !ran.is_zero()).unwrap_or(passed)
}

/// Nanoseconds for one of `count` pieces of `work`.
fn nanoseconds(count: usize, mut work: impl FnMut()) -> f64 {
    let rounds = (0..ROUNDS).map(|_| time(&mut work).as_nanos() as f64 / count as f64);
    rounds.fold(f64::INFINITY, f64::min)
}

/// Byte strings end to end.
#[derive(Default)]
struct Strings {
    data: Vec<u8>,
    ends: Vec<usize>,
}

impl Strings {
    fn get(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.data[start..self.ends[index]]
    }

    fn end(&mut self) {
        self.ends.push(self.data.len());
    }

    fn sorted(&self) -> Self {
        let mut all: Vec<&[u8]> = (0..self.ends.len()).map(|index| self.get(index)).collect();
        all.sort_unstable();
        let mut sorted = Self::default();
        for string in all {
            sorted.data.extend_from_slice(string);
            sorted.end();
        }
        sorted
    }

    /// Finds each value of `wanted` among the sorted.
    fn find_all(&self, wanted: &Self) {
        for index in 0..wanted.ends.len() {
            let string = wanted.get(index);
            let (mut low, mut high) = (0, self.ends.len());
            while low < high {
                let middle = usize::midpoint(low, high);
                if self.get(middle) < string {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            black_box(low);
        }
    }
}

fn measure(values: &Strings, limit: usize) -> Result<String, Box<dyn Error>> {
    let count = values.ends.len();
    let step = values.data.len().div_ceil(SAMPLE_BYTES).max(1);
    let sample = (0..count).step_by(step).map(|index| values.get(index));
    let mut code = OrderedCode::train([], 0);
    let train_ms = time(|| code = OrderedCode::train(sample, limit)).as_secs_f64() * 1e3;
    let table = code.to_bytes();

    let mut keys = Strings::default();
    let encode_ns = nanoseconds(count, || {
        keys = Strings::default();
        for index in 0..count {
            code.encode(values.get(index), &mut keys.data);
            keys.end();
        }
    });
    let mut decoded = Vec::with_capacity(values.data.len() + 64);
    let mut result = Ok(());
    let decode_ns = nanoseconds(count, || {
        decoded.clear();
        for index in 0..count {
            if let Err(corrupt) = code.decode(keys.get(index), &mut decoded) {
                result = Err(corrupt);
            }
        }
    });
    result?;
    if decoded != values.data {
        return Err("keys do not give the values back".into());
    }
    let sorted = keys.sorted();
    let find_ns = nanoseconds(count, || sorted.find_all(&keys));
    let (raw, coded) = (values.data.len() as f64, keys.data.len() as f64);
    Ok(format!(
        "{limit:>6} {:>7} {:>6.2} {:>6.2} {encode_ns:>8.1} {decode_ns:>8.1} {find_ns:>8.1} {train_ms:>8.1}",
        table.len(),
        raw / coded,
        raw / (coded + table.len() as f64),
    ))
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("symbols   table  ratio  +table   encode   decode     find    train");
    for path in std::env::args().skip(1) {
        let file = std::fs::read(&path)?;
        let mut values = Strings::default();
        for line in file
            .strip_suffix(b"\n")
            .unwrap_or(&file)
            .split(|byte| *byte == b'\n')
        {
            values.data.extend_from_slice(line);
            values.end();
        }
        let sorted = values.sorted();
        let find_ns = nanoseconds(values.ends.len(), || sorted.find_all(&values));
        println!(
            "{path}: {} values of {:.1} bytes; {find_ns:.1} ns to find one raw",
            values.ends.len(),
            values.data.len() as f64 / values.ends.len() as f64,
        );
        for limit in SYMBOL_LIMITS {
            println!("{}", measure(&values, limit)?);
        }
    }
    Ok(())
}
