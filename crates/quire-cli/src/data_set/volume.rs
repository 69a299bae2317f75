//! Files that are volumes of data sets.

use std::path::Path;
use std::sync::Arc;

use quire_device::{DataSetVolume, DeviceOptions};
use quire_store::{FileDisk, OpenMode, Volume, VolumeOptions};

use super::CommandError;

/// A volume that others may read, too.
///
/// # Errors
/// When there is none, or somebody may change it.
pub fn open_for_reading(path: &Path) -> Result<DataSetVolume, CommandError> {
    open(path, OpenMode::ReadOnly)
}

/// A volume, which nobody else has.
///
/// # Errors
/// When there is none, or somebody has it.
pub fn open_to_change(path: &Path) -> Result<DataSetVolume, CommandError> {
    open(path, OpenMode::ReadWrite)
}

fn open(path: &Path, mode: OpenMode) -> Result<DataSetVolume, CommandError> {
    let volume = Volume::open(Arc::new(FileDisk::open(path, mode)?), mode)?;
    Ok(DataSetVolume::open(volume, DeviceOptions::default())?)
}

/// The same; a file that is missing or empty becomes a volume without data sets.
///
/// # Errors
/// When it is something else, or somebody has it.
pub fn create_or_open(path: &Path) -> Result<DataSetVolume, CommandError> {
    if path.metadata().is_ok_and(|metadata| metadata.len() > 0) {
        return open_to_change(path);
    }
    let disk = FileDisk::open_or_create(path)?;
    let volume = Volume::create(Arc::new(disk), VolumeOptions::default())?;
    Ok(DataSetVolume::create(volume, DeviceOptions::default())?)
}
