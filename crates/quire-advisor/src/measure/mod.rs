//! What does a choice cost on this machine? The rows of the sample, written and read by the real writers and readers in a volume in memory.

mod budget;
mod clock;
mod key_predicate;
mod reads;
mod stored_columns;
mod written_table;

use std::time::Duration;

pub use budget::LeftOutReason;
pub(crate) use budget::MeasureBudget;
pub use clock::{AdvisorClock, MachineClock};
pub(crate) use key_predicate::ProbeValue;
pub(crate) use stored_columns::{StoredRowGroup, StoredSegment};
pub(crate) use written_table::{StoredSize, WrittenTable, write_table};

use crate::choices::StorageChoice;
use crate::sampled_table::SampledTable;
use budget::Failure;
use reads::TableReads;
use written_table::PageMemory;

/// Reading is repeated so often; medians count.
const ROUNDS: usize = 3;
const MEGABYTE: f64 = 1e6;
/// The shortest time that a clock is believed to tell.
const TICK: Duration = Duration::from_nanos(1);

/// What was measured of a choice, of the rows of the sample. Bandwidths are of plain bytes ([`SampledTable::plain_bytes`]); of a table without rows they, and all
/// times of reading, are 0.
#[derive(Clone, Debug, PartialEq)]
pub struct ChoiceMeasurement {
    /// Images of row pages, or segments, with their dictionaries, in bytes.
    pub data_bytes: u64,
    /// All else that the table takes in its file, in bytes: catalog, roots, metadata of row groups, headers of pages.
    pub metadata_bytes: u64,
    /// Bandwidth of writing by the time of one processor, in MB/s. A load uses all processors.
    pub encode_mb_s: f64,
    /// Bandwidth of one thread that reads all columns of all rows from images in memory, in MB/s.
    pub decode_mb_s: f64,
    /// Median time of reading one row by its key where pages have to be undone first, in microseconds.
    pub cold_point_read_us: f64,
    /// The same where they are in memory undone, as far as the layout keeps them so.
    pub hot_point_read_us: f64,
    /// The longest of many reads of one row, in microseconds: the median of several rounds.
    pub worst_response_us: f64,
    /// Time of a scan of all columns, a row, in nanoseconds.
    pub scan_row_ns: f64,
    /// Time of a scan of each column alone, a row, in nanoseconds.
    pub scan_column_ns: Vec<f64>,
    /// Processor time of writing the sample, scanning it once and reading the single rows once, in seconds.
    pub processor_seconds: f64,
}

/// Times of one round of reading.
#[derive(Default)]
struct ReadRound {
    scan: Duration,
    columns: Vec<Duration>,
    points: Vec<Duration>,
    processor: Duration,
}

/// Measures a choice, and hands out the written table for predictions.
pub(crate) fn measure(
    sample: &SampledTable,
    choice: &StorageChoice,
    budget: &MeasureBudget<'_>,
) -> Result<(ChoiceMeasurement, WrittenTable), LeftOutReason> {
    budget.check()?;
    let definition = sample.definition(choice);
    let written = write_table(definition, &sample.pieces, budget.clock())?;
    let mut rounds = Vec::new();
    let mut hot = Vec::new();
    if sample.sampled_rows() > 0 {
        budget.check()?;
        let reads = TableReads::open(&written, sample, PageMemory::Nothing)?;
        for _ in 0..ROUNDS {
            rounds.push(read_round(&reads, sample, budget)?);
        }
        budget.check()?;
        let reads = TableReads::open(&written, sample, PageMemory::Everything)?;
        read_points(&reads, budget)?;
        for _ in 0..ROUNDS {
            hot.extend(read_points(&reads, budget)?);
        }
    }
    let measured = summary(sample, &written, &rounds, hot);
    Ok((measured, written))
}

fn read_round(
    reads: &TableReads,
    sample: &SampledTable,
    budget: &MeasureBudget<'_>,
) -> Result<ReadRound, LeftOutReason> {
    let clock = budget.clock();
    let all: Vec<usize> = (0..sample.columns.len()).collect();
    let processor = clock.processor_time();
    let mut round = ReadRound {
        scan: timed_scan(reads, &all, sample, clock)?,
        ..ReadRound::default()
    };
    budget.check()?;
    round.points = read_points(reads, budget)?;
    round.processor = clock.processor_time().saturating_sub(processor);
    for column in all {
        budget.check()?;
        round
            .columns
            .push(timed_scan(reads, &[column], sample, clock)?);
    }
    Ok(round)
}

fn timed_scan(
    reads: &TableReads,
    columns: &[usize],
    sample: &SampledTable,
    clock: &dyn AdvisorClock,
) -> Result<Duration, Failure> {
    let start = clock.now();
    let rows = reads.scan(columns)?;
    let took = clock.now().saturating_sub(start);
    let expected = sample.sampled_rows();
    if rows != expected {
        return Err(format!("a scan found {rows} of {expected} rows").into());
    }
    Ok(took)
}

fn read_points(
    reads: &TableReads,
    budget: &MeasureBudget<'_>,
) -> Result<Vec<Duration>, LeftOutReason> {
    let clock = budget.clock();
    let mut times = Vec::new();
    for number in 0..reads.point_count() {
        let start = clock.now();
        reads.point(number)?;
        times.push(clock.now().saturating_sub(start));
    }
    budget.check()?;
    Ok(times)
}

fn summary(
    sample: &SampledTable,
    written: &WrittenTable,
    rounds: &[ReadRound],
    hot: Vec<Duration>,
) -> ChoiceMeasurement {
    let plain_mb = sample.plain_bytes() as f64 / MEGABYTE;
    let row_ns = |time: Duration| time.as_secs_f64() * 1e9 / sample.sampled_rows().max(1) as f64;
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    let scan = median(rounds.iter().map(|round| round.scan));
    let processor = median(rounds.iter().map(|round| round.processor));
    let worst = |round: &ReadRound| round.points.iter().max().copied().unwrap_or_default();
    // A clock that does not tell the time of processors leaves that of the wall.
    let writing = match written.write_processor {
        Duration::ZERO => written.write,
        processor => processor,
    };
    let mb_s = |time: Duration| match rounds {
        [] => 0.0,
        _ => plain_mb / time.max(TICK).as_secs_f64(),
    };
    let column = |column: usize| row_ns(median(rounds.iter().map(|round| round.columns[column])));
    let columns = 0..rounds.first().map_or(0, |round| round.columns.len());
    ChoiceMeasurement {
        data_bytes: written.size.data_bytes,
        metadata_bytes: written.size.metadata_bytes,
        encode_mb_s: mb_s(writing),
        decode_mb_s: mb_s(scan),
        cold_point_read_us: us(median(rounds.iter().flat_map(|round| round.points.clone()))),
        hot_point_read_us: us(median(hot)),
        worst_response_us: us(median(rounds.iter().map(worst))),
        scan_row_ns: row_ns(scan),
        scan_column_ns: columns.map(column).collect(),
        processor_seconds: (writing + processor).as_secs_f64(),
    }
}

/// The middle one, the lower of two; nothing of nothing.
fn median(times: impl IntoIterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.into_iter().collect();
    times.sort_unstable();
    let middle = times.len().saturating_sub(1) / 2;
    times.get(middle).copied().unwrap_or_default()
}
