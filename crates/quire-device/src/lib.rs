//! How do the files of any program live compressed in a volume?
//!
//! A volume of data sets is what a compressing file system is made of: each data set is a tree of files whose records
//! are compressed invisibly to the programs that use them, and has snapshots and clones that cost nothing when they are made.
//!
//! ```
//! use std::sync::Arc;
//! use quire_device::{DataSetVolume, DeviceOptions, NewInode, ROOT_INODE};
//! use quire_store::{MemDisk, Volume, VolumeOptions};
//!
//! let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default())?;
//! let sets = DataSetVolume::create(volume, DeviceOptions::default())?;
//! sets.create_set("data", Default::default())?;
//! let set = sets.open_set("data")?;
//! let file = set.create(ROOT_INODE, b"table", &NewInode::file(0o644))?;
//! set.write(file, 1 << 20, &[7; 100_000])?;
//! set.sync_file(file)?;
//! assert_eq!(set.read(file, (1 << 20) - 1, 2)?, [0, 7]);
//! assert!(set.statistics().stored_bytes() < 10_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod check;
mod context;
mod dead;
mod device;
mod disk;
mod error;
mod generation;
mod options;
mod properties;
#[cfg(test)]
#[path = "../tests/device/random.rs"]
#[allow(dead_code, reason = "tests of the whole crate use more of it")]
mod random;
mod records;
mod set;
mod tree;
mod volume;

pub use check::{DataSetCheckReport, DataSetFinding};
pub use device::{
    DeviceKind, DeviceMonitor, DeviceOpenError, DeviceOpenOptions, DeviceSpecification,
    DeviceSpecificationError, DeviceStatistics, OpenedDevice, open_data_sets, open_device,
    open_device_on, open_or_create_data_sets,
};
pub use disk::DataSetDisk;
pub use error::{DataSetError, DeviceStorageError, FileError};
pub use options::{DeviceOptions, EffectiveProperties};
pub use properties::{
    PropertyError, PropertyName, parse_properties, properties_text, set_property,
};
pub use quire_format::data_set::{
    CodecTotals, DataSetCodec, DataSetProperties, DataSetTotals, FileDictionaries, FileSpace,
    FileTime, InodeAttributes, InodeKind, MeasuredCodec, NAME_BYTES_MAX, ROOT_INODE,
    SectorRounding, SynchronousWrites,
};
pub use quire_store::OpenMode;
pub use set::{
    AttributeChange, DataSet, DataSetStatistics, DirectoryEntry, ExtendedMode, NewInode, RenameMode,
};
pub use volume::{DataSetSummary, DataSetVolume, PropertySource, PropertyValue, SnapshotSummary};
