//! Why data is not generated or not loaded.

use super::DataIdentity;
use crate::TargetError;
use std::io;
use std::path::PathBuf;

/// Why the data of a workload is not generated or not loaded.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadDataError {
    #[error(
        "{folder} has the data of {found}, not of {wanted}; name another folder, or delete this one"
    )]
    OtherData {
        folder: PathBuf,
        found: DataIdentity,
        wanted: DataIdentity,
    },
    #[error(
        "{folder} has data in version {found} of the format, this program writes version {wanted}; name another folder, or delete this one"
    )]
    OtherVersion {
        folder: PathBuf,
        found: u64,
        wanted: u64,
    },
    #[error("{folder} has files and no stamp of a workload; name an empty folder")]
    ForeignFiles { folder: PathBuf },
    #[error(
        "{path} is no stamp of a workload: {reason}; delete the folder and generate the data again"
    )]
    Stamp { path: PathBuf, reason: String },
    #[error(
        "{path} has {found} bytes, its stamp says {wanted}; delete the folder and generate the data again"
    )]
    Length {
        path: PathBuf,
        found: u64,
        wanted: u64,
    },
    #[error(
        "the folder has no table {table}, which the workload has; delete the folder and generate the data again"
    )]
    NoTable { table: String },
    #[error("{path}: {error}")]
    File { path: PathBuf, error: io::Error },
    #[error("cancelled; the same command continues with the data that is missing")]
    Cancelled,
    #[error(transparent)]
    Target(#[from] TargetError),
}
