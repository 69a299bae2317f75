//! What does a drive that compresses make of a whole database, by the order of the bytes in its pages?
//!
//! Y. Qiao et al., *Improving Relational Database Upon the Arrival of Storage Hardware with Built-in Transparent Compression*, figure 11: a table of 32 numbers
//! and a string a row, whose rows are inserted in random order, on a drive that compresses each block of 4 KiB; and page compression with hole punching,
//! on a drive that does not. Figures 10 and 1: what conversions and page compression cost transactions. `quire lab dual-format` has the leaves of such a table in memory; here it is in databases, with all that these store besides.

mod contents;
mod database;
mod measure;
mod report;
mod scenarios;
mod transactions;

use std::path::PathBuf;

use quire_lab::{EvaluatedWords, Figure};

use crate::column_tables::ExperimentProgress;
use crate::tpcd::BenchmarkFailure;

pub use transactions::{DualFormatTransactions, transaction_figures};

/// What to measure.
#[derive(Clone, Debug)]
pub struct DualFormatSetup {
    /// Rows of the table.
    pub rows: u64,
    /// Of which the strings are.
    pub words: EvaluatedWords,
    /// Where the databases are made.
    pub folder: PathBuf,
    /// Whether they are kept; otherwise each is removed once it is measured.
    pub keeps_files: bool,
}

/// Measures. `progress` is told what was done, and how long it took.
///
/// # Errors
/// When a database cannot be written or a statement fails, or when a table has other rows than were inserted.
pub fn figures(
    setup: &DualFormatSetup,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Figure>, BenchmarkFailure> {
    let mut progress = ExperimentProgress::new(progress);
    let results = measure::run(setup, &mut progress)?;
    Ok(report::figures(&results))
}

#[cfg(test)]
mod tests;
