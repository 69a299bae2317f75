//! Figure 6.7: decompression into cache, and into memory.

use super::columns;
use super::vectors::{CODE_BITS, each_vector, patched};
use crate::stored::{StoredColumn, Vector};
use crate::super_scalar::{Reference, Segment, encode};
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};
use quire_codec::{CodecId, Corrupt, ROWS_MAX, VECTOR_VALUES};
use std::hint::black_box;

const PERCENTS: [u64; 6] = [0, 2, 5, 10, 20, 30];
const NAMES: [&str; 8] = [
    "PFOR into cache",
    "PFOR into memory",
    "PFOR into cache, then summed",
    "PFOR into memory, then summed",
    "PFOR into pages of 128 KiB, then summed",
    "PFOR into pages of 1 MiB, then summed",
    "Quire pfor into cache",
    "Quire pfor into memory",
];
/// Bytes of a page that is materialized before it is read.
const PAGE_BYTES: [usize; 2] = [128 << 10, 1 << 20];

/// Bandwidth of decompressing a column vector by vector into one vector that stays in cache, and as a whole
/// into memory; and with a query that adds up the result, also by pages.
pub(super) fn figure_6_7(lab: &Lab) -> Result<Figure, LabError> {
    let value_count = lab.size(64 * ROWS_MAX, 8 * VECTOR_VALUES);
    let mut out = vec![0u64; value_count];
    let mut signed_out = vec![0i64; value_count];
    let mut lines = vec![Vec::new(); NAMES.len()];
    for percent in PERCENTS {
        let values = columns::with_exceptions(value_count, percent, CODE_BITS, |code| code);
        let paper = paper_bandwidths(lab, &values, &mut out)?;
        let stored = stored_bandwidths(lab, &values, &mut signed_out)?;
        for (line, bandwidth) in lines.iter_mut().zip(paper.into_iter().chain(stored)) {
            line.push(bandwidth);
        }
    }
    let source = vec![1u64; value_count];
    let copy_ns =
        lab.nanoseconds_of(|| black_box(&mut out[..]).copy_from_slice(black_box(&source)));
    let megabytes = size_of_val(&source[..]) >> 20;
    let notes = vec![
        lab.machine().to_owned(),
        format!(
            "{value_count} 64-bit values in codes of 8 bits: {megabytes} MiB when decompressed, bytes of output; \
             copying them from memory to memory: {:.1} GB/s",
            size_of_val(&source[..]) as f64 / copy_ns
        ),
        "into memory the whole column is decompressed; a page is decompressed whole into one place and then read, as a \
         buffer manager of decompressed pages does: it can stay in a cache that is larger than it"
            .to_owned(),
    ];
    let series = NAMES.into_iter().zip(lines);
    Ok(Figure {
        stem: "figure-6.7",
        title: "Decompression into cache and into memory".to_owned(),
        paper: Paper::SuperScalarCompression,
        number: "figure 6.7",
        chart: Chart::Lines,
        x: Axis::linear("exception rate", "%"),
        y: Axis::linear("decompression bandwidth", "GB/s"),
        positions: Positions::Numbers(PERCENTS.iter().map(|&rate| rate as f64).collect()),
        series: series
            .map(|(name, values)| Series::new(name, SeriesOrigin::Measured, values))
            .collect(),
        verdicts: Vec::new(),
        notes,
    })
}

fn sum(values: &[u64]) -> u64 {
    values.iter().fold(0, |sum, &one| sum.wrapping_add(one))
}

/// The first six series at one rate.
fn paper_bandwidths(lab: &Lab, values: &[u64], out: &mut [u64]) -> Result<[f64; 6], LabError> {
    let image = encode(values, &patched(Reference::Pfor { base: 0 }, CODE_BITS))?;
    let mut segment = Segment::<u64>::open(&image, None)?;
    let Vector(vector) = &mut Vector([0; VECTOR_VALUES]);
    let decode_all = |segment: &mut Segment<'_, u64>, out: &mut [u64]| {
        let (vectors, _) = out.as_chunks_mut::<VECTOR_VALUES>();
        for (number, vector) in vectors.iter_mut().enumerate() {
            segment.decode_vector(number, vector)?;
        }
        Ok::<(), Corrupt>(())
    };
    let into_memory = lab.nanoseconds(|| decode_all(&mut segment, black_box(&mut *out)))?;
    if *out != *values {
        let codec = "the paper's segment".to_owned();
        return Err(LabError::NotRestored { codec });
    }
    let memory_summed = lab.nanoseconds(|| {
        decode_all(&mut segment, black_box(&mut *out))?;
        black_box(sum(out));
        Ok::<(), Corrupt>(())
    })?;
    let into_cache = lab.nanoseconds(|| {
        each_vector(&mut segment, vector, |decoded| {
            black_box(decoded);
        })
    })?;
    let cache_summed = lab.nanoseconds(|| {
        let mut total = 0u64;
        each_vector(&mut segment, vector, |decoded| {
            total = total.wrapping_add(sum(decoded));
        })?;
        black_box(total);
        Ok::<(), Corrupt>(())
    })?;
    let [small, large] = PAGE_BYTES.map(|bytes| pages_summed_ns(lab, &mut segment, bytes));
    let bytes = size_of_val(values) as f64;
    let ns = [
        into_cache,
        into_memory,
        cache_summed,
        memory_summed,
        small?,
        large?,
    ];
    Ok(ns.map(|ns| bytes / ns))
}

/// Nanoseconds to decompress page after page into the same place, each of which is then added up.
fn pages_summed_ns(
    lab: &Lab,
    segment: &mut Segment<'_, u64>,
    page_bytes: usize,
) -> Result<f64, Corrupt> {
    let mut page = vec![0u64; page_bytes / size_of::<u64>()];
    let vector_count = segment.value_count().div_ceil(VECTOR_VALUES);
    let page_vectors = page.len() / VECTOR_VALUES;
    lab.nanoseconds(|| {
        let mut total = 0u64;
        for first in (0..vector_count).step_by(page_vectors) {
            let (vectors, _) = page.as_chunks_mut::<VECTOR_VALUES>();
            let mut rows = 0;
            for (number, vector) in (first..vector_count).zip(vectors) {
                rows += segment.decode_vector(number, vector)?;
            }
            total = total.wrapping_add(sum(black_box(&page[..rows])));
        }
        black_box(total);
        Ok::<(), Corrupt>(())
    })
}

/// The last two series at one rate.
fn stored_bandwidths(lab: &Lab, values: &[u64], out: &mut [i64]) -> Result<[f64; 2], LabError> {
    let signed: Vec<i64> = values.iter().map(|&value| value as i64).collect();
    let mut column = StoredColumn::encode(CodecId::Pfor, &signed)?;
    let Vector(vector) = &mut Vector([0; VECTOR_VALUES]);
    let into_memory = lab.nanoseconds(|| column.decode_all(black_box(&mut *out)))?;
    if *out != *signed {
        let codec = "Quire's pfor".to_owned();
        return Err(LabError::NotRestored { codec });
    }
    let into_cache = lab.nanoseconds(|| {
        column.each_vector(vector, |decoded| {
            black_box(decoded);
        })
    })?;
    let bytes = size_of_val(values) as f64;
    Ok([into_cache, into_memory].map(|ns| bytes / ns))
}
