//! What an experiment may decide besides, of a database that it opens.

use quire_exec::tuple::TemporaryDisks;

/// What experiments need to run a database as somebody else's was run. Not for applications.
#[derive(Debug, Clone)]
pub struct ExperimentOptions {
    /// Where the tuple engine writes rows that do not fit memory.
    pub temporary_disks: TemporaryDisks,
    /// Whether columns of row tables get dictionaries that have not asked for one.
    pub finds_dictionaries: bool,
}

impl Default for ExperimentOptions {
    fn default() -> Self {
        Self {
            temporary_disks: TemporaryDisks::default(),
            finds_dictionaries: true,
        }
    }
}
