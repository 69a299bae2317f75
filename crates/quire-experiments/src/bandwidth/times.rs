//! What was measured of a query in streams.

use quire_lab::streams::StreamedQuery;

use crate::column_tables::CodecPair;

/// What runs the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamLevel {
    /// The database.
    Sql,
    /// Loops over vectors, of which all are decompressed, as in the paper.
    Primitives,
}

impl StreamLevel {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sql => "SQL",
            Self::Primitives => "primitives",
        }
    }
}

/// What was measured of one query.
#[derive(Clone, Debug)]
pub(crate) struct StreamedTimes {
    pub(crate) query: StreamedQuery,
    /// The length of the columns that it reads.
    pub(crate) column_bytes: CodecPair<f64>,
    /// Seconds of a query, with 1 stream, 2 streams …
    pub(crate) seconds: Vec<CodecPair<f64>>,
}
