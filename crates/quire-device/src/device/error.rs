//! Why a device could not be opened.

use quire_store::VolumeOpenError;
use thiserror::Error;

use super::specification::DeviceKind;
use crate::error::{DataSetError, FileError};

/// Why a device could not be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DeviceOpenError {
    /// The volume below cannot be opened.
    #[error(transparent)]
    Volume(#[from] VolumeOpenError),
    /// A database that lies on no device.
    #[error("{file} is a database and no device; open it without a device, or choose a new file")]
    Database {
        /// Path of the file.
        file: String,
    },
    /// Data sets that are no device's.
    #[error("{file} has data sets of files and is no device; mount it, or choose a new file")]
    NoDevice {
        /// Path of the file.
        file: String,
    },
    /// A file that is open read-only and has not become a device yet.
    #[error("{file} has not become a device yet; open it for writing once")]
    Unfinished {
        /// Path of the file.
        file: String,
    },
    /// Another device than the one asked for.
    #[error("{file} is the device {found} and not {asked}; open it as {found}")]
    OtherDevice {
        /// Path of the file.
        file: String,
        /// What it is.
        found: DeviceKind,
        /// What it was opened as.
        asked: DeviceKind,
    },
    /// The data sets of the volume.
    #[error(transparent)]
    DataSets(#[from] DataSetError),
    /// The file in the data set.
    #[error(transparent)]
    Files(#[from] FileError),
}
