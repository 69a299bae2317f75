//! Why a data set could not be mounted or unmounted.

use std::io;
use std::path::PathBuf;

use quire_device::DeviceStorageError;
use thiserror::Error;

/// Why a data set could not be mounted or unmounted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MountError {
    /// The mount point cannot be used.
    #[error("{} cannot be a mount point: {error}; make an empty directory", directory.display())]
    MountPoint {
        /// The directory.
        directory: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// FUSE cannot be used.
    #[error(
        "FUSE cannot be used: {error}; load the kernel module `fuse`, or pass the device /dev/fuse into the container"
    )]
    NoFuse {
        /// What the system says.
        error: io::Error,
    },
    /// The system does not mount it.
    #[error("{} cannot be mounted: {error}; mounting needs root, or CAP_SYS_ADMIN", directory.display())]
    Refused {
        /// The directory.
        directory: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Somebody uses the files.
    #[error("{} is in use; close its files and leave its directories, or see who does with `fuser -vm`", directory.display())]
    Busy {
        /// The mount point.
        directory: PathBuf,
    },
    /// There is no data set.
    #[error("no data set is mounted on {}; `mount -t fuse.quire` lists all that are", directory.display())]
    NotMounted {
        /// The directory.
        directory: PathBuf,
    },
    /// It is unmounted, but whether the volume is closed cannot be found out.
    #[error("{} cannot be opened: {error}; wait until the process that has served the mount ends", volume.display())]
    Volume {
        /// Its file.
        volume: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The system does not unmount it.
    #[error("{} cannot be unmounted: {error}; try `umount -l`", directory.display())]
    Unmount {
        /// The mount point.
        directory: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The connection to the kernel has failed.
    #[error("the connection to the kernel has failed: {error}; mount the data set again")]
    Connection {
        /// What the system says.
        error: io::Error,
    },
    /// Unmounted, but what had changed last could not be made durable.
    #[error("what was changed last is not durable: {0}")]
    Sync(#[from] DeviceStorageError),
}
