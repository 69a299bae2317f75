//! Which pages should a buffer pool keep, compressed ones or uncompressed ones?
//!
//! M. Zukowski, *Balancing Vectorized Query Execution with Bandwidth-Optimized Storage*, figure 6.1: on its left side pages are decompressed when they come
//! from the disk, and the buffer pool has uncompressed pages; on its right side it has pages as they are stored, and vectors are decompressed into the
//! processor's cache. The paper's figure is a drawing. Here queries 1 and 6 of TPC-H run again and again over pools of several sizes.

mod measure;
mod report;
mod times;
mod verdicts;

use quire_lab::Figure;

use crate::column_tables::{ColumnTablesSetup, ExperimentProgress};
use crate::tpcd::BenchmarkFailure;

/// Measures. `progress` is told what was done, and how long it took.
///
/// # Errors
/// When files cannot be written, a statement fails, or the answers of the two sides differ.
pub fn figures(
    setup: &ColumnTablesSetup,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Figure>, BenchmarkFailure> {
    let mut progress = ExperimentProgress::new(progress);
    let results = measure::run(setup, &mut progress)?;
    Ok(report::figures(setup, &results))
}

#[cfg(test)]
mod tests;
