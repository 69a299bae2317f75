//! What does compression of columns gain TPC-H on machines as slow and as fast as the paper's?
//!
//! M. Zukowski, *Balancing Vectorized Query Execution with Bandwidth-Optimized Storage*, table 6.1 and figure 6.9: eleven queries of TPC-H from a cold start, over columns that
//! are stored apart (DSM) and in common blocks (PAX), uncompressed, decompressed from memory to the cache (M⇒C) and from memory to memory (M⇒M), on two machines.
//! The machines' disks and the speed of their processors are modelled.

mod machine;
mod measure;
mod paper;
mod report;
mod times;
mod verdicts;

use quire_lab::Figure;

use crate::column_tables::{ColumnLayout, ColumnTablesSetup, ExperimentProgress};
use crate::tpcd::BenchmarkFailure;
pub use machine::TpchMachine;

/// What to measure.
#[derive(Clone, Debug)]
pub struct TpchSetup {
    /// The tables, and how often a query is run. The paper's scale is 100.
    pub tables: ColumnTablesSetup,
    /// On which machines.
    pub machines: Vec<TpchMachine>,
    /// Over which layouts.
    pub layouts: Vec<ColumnLayout>,
}

/// Measures. `progress` is told what was done, and how long it took.
///
/// # Errors
/// When files cannot be written, a statement fails, or answers over tables that are stored differently differ.
pub fn figures(
    setup: &TpchSetup,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Figure>, BenchmarkFailure> {
    let mut progress = ExperimentProgress::new(progress);
    let results = measure::run(setup, &mut progress)?;
    Ok(report::figures(setup, &results))
}

#[cfg(test)]
mod tests;
