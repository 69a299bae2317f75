//! What will a choice cost for the whole table, on a device and with so much memory?

mod access_time;
mod column_bytes;
mod compression_work;
mod hit_rates;
mod key_reach;
mod scan_bandwidth;
mod segment_growth;
mod whole_bytes;

use arrow_array::RecordBatch;
use quire_codec::CodecId;
use quire_format::volume::IMAGE_HEADER_BYTES;
use quire_store::disk::DeviceProfile;

use crate::choices::{ChosenLayout, DemandedCodecs, StorageChoice};
use crate::measure::{
    ChoiceMeasurement, LeftOutReason, MeasureBudget, StoredSize, WrittenTable, write_table,
};
use crate::sampled_table::SampledTable;
use access_time::{AccessReads, KeptPages};
use column_bytes::ColumnTableGrowth;
use compression_work::compressed_bytes_per_byte;
use key_reach::KeyReach;
use scan_bandwidth::scan_mb_s;
use whole_bytes::WholeBytes;

const MEGABYTE: f64 = 1e6;
/// A row takes at least this share of what it takes in the sample, whatever seams cost there.
const PIECE_SHARE_MIN: f64 = 0.25;

/// What is expected of a choice for the whole table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChoicePrediction {
    /// Bytes in the file.
    pub whole_bytes: u64,
    /// Those of row pages, or of segments, and their dictionaries.
    pub data_bytes: u64,
    /// Those of all else, most of which does not grow with the table.
    pub metadata_bytes: u64,
    /// Mean time of access to a page, or to what the layout has in its place, by paper 4's equations 1 to 5, in microseconds.
    pub page_access_us: f64,
    /// Mean time of reading one row: that, and finding the row, in microseconds.
    pub point_read_us: f64,
    /// The longest time of many such reads: the longest that was measured, and a read from the device, in microseconds.
    pub worst_response_us: f64,
    /// Bandwidth of a scan that one processor reads and decodes, in MB/s of plain bytes, by paper 2's equation 6.1.
    pub scan_mb_s: f64,
    /// Time of writing all rows with one processor, in seconds.
    pub load_seconds: f64,
    /// Processor time of compression for one row that is inserted into a compressed page, at most, in microseconds, by the sum of paper 4's equation 6.
    /// `None` where pages are not compressed.
    pub insert_compression_us: Option<f64>,
}

/// Where the whole will be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadingPlace<'d> {
    pub(crate) device: &'d DeviceProfile,
    pub(crate) memory_bytes: u64,
    /// Bandwidth of a query that only looks at plain arrays in memory, in MB/s.
    pub(crate) query_mb_s: f64,
}

/// What the whole takes, and how it is read.
struct WholeShape {
    bytes: WholeBytes,
    reads: AccessReads,
    kept: KeptPages,
    /// The time of one read of a row in the whole over that in the sample.
    slowdown: f64,
}

/// Predicts from the measurement of a choice and from the table that it wrote.
pub(crate) fn predict(
    sample: &SampledTable,
    choice: &StorageChoice,
    (measured, written): (&ChoiceMeasurement, &WrittenTable),
    place: &ReadingPlace<'_>,
    budget: &MeasureBudget<'_>,
) -> Result<ChoicePrediction, LeftOutReason> {
    let shape = match choice.layout() {
        ChosenLayout::Row => {
            let half = half_of_rows(sample, choice, budget)?;
            row_shape(sample, choice, &written.size, half.as_ref())
        }
        ChosenLayout::Column | ChosenLayout::Pax => column_shape(sample, choice, written, budget)?,
    };
    let plain = sample.whole_plain_bytes();
    let whole_bytes = shape.bytes.data + shape.bytes.metadata;
    let disk_us = shape.reads.disk_us(place.device);
    let decode_us = (measured.cold_point_read_us - measured.hot_point_read_us).max(0.0);
    let memory_bytes = place.memory_bytes as f64;
    let page_access_us = (shape.kept).access_us(disk_us, decode_us * shape.slowdown, memory_bytes);
    let io_mb_s = place.device.read_bytes_per_second as f64 / MEGABYTE;
    let ratio = plain / whole_bytes.max(1.0);
    let load_seconds = match measured.encode_mb_s {
        0.0 => 0.0,
        mb_s => plain / MEGABYTE / mb_s,
    };
    let scan_mb_s = match measured.decode_mb_s {
        0.0 => 0.0,
        decode_mb_s => scan_mb_s(io_mb_s, ratio, place.query_mb_s, decode_mb_s),
    };
    Ok(ChoicePrediction {
        whole_bytes: whole_bytes.round() as u64,
        data_bytes: shape.bytes.data.round() as u64,
        metadata_bytes: shape.bytes.metadata.round() as u64,
        page_access_us,
        point_read_us: page_access_us + measured.hot_point_read_us * shape.slowdown,
        worst_response_us: disk_us + measured.worst_response_us * shape.slowdown,
        scan_mb_s,
        load_seconds,
        insert_compression_us: insert_compression_us(sample, choice, measured, &written.size),
    })
}

/// What half of the sample takes as a row table, and its rows; `None` where nothing is to be learnt from it: the sample is the whole, or one piece.
fn half_of_rows(
    sample: &SampledTable,
    choice: &StorageChoice,
    budget: &MeasureBudget<'_>,
) -> Result<Option<(StoredSize, u64)>, LeftOutReason> {
    let is_whole = sample.whole_rows.rows() == sample.sampled_rows();
    let halves = sample.first_halves();
    let Some(halves) = halves.filter(|_| !is_whole && sample.seam_count() > 0) else {
        return Ok(None);
    };
    budget.check()?;
    let rows = halves.iter().map(|half| half.num_rows() as u64).sum();
    let written = write_table(sample.definition(choice), &halves, budget.clock())?;
    Ok(Some((written.size, rows)))
}

/// Row pages are in proportion to rows, inner pages nearly so; the rest is there once. A page with rows of two pieces has keys that are far apart, and
/// takes more than any page of the whole. Half of the sample has as many of these, so what the sample takes more than that is what other pages take.
fn row_shape(
    sample: &SampledTable,
    choice: &StorageChoice,
    size: &StoredSize,
    half: Option<&(StoredSize, u64)>,
) -> WholeShape {
    let rows = sample.sampled_rows().max(1) as f64;
    let whole_rows = sample.whole_rows.rows() as f64;
    let share = (whole_rows / rows).max(1.0);
    let of_whole = |part: fn(&StoredSize) -> u64| {
        let all = part(size) as f64;
        let row = all / rows;
        let row = half.map_or(row, |(half, half_rows)| {
            let more = (all - part(half) as f64) / (rows - *half_rows as f64).max(1.0);
            more.clamp(row * PIECE_SHARE_MIN, row)
        });
        row * rows * share
    };
    let data = of_whole(|size| size.data_bytes);
    let page_count = of_whole(|size| size.page_count);
    let in_memory = of_whole(|size| size.page_memory_bytes);
    let header = IMAGE_HEADER_BYTES as f64;
    let once = size.metadata_bytes as f64 - size.page_count as f64 * header;
    let kept = if choice.compresses_pages() {
        KeptPages::WithImages {
            bytes: in_memory,
            image_bytes: data,
        }
    } else {
        KeptPages::Plain { bytes: in_memory }
    };
    WholeShape {
        bytes: WholeBytes {
            data,
            metadata: once.max(0.0) + page_count * header,
        },
        reads: AccessReads {
            count: 1.0,
            bytes: data / page_count.max(1.0),
        },
        kept,
        slowdown: 1.0,
    }
}

fn column_shape(
    sample: &SampledTable,
    choice: &StorageChoice,
    written: &WrittenTable,
    budget: &MeasureBudget<'_>,
) -> Result<WholeShape, LeftOutReason> {
    let rows = sample.whole_rows.rows();
    if rows == sample.sampled_rows() || written.row_groups.is_empty() {
        return Ok(measured_shape(sample, choice, written));
    }
    budget.check()?;
    let half = match sample.first_halves() {
        Some(half) => Some(write_table(
            sample.definition(choice),
            &half,
            budget.clock(),
        )?),
        None => None,
    };
    budget.check()?;
    let coded = in_dictionaries(sample, choice, &sample.pieces, budget)?;
    let growth = ColumnTableGrowth::new(sample, written, half.as_ref(), coded.as_ref());
    let Some(growth) = growth else {
        return Ok(measured_shape(sample, choice, written));
    };
    let reach = KeyReach::of(sample);
    let (bytes, reads) = match choice.block_bytes() {
        Some(block_bytes) => {
            let bytes = growth.as_blocks(rows, block_bytes, written);
            let blocks = (bytes.data / block_bytes as f64).max(1.0);
            // A block of a few vectors is looked at if one of them may have the key.
            let count = reach.whole_zones.min(blocks);
            let reads = AccessReads {
                count,
                bytes: count * bytes.data / blocks,
            };
            (bytes, reads)
        }
        None => {
            let bytes = growth.as_columns(rows);
            let group_rows = growth.full_rows().min(rows);
            let groups = (rows as f64 / group_rows as f64).ceil();
            let touched = reach.whole_zones.min(groups);
            let reads = AccessReads {
                count: touched * sample.columns.len() as f64,
                bytes: touched * growth.row_group_bytes(group_rows),
            };
            (bytes, reads)
        }
    };
    Ok(WholeShape {
        kept: KeptPages::Images { bytes: bytes.data },
        bytes,
        reads,
        slowdown: reach.whole_zones / reach.sample_zones,
    })
}

/// The sample is the whole, or there is nothing to go by.
fn measured_shape(
    sample: &SampledTable,
    choice: &StorageChoice,
    written: &WrittenTable,
) -> WholeShape {
    let data = written.size.data_bytes as f64;
    let pieces = match choice.block_bytes() {
        Some(_) => 1.0,
        None => sample.columns.len() as f64,
    };
    let groups = written.row_groups.len().max(1) as f64;
    WholeShape {
        bytes: WholeBytes {
            data,
            metadata: written.size.metadata_bytes as f64,
        },
        reads: AccessReads {
            count: pieces,
            bytes: data / groups,
        },
        kept: KeptPages::Images { bytes: data },
        slowdown: 1.0,
    }
}

/// The sample with all columns in dictionaries: with more rows that may be what a column takes least with, though not yet with so few. `None` where the
/// choice demands other codecs.
fn in_dictionaries(
    sample: &SampledTable,
    choice: &StorageChoice,
    pieces: &[RecordBatch],
    budget: &MeasureBudget<'_>,
) -> Result<Option<WrittenTable>, LeftOutReason> {
    if choice.codecs() != DemandedCodecs::Chosen {
        return Ok(None);
    }
    let mut definition = sample.definition(&StorageChoice::columns(DemandedCodecs::Chosen));
    for column in &mut definition.columns {
        let fits = CodecId::Dictionary.supports(column.sql_type.physical_type());
        column.compression = fits.then_some(CodecId::Dictionary);
    }
    Ok(Some(write_table(definition, pieces, budget.clock())?))
}

fn insert_compression_us(
    sample: &SampledTable,
    choice: &StorageChoice,
    measured: &ChoiceMeasurement,
    size: &StoredSize,
) -> Option<f64> {
    if !choice.compresses_pages() || size.page_count == 0 || measured.encode_mb_s == 0.0 {
        return None;
    }
    let image_bytes = size.data_bytes as f64 / size.page_count as f64;
    let fraction = size.data_bytes as f64 / size.page_memory_bytes.max(1) as f64;
    let rows = sample.sampled_rows().max(1) as f64;
    let record_bytes = size.page_memory_bytes as f64 / rows;
    let again = compressed_bytes_per_byte(image_bytes, fraction, record_bytes)?;
    // Bytes a microsecond are MB/s.
    let row_us = sample.plain_bytes() as f64 / rows / measured.encode_mb_s;
    Some(again * row_us)
}
