//! Sizes and speeds of the text codecs on columns of the user's own: one file per column, one value per
//! line.
//!
//! ```text
//! cargo run --release -p quire-codec --example text_columns -- [CODEC]... FILE...
//! ```
//!
//! `zstd-3 1M` compresses values and 4-byte lengths in pages of 1 MiB with zstd level 3, which is what a
//! Parquet file with zstd pages comes to. Speeds are in MB of text per second of one core's time, where the
//! kernel tells it and so other work on the machine does not count; the better of two runs for decoding.
//! Sizes are in bytes.

use quire_codec::choose::Effort;
use quire_codec::{BytesSlice, BytesVector, CodecId, ROWS_MAX, text, vector_count};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

const CODECS: [CodecId; 5] = [
    CodecId::Plain,
    CodecId::Dictionary,
    CodecId::Fsst,
    CodecId::Zstd,
    CodecId::Words,
];

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

fn decode(segment: &BytesSlice, codec: CodecId, payload: &Arc<[u8]>) -> Result<(), Box<dyn Error>> {
    let rows = segment.len();
    let mut decoder = text::BytesDecoder::open(codec, payload.clone(), 0..payload.len(), rows)?;
    let mut out = BytesVector::new();
    let mut start = segment.offsets[0] as usize;
    for vector in 0..vector_count(rows) {
        out.clear();
        decoder.decode_vector(vector, &mut out)?;
        let end = start + out.data.len();
        if segment.data[start..end] != out.data {
            return Err(format!("codec {codec} changed vector {vector}").into());
        }
        start = end;
    }
    Ok(())
}

fn measure(column: &Column, codec: CodecId) -> Result<(), Box<dyn Error>> {
    let megabytes = column.data.len() as f64 / 1e6;
    let started = Stopwatch::start();
    let payloads = column
        .segments()
        .map(|segment| text::encode(codec, &segment).map(Arc::from))
        .collect::<Result<Vec<Arc<[u8]>>, _>>()?;
    let encode = megabytes / started.seconds();
    let mut best = 0.0f64;
    for _ in 0..2 {
        let started = Stopwatch::start();
        for (segment, payload) in column.segments().zip(&payloads) {
            decode(&segment, codec, payload)?;
        }
        best = best.max(megabytes / started.seconds());
    }
    let bytes: usize = payloads.iter().map(|payload| payload.len()).sum();
    let ratio = column.data.len() as f64 / bytes as f64;
    println!(
        "    {:<12}{bytes:>11}{ratio:>8.2}{encode:>9.0}{best:>9.0}",
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
        println!("    codec             bytes   ratio  encode   decode");
        for &codec in &codecs {
            measure(&column, codec)?;
        }
        let started = Stopwatch::start();
        let mut estimates = std::collections::BTreeMap::new();
        let mut picked = std::collections::BTreeMap::new();
        for segment in column.segments() {
            let candidates = text::candidates(&segment, Effort::Normal);
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
