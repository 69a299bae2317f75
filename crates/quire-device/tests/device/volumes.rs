//! Volumes for tests.

use std::num::NonZero;
use std::sync::Arc;

use quire_device::{
    DataSet, DataSetProperties, DataSetVolume, DeviceOptions, FileTime, NewInode, ROOT_INODE,
};
use quire_store::{Disk, MemDisk, OpenMode, PageId, PageKind, Volume, VolumeOptions};

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
        dictionary_from_bytes: 32 << 10,
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

/// Short records, and defaults.
pub fn short_records() -> DataSetProperties {
    DataSetProperties {
        record_bytes: Some(4096),
        ..DataSetProperties::default()
    }
}

/// A new volume with the data set `data` of short records.
pub fn short_records_on(disk: Arc<dyn Disk>, dirty_bytes: usize) -> (DataSetVolume, Arc<DataSet>) {
    let sets = create_on(disk, dirty_bytes);
    sets.create_set("data", short_records()).unwrap();
    let set = sets.open_set("data").unwrap();
    (sets, set)
}

/// A new file at the root.
pub fn new_file(set: &DataSet, name: &str) -> u64 {
    let new = NewInode::file(0o644);
    set.create(ROOT_INODE, name.as_bytes(), &new).unwrap()
}

/// Pages of dictionaries that the volume has.
pub fn dictionary_pages(sets: &DataSetVolume) -> usize {
    let pin = sets.volume().pin();
    let pages = pin.pages().into_iter();
    let is_one = |page: &_| pin.kind(*page).unwrap() == PageKind::Dictionary;
    pages.filter(is_one).count()
}

/// The image of a volume in which one page has other bytes, with the right checksum.
pub fn with_page(image: &[u8], page: PageId, payload: &[u8]) -> Vec<u8> {
    let disk = Arc::new(MemDisk::from_bytes(image.to_vec()));
    let volume = Volume::open_with(disk.clone(), OpenMode::ReadWrite, volume_options()).unwrap();
    let kind = volume.pin().kind(page).unwrap();
    let batch = volume.begin().unwrap();
    batch.replace(page, kind, payload).unwrap();
    batch.commit().unwrap();
    drop(volume);
    disk.to_bytes()
}

/// No rule is broken.
pub fn check(sets: &DataSetVolume) -> Result<(), String> {
    match sets.check().findings.first() {
        None => Ok(()),
        Some(finding) => Err(format!("check: {finding}")),
    }
}
