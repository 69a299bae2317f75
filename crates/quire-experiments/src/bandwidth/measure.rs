//! The streams of queries, and what memory can deliver.

use std::fs;
use std::hint::black_box;
use std::panic;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use quire::Database;

use crate::bandwidth::BandwidthSetup;
use crate::column_tables::{CodecPair, ColumnCodecs, ExperimentProgress, LoadedColumns};
use crate::tpcd::BenchmarkFailure;
use crate::tpcd::data::Files;
use crate::tpcd::warehouse::CsvAnswer;

/// A query of the figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamedQuery {
    /// Query 6, of four columns.
    WithPredicates,
    /// Without its predicates, of two columns.
    WithoutPredicates,
}

impl StreamedQuery {
    pub(crate) const BOTH: [Self; 2] = [Self::WithPredicates, Self::WithoutPredicates];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::WithPredicates => "A",
            Self::WithoutPredicates => "B",
        }
    }

    fn sql(self, codecs: ColumnCodecs) -> String {
        let predicates = match self {
            Self::WithPredicates => {
                " WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' AND l_quantity < 24 AND l_discount BETWEEN 5 AND 7"
            }
            Self::WithoutPredicates => "",
        };
        let table = table_name(codecs);
        format!("SELECT sum(l_extendedprice * l_discount) AS revenue FROM {table}{predicates}")
    }
}

fn table_name(codecs: ColumnCodecs) -> &'static str {
    match codecs {
        ColumnCodecs::Auto => "item_compressed",
        ColumnCodecs::Plain => "item_plain",
    }
}

/// What was measured of one query.
#[derive(Clone, Debug)]
pub(crate) struct StreamedTimes {
    pub(crate) query: StreamedQuery,
    /// The length of the columns that it reads.
    pub(crate) segment_bytes: CodecPair<f64>,
    /// Seconds of a query, with 1 stream, 2 streams …
    pub(crate) seconds: Vec<CodecPair<f64>>,
}

/// All that was measured.
#[derive(Clone, Debug)]
pub(crate) struct BandwidthResults {
    pub(crate) queries: Vec<StreamedTimes>,
    /// Bytes a second that 1 thread, 2 threads … read when they copy.
    pub(crate) copied: Vec<f64>,
}

/// Loads, and measures.
///
/// # Errors
/// When files cannot be written, a statement fails, or answers differ.
pub(crate) fn run(
    setup: &BandwidthSetup,
    progress: &mut ExperimentProgress<'_>,
) -> Result<BandwidthResults, BenchmarkFailure> {
    fs::create_dir_all(&setup.folder)?;
    let files = progress.timed("generating rows", || {
        Files::generate(&setup.folder.join("csv"), setup.scale)
    })?;
    let tables = (&files, ["lineitem"].as_slice());
    let loaded = LoadedColumns::load_telling(None, tables, ColumnCodecs::Auto, progress)?;
    progress.timed("making the tables of four columns", || {
        loaded.change(&item_statements())
    })?;
    let database = loaded.open_for_streams(setup.streams_max)?;
    let mut queries = Vec::new();
    for query in StreamedQuery::BOTH {
        queries.push(measure(setup, query, (&loaded, &database), progress)?);
    }
    let copied = (1..=setup.streams_max).map(|threads| {
        progress.timed(&format!("copying with {threads} threads"), || {
            Ok::<_, BenchmarkFailure>(copied_bytes_per_second(threads))
        })
    });
    Ok(BandwidthResults {
        copied: copied.collect::<Result<_, _>>()?,
        queries,
    })
}

/// The tables as the paper's: dates and quantities of 4 bytes, prices and discounts of 8.
fn item_statements() -> Vec<String> {
    let mut statements = Vec::new();
    for codecs in ColumnCodecs::BOTH {
        let table = table_name(codecs);
        let clause = match codecs {
            ColumnCodecs::Auto => "",
            ColumnCodecs::Plain => " COMPRESSION plain",
        };
        statements.push(format!(
            "CREATE TABLE {table} (l_shipdate DATE{clause} NOT NULL, l_quantity INTEGER{clause} NOT NULL, \
             l_extendedprice BIGINT{clause} NOT NULL, l_discount BIGINT{clause} NOT NULL)"
        ));
        statements.push(format!(
            "INSERT INTO {table} SELECT l_shipdate, l_quantity::INTEGER, (l_extendedprice * 100)::BIGINT, (l_discount * 100)::BIGINT FROM lineitem"
        ));
    }
    statements.push("DROP TABLE lineitem".to_owned());
    // Inserted rows become row groups.
    statements.push("VACUUM".to_owned());
    statements
}

fn measure(
    setup: &BandwidthSetup,
    query: StreamedQuery,
    (loaded, database): (&LoadedColumns, &Database),
    progress: &mut ExperimentProgress<'_>,
) -> Result<StreamedTimes, BenchmarkFailure> {
    let mut session = loaded.open(None)?;
    let first = CodecPair::try_of(|codecs| session.run(&query.sql(codecs)))?;
    if !first.compressed.answer.has_rows_of(&first.plain.answer) {
        return Err(BenchmarkFailure::Answers {
            query: query.name(),
        });
    }
    let mut seconds = Vec::new();
    for streams in 1..=setup.streams_max {
        seconds.push(CodecPair::try_of(|codecs| {
            let what = format!("{} with {streams} streams, {}", query.name(), codecs.name());
            let sql = query.sql(codecs);
            let mean = progress.timed(&what, || {
                mean_seconds(database, &sql, streams, setup.queries)
            })?;
            progress.say(&format!("  a query: {:.1} ms", mean * 1e3));
            Ok::<_, BenchmarkFailure>(mean)
        })?);
    }
    Ok(StreamedTimes {
        query,
        segment_bytes: CodecPair {
            compressed: first.compressed.scans.segment_bytes,
            plain: first.plain.scans.segment_bytes,
        },
        seconds,
    })
}

/// Seconds of a query in the middle third of all streams, when all of them run.
fn mean_seconds(
    database: &Database,
    sql: &str,
    streams: usize,
    queries: usize,
) -> Result<f64, BenchmarkFailure> {
    let start = Barrier::new(streams);
    let stream = || -> Result<Vec<f64>, BenchmarkFailure> {
        let mut connection = database.connect();
        // A stream that fails before the start would leave the others waiting.
        let prepared = CsvAnswer::of(&mut connection, "SET threads = 1");
        start.wait();
        prepared?;
        let mut times = Vec::new();
        for _ in 0..queries.max(1) {
            let begin = Instant::now();
            CsvAnswer::of(&mut connection, sql)?;
            times.push(begin.elapsed().as_secs_f64());
        }
        Ok(times)
    };
    let all = thread::scope(|scope| {
        let streams: Vec<_> = (0..streams).map(|_| scope.spawn(stream)).collect();
        let ended = streams.into_iter().map(|stream| {
            let joined = stream.join();
            joined.unwrap_or_else(|panicked| panic::resume_unwind(panicked))
        });
        ended.collect::<Result<Vec<_>, _>>()
    })?;
    let middle: Vec<f64> = all
        .iter()
        .flat_map(|times| middle_third(times))
        .copied()
        .collect();
    Ok(middle.iter().sum::<f64>() / middle.len().max(1) as f64)
}

/// The middle third of some times, all of them if they are few.
pub(crate) fn middle_third(times: &[f64]) -> &[f64] {
    let third = times.len() / 3;
    times.get(third..times.len() - third).unwrap_or_default()
}

/// Each thread copies from and to memory of its own.
fn copied_bytes_per_second(threads: usize) -> f64 {
    const BUFFER_BYTES: usize = 64 << 20;
    const COPIES: usize = 8;
    let start = Barrier::new(threads);
    let copying = || {
        let source = vec![1_u8; BUFFER_BYTES];
        let mut target = vec![0_u8; BUFFER_BYTES];
        target.copy_from_slice(&source);
        start.wait();
        let begin = Instant::now();
        for _ in 0..COPIES {
            target.copy_from_slice(black_box(&source));
            black_box(&mut target);
        }
        (BUFFER_BYTES * COPIES) as f64 / begin.elapsed().as_secs_f64().max(1e-9)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(copying)).collect();
        let rates = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or(0.0));
        rates.sum()
    })
}
