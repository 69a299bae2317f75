//! The streams of queries, and what memory can deliver.

use std::fs;

use quire::Database;
use quire_lab::streams::{StreamedQuery, copied_bytes_per_second, mean_seconds};

use crate::bandwidth::BandwidthSetup;
use crate::bandwidth::primitives::{MeasuredPrimitives, measure_primitives};
use crate::bandwidth::times::StreamedTimes;
use crate::column_tables::{
    AnswerComparison, CodecPair, ColumnCodecs, ColumnLayout, ExperimentProgress, LoadedColumns,
    RunConditions,
};
use crate::tpcd::BenchmarkFailure;
use crate::tpcd::data::Files;
use crate::tpcd::warehouse::CsvAnswer;

fn query_text(query: StreamedQuery, codecs: ColumnCodecs) -> String {
    let predicates = match query {
        StreamedQuery::WithPredicates => {
            " WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' AND l_quantity < 24 AND l_discount BETWEEN 5 AND 7"
        }
        StreamedQuery::WithoutPredicates => "",
    };
    let table = table_name(codecs);
    format!("SELECT sum(l_extendedprice * l_discount) AS revenue FROM {table}{predicates}")
}

fn table_name(codecs: ColumnCodecs) -> &'static str {
    match codecs {
        ColumnCodecs::Auto => "item_compressed",
        ColumnCodecs::Plain => "item_plain",
    }
}

/// All that was measured.
#[derive(Clone, Debug)]
pub(crate) struct BandwidthResults {
    /// As SQL.
    pub(crate) queries: Vec<StreamedTimes>,
    pub(crate) primitives: MeasuredPrimitives,
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
    let storage = (ColumnLayout::Dsm, ColumnCodecs::Auto);
    let loaded = LoadedColumns::load_telling(None, tables, storage, progress)?;
    progress.timed("making the tables of four columns", || {
        loaded.change(&item_statements())
    })?;
    let database = loaded.open_for_streams(setup.streams_max)?;
    let mut queries = Vec::new();
    for query in StreamedQuery::BOTH {
        queries.push(measure(setup, query, (&loaded, &database), progress)?);
    }
    let primitives = measure_primitives(setup, progress)?;
    let copied = (1..=setup.streams_max).map(|threads| {
        progress.timed(&format!("copying with {threads} threads"), || {
            Ok::<_, BenchmarkFailure>(copied_bytes_per_second(threads))
        })
    });
    Ok(BandwidthResults {
        copied: copied.collect::<Result<_, _>>()?,
        queries,
        primitives,
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
    let mut session = loaded.open(RunConditions::default())?;
    let first = CodecPair::try_of(|codecs| session.run(&query_text(query, codecs)))?;
    let mut answers = AnswerComparison::new(query.name());
    answers.check(&first.compressed.answer)?;
    answers.check(&first.plain.answer)?;
    let mut seconds = Vec::new();
    for streams in 1..=setup.streams_max {
        seconds.push(CodecPair::try_of(|codecs| {
            let what = format!("{} with {streams} streams, {}", query.name(), codecs.name());
            let sql = query_text(query, codecs);
            let mean = progress.timed(&what, || {
                mean_seconds(streams, setup.queries, || stream(database, &sql))
            })?;
            progress.say(&format!("  a query: {:.1} ms", mean * 1e3));
            Ok::<_, BenchmarkFailure>(mean)
        })?);
    }
    Ok(StreamedTimes {
        query,
        column_bytes: CodecPair {
            compressed: first.compressed.scans.segment_bytes,
            plain: first.plain.scans.segment_bytes,
        },
        seconds,
    })
}

/// Runs a query each time it is called, with one thread.
fn stream(
    database: &Database,
    sql: &str,
) -> Result<impl FnMut() -> Result<(), BenchmarkFailure>, BenchmarkFailure> {
    let mut connection = database.connect();
    CsvAnswer::of(&mut connection, "SET threads = 1")?;
    Ok(move || {
        CsvAnswer::of(&mut connection, sql)?;
        Ok(())
    })
}
