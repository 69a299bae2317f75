//! What does transparent compression below a database do to transactions?
//!
//! Suharjito and A. B. Kurnadi, *OLTP performance improvement using file-systems layer compression*: tables 5 to 16 and figures 3 to 7. Three workloads
//! run on the same rows, stored on data sets that compress with ZLE, LZJB, LZ4 and others, and on one that does not. Transactions a second, sizes, maximum response times
//! and processor time are compared with those of the last one, and the codecs are ranked by benefit and cost (analytic hierarchy process, [`quire_decision`]).
//!
//! The database is Quire without compression of its own, on a data set inside this process (`zfs:CODEC:RECORDSIZE`), so processor time has the compression in it.

mod codecs;
mod comparison;
mod measure;
mod paper;
mod ranking;
mod report;
mod scenarios;
mod verdicts;

use std::path::PathBuf;
use std::time::Duration;

use quire_lab::Figure;
use quire_store::disk::DeviceProfile;

use crate::column_tables::ExperimentProgress;
use crate::tpcd::BenchmarkFailure;

pub use scenarios::TransactionScenario;

/// What to measure.
#[derive(Clone, Debug)]
pub struct FileSystemSetup {
    pub scenarios: Vec<TransactionScenario>,
    /// 1 is the paper's: 1 GB of Order Entry, 10 GB of Calling Circle.
    pub scale: f64,
    /// Users at a time; the paper has 500.
    pub users: u32,
    /// How long each data set is measured, after a tenth of it as warm-up; the paper has 10 and 5 minutes.
    pub measured: Duration,
    /// The disk below the data sets; with its typed name; `None`: that of the folder, as fast as it is. The paper has a disk of 450 GB.
    pub profile: Option<(&'static str, DeviceProfile)>,
    /// The pool of the database.
    pub cache_bytes: usize,
    pub seed: u64,
    /// Where rows and databases are made.
    pub folder: PathBuf,
    /// Whether they are kept; otherwise each is removed once it is measured.
    pub keeps_files: bool,
}

/// The profile of a disk by its typed name, and the name; nothing for `none`, which is the disk of the folder.
///
/// # Errors
/// When there is none of that name.
pub fn disk_profile(name: &str) -> Result<Option<(&'static str, DeviceProfile)>, BenchmarkFailure> {
    if name == "none" {
        return Ok(None);
    }
    let mut known = DeviceProfile::TYPED_NAMES.into_iter();
    let found = known.find(|(known, _)| *known == name);
    found.map(Some).ok_or_else(|| BenchmarkFailure::NoProfile {
        name: name.to_owned(),
    })
}

/// Measures. `progress` is told what was done, and how long it took.
///
/// # Errors
/// When a database cannot be written, or a transaction fails.
pub fn figures(
    setup: &FileSystemSetup,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Figure>, BenchmarkFailure> {
    let mut progress = ExperimentProgress::new(progress);
    let mut results = Vec::new();
    for scenario in &setup.scenarios {
        results.push(measure::scenario(setup, *scenario, &mut progress)?);
    }
    report::figures(setup, &results)
}

#[cfg(test)]
mod tests;
