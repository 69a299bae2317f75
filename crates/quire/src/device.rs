//! A database on a compressing device inside this process.

use std::sync::Arc;

use quire_device::{DeviceOpenError, DeviceOpenOptions, open_device_on};
use quire_error::Error;
use quire_store::{Disk, OpenMode};

use crate::options::DatabaseOptions;

/// The disk for the database's file: the one given, or the device that the options ask for, which lies on it.
pub(crate) fn on(
    disk: Arc<dyn Disk>,
    mode: OpenMode,
    options: &DatabaseOptions,
) -> Result<Arc<dyn Disk>, Error> {
    let Some(device) = &options.device else {
        return Ok(disk);
    };
    let opened = open_device_on(
        disk,
        device,
        DeviceOpenOptions {
            mode,
            ..DeviceOpenOptions::default()
        },
    );
    Ok(opened.map_err(as_error)?.disk)
}

fn as_error(error: DeviceOpenError) -> Error {
    match error {
        DeviceOpenError::Volume(error) => error.into(),
        DeviceOpenError::DataSets(_) | DeviceOpenError::Files(_) => {
            Error::new("58030", error.to_string())
        }
        _ => Error::new("08001", error.to_string()),
    }
}
