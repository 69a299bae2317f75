//! What does compression of columns gain TPC-H on disks as slow and as fast as the paper's?
//!
//! M. Zukowski, *Balancing Vectorized Query Execution with Bandwidth-Optimized Storage*, table 6.1 and figure 6.9: eleven queries of TPC-H from a cold start, over columns that
//! are stored apart (DSM) and in common blocks (PAX), uncompressed, decompressed from memory to the cache (M⇒C) and from memory to memory (M⇒M), on two machines.
//! The machines' disks are modelled; the processor is ours on each of them.

mod measure;
mod paper;
mod report;
mod verdicts;

use std::path::PathBuf;

use quire_lab::Figure;

use crate::column_tables::ExperimentProgress;
use crate::tpcd::BenchmarkFailure;

/// What to measure.
#[derive(Clone, Debug)]
pub struct TpchSetup {
    /// Scale of the tables: the paper's is 100.
    pub scale: f64,
    /// How often a query is run on each machine; the middle of its times counts.
    pub rounds: usize,
    /// Where rows are written. Rows that are there are taken as they are.
    pub folder: PathBuf,
    /// Whether the databases are files in this folder; otherwise they are in memory.
    pub has_files: bool,
}

/// Measures. `progress` is told what was done, and how long it took.
///
/// # Errors
/// When files cannot be written, a statement fails, or compressed tables have other answers than uncompressed ones.
pub fn figures(
    setup: &TpchSetup,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Figure>, BenchmarkFailure> {
    let mut progress = ExperimentProgress::new(progress);
    let queries = measure::run(setup, &mut progress)?;
    Ok(report::figures(setup, &queries))
}

#[cfg(test)]
mod tests;
