//! Volumes for tests.

use std::num::NonZero;
use std::sync::Arc;

use quire_device::{DataSetVolume, DeviceOptions, FileTime};
use quire_store::{Disk, MemDisk, OpenMode, Volume, VolumeOptions};

pub fn volume_options() -> VolumeOptions {
    VolumeOptions {
        cache_bytes: 1 << 20,
        salt_seed: Some(77),
        ..VolumeOptions::default()
    }
}

/// Options with so much memory for changes.
pub fn device_options(dirty_bytes: usize) -> DeviceOptions {
    DeviceOptions {
        dirty_bytes,
        record_cache_bytes: 256 << 10,
        compression_threads: NonZero::new(2).unwrap(),
        clock: || FileTime {
            seconds: 1000,
            nanoseconds: 5,
        },
    }
}

/// A new volume of data sets on a disk.
pub fn create_on(disk: Arc<dyn Disk>, dirty_bytes: usize) -> DataSetVolume {
    let volume = Volume::create(disk, volume_options()).unwrap();
    DataSetVolume::create(volume, device_options(dirty_bytes)).unwrap()
}

/// The same, in memory, with the data set `data`.
pub fn in_memory() -> DataSetVolume {
    let sets = create_on(Arc::new(MemDisk::new()), 64 << 20);
    sets.create_set("data", Default::default()).unwrap();
    sets
}

pub fn open_on(disk: Arc<dyn Disk>, dirty_bytes: usize) -> Result<DataSetVolume, String> {
    let volume = Volume::open_with(disk, OpenMode::ReadWrite, volume_options());
    let volume = volume.map_err(|error| format!("volume: {error}"))?;
    DataSetVolume::open(volume, device_options(dirty_bytes)).map_err(|error| error.to_string())
}

/// No rule is broken.
pub fn check(sets: &DataSetVolume) -> Result<(), String> {
    match sets.check().findings.first() {
        None => Ok(()),
        Some(finding) => Err(format!("check: {finding}")),
    }
}
