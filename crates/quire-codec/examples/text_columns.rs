//! Sizes and speeds of the text codecs on columns of the user's own: one file per column, one value per
//! line.
//!
//! ```text
//! cargo run --release -p quire-codec --example text_columns -- [CODEC]... FILE...
//! ```
//!
//! `zstd-3 1M` compresses values and 4-byte lengths in pages of 1 MiB with zstd level 3, which is what a
//! Parquet file with zstd pages comes to. Speeds are in MB of text per second: for encoding of one core's time, where
//! the kernel tells it and so other work on the machine does not count; for decoding the sum
//! over all vectors of the fastest round of each. Sizes are in bytes.

use quire_codec::choose::SearchEffort;
use quire_codec::{BytesSlice, BytesVector, CodecId, ROWS_MAX, text, vector_count};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

const CODECS: [CodecId; 8] = [
    CodecId::Plain,
    CodecId::Dictionary,
    CodecId::Fsst,
    CodecId::Zstd,
    CodecId::Words,
    CodecId::Shape,
    CodecId::Phrases,
    CodecId::Pdict,
];

/// How long decoding is repeated, three times at least; of every vector the fastest round counts.
const DECODING: Duration = Duration::from_millis(300);

/// Values read one by one.
const VALUES_READ: usize = 300;

/// Time this thread has run, or else time that has passed.
struct Stopwatch {
    started: Instant,
    ran: Option<Duration>,
}

impl Stopwatch {
    fn start() -> Self {
        Self {
            started: Instant::now(),
            ran: Self::ran(),
        }
    }

    fn ran() -> Option<Duration> {
        let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let nanoseconds = statistics.split_whitespace().next()?.parse().ok()?;
        Some(Duration::from_nanos(nanoseconds))
    }

    fn seconds(&self) -> f64 {
        let passed = self.started.elapsed();
        let ran = self.ran.zip(Self::ran()).map(|(before, now)| now - before);
        ran.filter(|ran| !ran.is_zero())
            .unwrap_or(passed)
            .as_secs_f64()
    }
}

/// A column cut into segments of [`ROWS_MAX`] rows.
struct Column {
    offsets: Vec<u32>,
    data: Vec<u8>,
}

impl Column {
    fn read(path: &str) -> Result<Self, Box<dyn Error>> {
        let (mut data, mut offsets) = (Vec::new(), vec![0]);
        let file = std::fs::read(path)?;
        let lines = file.strip_suffix(b"\n").unwrap_or(&file);
        for line in lines.split(|byte| *byte == b'\n') {
            data.extend_from_slice(line);
            offsets.push(u32::try_from(data.len())?);
        }
        Ok(Self { offsets, data })
    }

    fn segments(&self) -> impl Iterator<Item = BytesSlice<'_>> {
        let all = BytesSlice {
            offsets: &self.offsets,
            data: &self.data,
        };
        (0..all.len())
            .step_by(ROWS_MAX)
            .map(move |start| all.slice(start..start + ROWS_MAX))
    }
}

/// Pages of about 1 MiB: lengths of four bytes, then the values.
fn zstd_pages(column: &Column) -> Result<usize, Box<dyn Error>> {
    let (mut lengths, mut values, mut total) = (Vec::new(), Vec::new(), 0);
    for value in column.segments().flat_map(|segment| segment.iter()) {
        lengths.extend_from_slice(&(value.len() as u32).to_le_bytes());
        values.extend_from_slice(value);
        if lengths.len() + values.len() >= 1 << 20 {
            lengths.append(&mut values);
            total += zstd::bulk::compress(&lengths, 3)?.len();
            lengths.clear();
        }
    }
    lengths.append(&mut values);
    Ok(total + zstd::bulk::compress(&lengths, 3)?.len())
}

/// Decodes all vectors, checks them, and lowers the time that each took to the least of all rounds.
fn decode(
    segment: &BytesSlice,
    codec: CodecId,
    payload: &Arc<[u8]>,
    least: &mut [f64],
) -> Result<(), Box<dyn Error>> {
    let rows = segment.len();
    let mut decoder = text::BytesDecoder::open(codec, payload.clone(), 0..payload.len(), rows)?;
    let mut out = BytesVector::new();
    let mut start = segment.offsets[0] as usize;
    for (vector, least) in least.iter_mut().enumerate() {
        out.clear();
        let started = Instant::now();
        decoder.decode_vector(vector, &mut out)?;
        *least = least.min(started.elapsed().as_secs_f64());
        let end = start + out.data.len();
        if segment.data[start..end] != out.data {
            return Err(format!("codec {codec} changed vector {vector}").into());
        }
        start = end;
    }
    Ok(())
}

/// Microseconds to read one value of the first segment, in no order.
fn one_value(
    column: &Column,
    codec: CodecId,
    payloads: &[Arc<[u8]>],
) -> Result<f64, Box<dyn Error>> {
    let (Some(segment), Some(payload)) = (column.segments().next(), payloads.first()) else {
        return Ok(0.0);
    };
    let bytes = 0..payload.len();
    let mut decoder = text::BytesDecoder::open(codec, Arc::clone(payload), bytes, segment.len())?;
    let mut value = Vec::new();
    let started = Stopwatch::start();
    for read in 0..VALUES_READ {
        value.clear();
        decoder.value(read * 61_813 % segment.len().max(1), &mut value)?;
    }
    Ok(started.seconds() * 1e6 / VALUES_READ as f64)
}

fn measure(column: &Column, codec: CodecId) -> Result<(), Box<dyn Error>> {
    let megabytes = column.data.len() as f64 / 1e6;
    let started = Stopwatch::start();
    let payloads = column
        .segments()
        .map(|segment| text::encode(codec, &segment).map(Arc::from))
        .collect::<Result<Vec<Arc<[u8]>>, _>>()?;
    let encode = megabytes / started.seconds();
    let vectors = column.segments().map(|segment| vector_count(segment.len()));
    let mut least: Vec<Vec<f64>> = vectors.map(|count| vec![f64::MAX; count]).collect();
    let decoding = Instant::now();
    let mut rounds = 0;
    while rounds < 3 || decoding.elapsed() < DECODING {
        for ((segment, payload), least) in column.segments().zip(&payloads).zip(&mut least) {
            decode(&segment, codec, payload, least)?;
        }
        rounds += 1;
    }
    let best = megabytes / least.iter().flatten().sum::<f64>();
    let bytes: usize = payloads.iter().map(|payload| payload.len()).sum();
    let ratio = column.data.len() as f64 / bytes as f64;
    let one = one_value(column, codec, &payloads)?;
    println!(
        "    {:<12}{bytes:>11}{ratio:>8.2}{encode:>9.0}{best:>9.0}{one:>11.2}",
        codec.name()
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let (names, paths): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|argument| CodecId::from_name(argument).is_some());
    let mut codecs: Vec<CodecId> = names
        .iter()
        .filter_map(|name| CodecId::from_name(name))
        .collect();
    if codecs.is_empty() {
        codecs = CODECS.to_vec();
    }
    for path in paths {
        let column = Column::read(&path)?;
        let rows = column.offsets.len() - 1;
        println!(
            "{path}: {rows} rows, {} bytes; zstd-3 1M {}",
            column.data.len(),
            zstd_pages(&column)?
        );
        println!("    codec             bytes   ratio  encode   decode  one value, µs");
        for &codec in &codecs {
            measure(&column, codec)?;
        }
        let started = Stopwatch::start();
        let mut estimates = std::collections::BTreeMap::new();
        let mut picked = std::collections::BTreeMap::new();
        for segment in column.segments() {
            let candidates = text::candidates(&segment, SearchEffort::Normal);
            if let Some(one) = text::pick(&candidates) {
                *picked.entry(one.codec.name()).or_insert(0) += 1;
            }
            for one in candidates {
                *estimates.entry(one.codec.name()).or_insert(0) += one.estimated_bytes;
            }
        }
        let rate = column.data.len() as f64 / 1e6 / started.seconds();
        println!("    estimates at {rate:.0} MB/s: {estimates:?}; picked per segment: {picked:?}");
    }
    Ok(())
}
