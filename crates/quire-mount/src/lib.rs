//! How does any program of this machine use the files of a data set?
//!
//! A data set is mounted on a directory through FUSE: the kernel asks, threads of this process answer.
//!
//! ```no_run
//! use std::path::Path;
//! use std::sync::Arc;
//! use quire_device::{DataSetVolume, DeviceOptions};
//! use quire_mount::{MountOptions, MountedDataSet};
//! use quire_store::{FileDisk, OpenMode, Volume};
//!
//! let disk = FileDisk::open("data.quire", OpenMode::ReadWrite)?;
//! let volume = Volume::open(Arc::new(disk), OpenMode::ReadWrite)?;
//! let sets = DataSetVolume::open(volume, DeviceOptions::default())?;
//! let mounted = MountedDataSet::mount(sets.open_set("data")?, Path::new("/mnt/data"), MountOptions::default())?;
//! mounted.wait()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod attributes;
mod directories;
mod errno;
mod error;
mod extended;
mod front;
mod inode_table;
mod listing;
mod mount_point;
mod mounted;
mod options;
mod served;
mod space;
mod sync_queue;
mod unmount;
mod virtual_attributes;

pub use error::MountError;
pub use mounted::MountedDataSet;
pub use options::MountOptions;
pub use unmount::unmount;
