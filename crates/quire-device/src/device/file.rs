//! Files that are volumes of data sets.

use std::path::Path;
use std::sync::Arc;

use quire_store::{FileDisk, OpenMode, Volume, VolumeOptions};

use super::error::DeviceOpenError;
use crate::options::DeviceOptions;
use crate::volume::{DataSetVolume, check_first_name};

/// Opens a file that is a volume of data sets. Either one process has it open to write, or any number to read.
///
/// # Errors
/// [`DeviceOpenError::Volume`] when it is missing, damaged, or open elsewhere; [`DeviceOpenError::DataSets`] when it is something else.
pub fn open_data_sets(
    path: impl AsRef<Path>,
    mode: OpenMode,
) -> Result<DataSetVolume, DeviceOpenError> {
    let disk = Arc::new(FileDisk::open(path, mode)?);
    let volume = match mode {
        OpenMode::ReadWrite => Volume::open_or_create(disk, volume_options())?,
        OpenMode::ReadOnly => Volume::open_with(disk, mode, volume_options())?,
    };
    Ok(DataSetVolume::open(volume, DeviceOptions::default())?)
}

/// The same for writing, to make the data set `name`. A file that is missing or empty becomes a volume without data sets, unless `name`
/// cannot be the first one.
///
/// # Errors
/// As [`open_data_sets`]; [`DeviceOpenError::DataSets`] also when `name` is refused, after which there is no new file.
pub fn open_or_create_data_sets(
    path: impl AsRef<Path>,
    name: &str,
) -> Result<DataSetVolume, DeviceOpenError> {
    let path = path.as_ref();
    let is_new = path.metadata().map_or(true, |found| found.len() == 0);
    if is_new {
        check_first_name(name)?;
    }
    let disk = Arc::new(FileDisk::open_or_create(path)?);
    let volume = Volume::open_or_create(disk, volume_options())?;
    let options = DeviceOptions::default();
    Ok(match volume.stats().page_count {
        0 => DataSetVolume::create(volume, options)?,
        _ => DataSetVolume::open(volume, options)?,
    })
}

/// Space that snapshots and files give back is the file system's again.
fn volume_options() -> VolumeOptions {
    VolumeOptions {
        discards: true,
        ..VolumeOptions::default()
    }
}
