//! Does compression relieve the memory of a machine when many queries run at a time?
//!
//! M. Zukowski, *Balancing Vectorized Query Execution with Bandwidth-Optimized Storage*, figure 6.8: parallel streams of query 6 of TPC-H (A), and of the same without
//! its predicates (B), over compressed and uncompressed columns in memory: as SQL, and as the primitives of the query over vectors in the cache.

mod measure;
mod primitives;
mod report;
mod times;
mod verdicts;

use std::path::PathBuf;

use quire_lab::Figure;

use crate::column_tables::ExperimentProgress;
use crate::tpcd::BenchmarkFailure;

/// What to measure.
#[derive(Clone, Debug)]
pub struct BandwidthSetup {
    /// Scale of the tables: the paper's is 1.
    pub scale: f64,
    /// Streams at a time, from 1 to this.
    pub streams_max: usize,
    /// Queries of a stream, the paper's being 300; the middle third of them counts.
    pub queries: usize,
    /// Where rows are written. Rows that are there are taken as they are.
    pub folder: PathBuf,
}

/// Measures. `progress` is told what was done, and how long it took.
///
/// # Errors
/// When files cannot be written, a statement fails, or compressed tables have other answers than uncompressed ones.
pub fn figures(
    setup: &BandwidthSetup,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Figure>, BenchmarkFailure> {
    let mut progress = ExperimentProgress::new(progress);
    let results = measure::run(setup, &mut progress)?;
    Ok(report::figures(setup, &results))
}

#[cfg(test)]
mod tests;
