//! Where bytes live: the only traits and types of the workspace that do file I/O.

use std::io;

use crate::error::VolumeOpenError;

mod counted;
mod direct;
mod file;
mod hooked;
mod memory;
mod simulated;
mod throttled;

pub(crate) use counted::CountedDisk;

pub use self::{
    counted::DiskTraffic,
    direct::DirectFileDisk,
    file::FileDisk,
    hooked::{DiskCall, HookedDisk},
    memory::MemDisk,
    simulated::{CrashImages, Fault, FaultKind, SimDisk, operation::DiskOperation},
    throttled::{DeviceClock, DeviceProfile, RealClock, ThrottleStatistics, ThrottledDisk},
};

/// May what is on a disk be changed?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// Yes.
    ReadWrite,
    /// No: not a byte of the file is written.
    ReadOnly,
}

/// A growable array of bytes that outlives the process.
///
/// Reads and writes of disjoint ranges may run at the same time from several threads. A write is
/// durable only after a later [`Disk::sync`] has returned `Ok`; until then a crash may keep it,
/// lose it, tear it, or keep a later write and lose an earlier one.
pub trait Disk: Send + Sync {
    /// Fills `buffer` from byte `offset` on.
    ///
    /// # Errors
    /// `UnexpectedEof` when the range ends behind the end of the disk.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// Writes all of `bytes` at `offset`; the disk grows when the range ends behind its end.
    ///
    /// # Errors
    /// `StorageFull` or `QuotaExceeded` when there is no space. After any error part of the range
    /// may hold new bytes.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Makes every write and every change of length so far durable.
    ///
    /// # Errors
    /// After an error nothing is known about the writes since the last success; calling again
    /// proves nothing.
    fn sync(&self) -> io::Result<()>;

    /// Length in bytes.
    ///
    /// # Errors
    /// Those of the operating system.
    fn len(&self) -> io::Result<u64>;

    /// True when the disk holds no byte.
    ///
    /// # Errors
    /// As [`Disk::len`].
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Cuts the disk to `bytes`, or extends it with zeros.
    ///
    /// # Errors
    /// Those of the operating system.
    fn set_len(&self, bytes: u64) -> io::Result<()>;

    /// As [`Disk::read_at`], for somebody who reads ahead himself: the disk should not read what lies behind the range.
    ///
    /// # Errors
    /// As [`Disk::read_at`].
    fn read_scattered_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_at(buffer, offset)
    }

    /// Says that nobody needs the bytes of a range any more, so that what is below can use their space for something else. Until the
    /// range is written again it reads as zeros, or as before if the disk takes no advice. A later [`Disk::sync`] makes
    /// the zeros durable; a crash before that may bring the old bytes back. The length of the disk stays, and what lies behind its
    /// end is ignored.
    ///
    /// # Errors
    /// Those of the operating system. The range may then hold old bytes or zeros.
    fn discard(&self, _offset: u64, _bytes: u64) -> io::Result<()> {
        Ok(())
    }

    /// Whether a volume should discard what it frees even if it is not told to: free space costs something here, and is not needed to
    /// write again.
    fn wants_discards(&self) -> bool {
        false
    }

    /// What to call this disk in messages: the path of the file.
    fn name(&self) -> String;
}

/// A volume on the disk cannot be opened.
pub(crate) fn open_failed(
    disk: &dyn Disk,
    operation: &'static str,
    source: io::Error,
) -> VolumeOpenError {
    VolumeOpenError::Io {
        file: disk.name(),
        operation,
        source,
    }
}

/// True for the errors that mean "no space left", which a volume survives.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}
