//! All databases, one after the other.

use std::fs;

use crate::column_tables::ExperimentProgress;
use crate::dual_format_system::DualFormatSetup;
use crate::dual_format_system::database::{DatabaseSize, EvaluatedContent, measured};
use crate::dual_format_system::scenarios::EvaluatedDatabase;
use crate::tpcd::BenchmarkFailure;

/// What every database takes.
pub(crate) struct DualFormatResults {
    pub(crate) rows: u64,
    pub(crate) databases: Vec<(EvaluatedDatabase, DatabaseSize)>,
}

impl DualFormatResults {
    pub(crate) fn of(&self, database: EvaluatedDatabase) -> Option<&DatabaseSize> {
        let mut databases = self.databases.iter();
        let (_, size) = databases.find(|(one, _)| *one == database)?;
        Some(size)
    }
}

/// Makes and measures them.
///
/// # Errors
/// When one cannot be written, or has other rows than were inserted.
pub(crate) fn run(
    setup: &DualFormatSetup,
    progress: &mut ExperimentProgress<'_>,
) -> Result<DualFormatResults, BenchmarkFailure> {
    fs::create_dir_all(&setup.folder)?;
    let content = EvaluatedContent::new(setup);
    let mut databases = Vec::new();
    for (number, database) in EvaluatedDatabase::all().into_iter().enumerate() {
        let path = setup.folder.join(format!("dual-format-{number:02}.quire"));
        if path.exists() {
            fs::remove_file(&path)?;
        }
        let size = progress.timed(&database.name(), || measured(&database, &content, &path))?;
        if !setup.keeps_files {
            fs::remove_file(&path)?;
        }
        progress.say(&format!(
            "  {:.2} MB stored, leaves {:.0} % full, ratio {:.2}",
            size.stored_bytes as f64 / 1e6,
            size.contents.fill_percent(),
            size.ratio()
        ));
        databases.push((database, size));
    }
    Ok(DualFormatResults {
        rows: setup.rows,
        databases,
    })
}
