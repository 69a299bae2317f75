//! What the experiments with TPC-H in column tables have in common: scale, rounds, and where the databases are.

use std::fs;
use std::path::PathBuf;

use quire_lab::Lab;

use crate::column_tables::{CodecPair, ColumnLayout, ExperimentProgress, LoadedColumns};
use crate::tpcd::BenchmarkFailure;
use crate::tpcd::data::Files;

/// Tables of TPC-H by columns, compressed and not, behind devices.
#[derive(Clone, Debug)]
pub struct ColumnTablesSetup {
    /// Scale of the tables: 1 is a gigabyte of rows.
    pub scale: f64,
    /// How often a query is run on each device; the middle of its times counts.
    pub rounds: usize,
    /// Where rows are written. Rows that are there are taken as they are.
    pub folder: PathBuf,
    /// Whether the databases are files in this folder; otherwise they are in memory.
    pub has_files: bool,
}

impl ColumnTablesSetup {
    /// The rows as files.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(crate) fn generate(
        &self,
        progress: &mut ExperimentProgress<'_>,
    ) -> Result<Files, BenchmarkFailure> {
        fs::create_dir_all(&self.folder)?;
        let files = progress.timed("generating rows", || {
            Files::generate(&self.folder.join("csv"), self.scale)
        })?;
        Ok(files)
    }

    /// Databases with these tables, compressed and not. `name` is the beginning of the names of their files.
    ///
    /// # Errors
    /// When a file cannot be made, or a statement fails.
    pub(crate) fn load(
        &self,
        name: &str,
        tables: (&Files, &[&str]),
        layout: ColumnLayout,
        progress: &mut ExperimentProgress<'_>,
    ) -> Result<CodecPair<LoadedColumns>, BenchmarkFailure> {
        CodecPair::try_of(|codecs| {
            let path = self.folder.join(format!("{name}-{}.quire", codecs.name()));
            let path = self.has_files.then_some(path.as_path());
            LoadedColumns::load_telling(path, tables, (layout, codecs), progress)
        })
    }

    /// The machine, and how queries are run from a cold start.
    pub(crate) fn notes(&self, lab: &Lab) -> [String; 2] {
        let disk = if self.has_files {
            "files of this machine"
        } else {
            "memory"
        };
        [
            lab.machine().to_owned(),
            format!(
                "TPC-H at scale {}, one thread; databases in {disk} behind a modelled device, nothing of the columns in the cache before a run; the middle of {} runs",
                self.scale,
                self.rounds.max(1)
            ),
        ]
    }
}
