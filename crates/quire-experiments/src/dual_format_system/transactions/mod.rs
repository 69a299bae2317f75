//! What do conversions of pages cost transactions on a drive that compresses (figure 10), and what does page compression cost (figure 1)?
//!
//! sysbench's write-only, read-only and read-write tests on the paper's table of 32 numbers and a string (§V-A). The drive is as fast as the paper's and compresses nothing:
//! the paper's does so in hardware, and its time must not be taken from the processors here.

mod grid;
mod loss;
mod report;
mod verdicts;

use std::path::PathBuf;
use std::time::Duration;

use quire_lab::Figure;

use crate::column_tables::ExperimentProgress;
use crate::tpcd::BenchmarkFailure;

/// What to measure.
#[derive(Clone, Debug)]
pub struct DualFormatTransactions {
    /// Rows of the table; the paper has 160 GB.
    pub rows: u32,
    /// How many clients there are at a time, in rising order; the paper has 8, 16 and 32.
    pub clients: Vec<u32>,
    /// How long each point is measured; about an hour in the paper.
    pub measured: Duration,
    /// Where the databases are made.
    pub folder: PathBuf,
    /// Whether they are kept.
    pub keeps_files: bool,
}

/// Figures 10 and 1.
///
/// # Errors
/// When a database cannot be written, or a transaction fails.
pub fn transaction_figures(
    setup: &DualFormatTransactions,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Figure>, BenchmarkFailure> {
    let mut progress = ExperimentProgress::new(progress);
    let points = grid::measured(setup, &mut progress)?;
    Ok(report::figures(setup, &points))
}

#[cfg(test)]
mod tests;
