//! The same streams without a database: the primitives of the query over vectors in the cache.

use quire_lab::streams::{MultiplicationParts, StreamedColumns, StreamedQuery, StreamedStorage};
use quire_lab::{Lab, LabError, MeasureEffort};

use crate::bandwidth::BandwidthSetup;
use crate::bandwidth::times::StreamedTimes;
use crate::column_tables::{CodecPair, ColumnCodecs, ExperimentProgress};
use crate::tpcd::BenchmarkFailure;

/// Rows of `lineitem` at scale 1.
const SCALE_ROWS: f64 = 6_001_215.0;

/// What was measured of primitives.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredPrimitives {
    pub(crate) queries: Vec<StreamedTimes>,
    /// Of B, with one stream.
    pub(crate) parts: MultiplicationParts,
}

/// Draws columns, and measures both queries over them.
///
/// # Errors
/// When compressed columns are not what was compressed.
pub(crate) fn measure_primitives(
    setup: &BandwidthSetup,
    progress: &mut ExperimentProgress<'_>,
) -> Result<MeasuredPrimitives, BenchmarkFailure> {
    let row_count = (SCALE_ROWS * setup.scale).max(1.0) as usize;
    let columns = progress.timed("drawing columns for primitives", || {
        StreamedColumns::draw(row_count)
    })?;
    let mut queries = Vec::new();
    for query in StreamedQuery::BOTH {
        queries.push(measure(setup, query, &columns, progress)?);
    }
    let parts = progress.timed("the parts of B", || {
        columns.multiplication(&Lab::new(MeasureEffort::Full))
    })?;
    Ok(MeasuredPrimitives { queries, parts })
}

fn measure(
    setup: &BandwidthSetup,
    query: StreamedQuery,
    columns: &StreamedColumns,
    progress: &mut ExperimentProgress<'_>,
) -> Result<StreamedTimes, LabError> {
    let column_bytes = |storage| columns.column_bytes(query, storage) as f64;
    let mut seconds = Vec::new();
    for streams in 1..=setup.streams_max {
        seconds.push(CodecPair::try_of(|codecs| {
            let (name, codecs_name) = (query.name(), codecs.name());
            let what = format!("{name} by primitives with {streams} streams, {codecs_name}");
            let streamed = (query, storage_of(codecs));
            progress.timed(&what, || {
                columns.query_seconds(streamed, streams, setup.queries)
            })
        })?);
    }
    Ok(StreamedTimes {
        query,
        column_bytes: CodecPair {
            compressed: column_bytes(StreamedStorage::Compressed),
            plain: column_bytes(StreamedStorage::Plain),
        },
        seconds,
    })
}

fn storage_of(codecs: ColumnCodecs) -> StreamedStorage {
    match codecs {
        ColumnCodecs::Auto => StreamedStorage::Compressed,
        ColumnCodecs::Plain => StreamedStorage::Plain,
    }
}
