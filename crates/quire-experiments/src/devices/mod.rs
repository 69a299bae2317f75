//! When is a query over compressed columns faster, and is it as fast as equation 6.1 says?
//!
//! M. Zukowski, *Balancing Vectorized Query Execution with Bandwidth-Optimized Storage*, equation 6.1 (section 6.2): the bandwidth of results R follows from the
//! bandwidth of the device B, the compression ratio r, and the bandwidths of the query Q and of decompression C, each with the processor to itself. [`figures`]
//! measures r, Q and C in memory and R on devices of many bandwidths, for queries 1, 6 and 18 of TPC-H over compressed and uncompressed column tables.

mod measure;
mod report;
mod verdicts;

use quire_lab::Figure;

use crate::column_tables::{ColumnTablesSetup, ExperimentProgress};
use crate::tpcd::BenchmarkFailure;

/// What to measure.
#[derive(Clone, Debug)]
pub struct DevicesSetup {
    /// The tables, and how often a query is run.
    pub tables: ColumnTablesSetup,
    /// Measures fewer bandwidths.
    pub is_quick: bool,
}

/// Measures. `progress` is told what was done, and how long it took.
///
/// # Errors
/// When files cannot be written, a statement fails, or compressed tables have other answers than uncompressed ones.
pub fn figures(
    setup: &DevicesSetup,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Figure>, BenchmarkFailure> {
    let mut progress = ExperimentProgress::new(progress);
    let queries = measure::run(setup, &mut progress)?;
    Ok(report::figures(setup, &queries))
}

#[cfg(test)]
mod tests;
