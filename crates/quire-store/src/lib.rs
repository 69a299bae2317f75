//! Keeps pages safe in one file: what is committed survives a crash, whole; what is not leaves
//! nothing behind; what is damaged is noticed.
//!
//! ```
//! use std::sync::Arc;
//! use quire_store::{CATALOG_PAGE, MemDisk, PageKind, Volume, VolumeOptions};
//!
//! let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default())?;
//! let batch = volume.begin()?;
//! let segment = batch.write(PageKind::Segment, b"some values")?;
//! batch.replace(CATALOG_PAGE, PageKind::Catalog, &segment.get().to_le_bytes())?;
//! batch.commit()?;
//! assert_eq!(&*volume.read(segment)?, b"some values");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod disk;
mod error;
mod ghosts;
pub mod log;
pub mod patience;
pub mod pool;
mod volume;

pub use disk::{DirectFileDisk, Disk, FileDisk, MemDisk, OpenMode, SimDisk};
pub use error::{
    BatchWriteError, CheckpointError, CleanError, CommitError, DuplicateError, PageReadError,
    VolumeOpenError,
};
pub use quire_format::volume::{
    CATALOG_PAGE, DICTIONARY_LIST_PAGE, LOG_ROOT_PAGE, MAX_PAYLOAD_BYTES, PageId, PageKind,
    STAGING_PAGE,
};
pub use volume::{
    CheckReport, CleanReport, Durability, Finding, Pin, ReadAhead, ReadAheadPage, ReadAheadSource,
    ReadAheadStatistics, RebuildReport, RequestedBytes, Volume, VolumeOptions, VolumeStats,
    WriteBatch,
};
