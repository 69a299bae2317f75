//! A file of the operating system.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{Disk, OpenMode};
use crate::error::VolumeOpenError;

/// A file, locked for as long as the value lives: exclusively when it is open for writing, shared
/// when it is open read-only.
#[derive(Debug)]
pub struct FileDisk {
    file: File,
    /// The same file, where the operating system does not read ahead.
    scattered: Option<File>,
    path: PathBuf,
    /// Length as far as this process knows: it holds the lock, so nobody else changes it.
    length_bytes: AtomicU64,
    length_changed: AtomicBool,
}

impl FileDisk {
    /// Opens an existing file.
    ///
    /// # Errors
    /// [`VolumeOpenError::Locked`] when another process has it, [`VolumeOpenError::Io`] otherwise.
    pub fn open(path: impl AsRef<Path>, mode: OpenMode) -> Result<Self, VolumeOpenError> {
        let mut options = OpenOptions::new();
        options.read(true).write(mode == OpenMode::ReadWrite);
        let mut disk = Self::open_locked(path.as_ref(), mode, &options)?;
        disk.scattered = disk.open_scattered();
        Ok(disk)
    }

    /// Opens a file for writing and creates it, empty, when it is missing.
    ///
    /// The entry in the directory is durable when this returns. A process killed right after
    /// leaves an empty file, which `Volume::open_or_create` takes for a new one.
    ///
    /// # Errors
    /// As [`FileDisk::open`].
    pub fn open_or_create(path: impl AsRef<Path>) -> Result<Self, VolumeOpenError> {
        let path = path.as_ref();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut disk = Self::open_locked(path, OpenMode::ReadWrite, &options)?;
        if disk.length_bytes.load(Ordering::Relaxed) == 0 {
            sync_directory(path).map_err(|source| failed(path, "sync the directory of", source))?;
        }
        disk.scattered = disk.open_scattered();
        Ok(disk)
    }

    /// A new file without a name, which is gone when the value is: in that directory, or where the system has its
    /// temporary files. Only this user can open it while it still has a name.
    ///
    /// # Errors
    /// As [`FileDisk::open`].
    pub fn temporary(directory: Option<&Path>) -> Result<Self, VolumeOpenError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = directory.map_or_else(std::env::temp_dir, Path::to_owned);
        let path = directory.join(format!("quire-{}-{number}.temporary", std::process::id()));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let disk = Self::open_locked(&path, OpenMode::ReadWrite, &options)?;
        std::fs::remove_file(&path).map_err(|source| failed(&path, "unlink", source))?;
        Ok(disk)
    }

    /// Opens the file once more, for reads without the read-ahead of the operating system.
    ///
    /// Scans of columns read ahead themselves: they know which pages they need next, and those of one column are seldom neighbours of
    /// all of them. The system's guess reads up to 8 MiB beyond each request: for TPC-H's Q6 at scale 10 it read 650 MB from the
    /// device where 348 MB were asked for. Who reads page by page in the order of the file (scans of row tables, recovery, backups,
    /// checks) relies on that guess, and the advice is one for all reads of a file that was opened: so there are two.
    #[cfg(target_os = "linux")]
    fn open_scattered(&self) -> Option<File> {
        use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

        // Without it every read is an ordinary one. Another file may have taken the name by now.
        let file = File::open(&self.path).ok()?;
        if !self.is_same_file(&file).ok()? {
            return None;
        }
        posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_RANDOM).ok()?;
        Some(file)
    }

    #[cfg(not(target_os = "linux"))]
    fn open_scattered(&self) -> Option<File> {
        None
    }

    /// Runs a write that ends at byte `end`, and notes for the next sync whether it makes the file longer.
    pub(super) fn write_up_to(
        &self,
        end: u64,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        if end > self.length_bytes.load(Ordering::Acquire) {
            // Marked before the write: part of it may reach the file even when it fails.
            self.length_changed.store(true, Ordering::Release);
        }
        write(&self.file)?;
        self.length_bytes.fetch_max(end, Ordering::AcqRel);
        Ok(())
    }

    /// Whether `other` is the same file, and not one that has taken its name.
    pub(super) fn is_same_file(&self, other: &File) -> io::Result<bool> {
        let (this, other) = (self.file.metadata()?, other.metadata()?);
        Ok((this.dev(), this.ino()) == (other.dev(), other.ino()))
    }

    fn open_locked(
        path: &Path,
        mode: OpenMode,
        options: &OpenOptions,
    ) -> Result<Self, VolumeOpenError> {
        let file = options
            .open(path)
            .map_err(|source| failed(path, "open", source))?;
        let locked = match mode {
            OpenMode::ReadWrite => file.try_lock(),
            OpenMode::ReadOnly => file.try_lock_shared(),
        };
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(VolumeOpenError::Locked {
                    file: path.display().to_string(),
                });
            }
            Err(TryLockError::Error(source)) => return Err(failed(path, "lock", source)),
        }
        let metadata = file
            .metadata()
            .map_err(|source| failed(path, "read the length of", source))?;
        if !metadata.is_file() {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
            return Err(failed(path, "open", source));
        }
        Ok(Self {
            length_bytes: AtomicU64::new(metadata.len()),
            length_changed: AtomicBool::new(false),
            file,
            scattered: None,
            path: path.to_owned(),
        })
    }
}

impl Disk for FileDisk {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }

    fn read_scattered_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let file = self.scattered.as_ref().unwrap_or(&self.file);
        file.read_exact_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let end = offset
            .checked_add(bytes.len() as u64)
            .ok_or(io::ErrorKind::FileTooLarge)?;
        self.write_up_to(end, |file| file.write_all_at(bytes, offset))
    }

    fn sync(&self) -> io::Result<()> {
        if self.length_changed.swap(false, Ordering::AcqRel) {
            self.file.sync_all()
        } else {
            self.file.sync_data()
        }
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.length_changed.store(true, Ordering::Release);
        self.file.set_len(bytes)?;
        self.length_bytes.store(bytes, Ordering::Release);
        Ok(())
    }

    fn discard(&self, offset: u64, bytes: u64) -> io::Result<()> {
        punch_hole(&self.file, offset, bytes)
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }
}

/// Gives the blocks of a range back to the file system. A file system that cannot do that is asked in vain.
#[cfg(target_os = "linux")]
fn punch_hole(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    use nix::errno::Errno;
    use nix::fcntl::{FallocateFlags, fallocate};

    let too_large = |_| io::Error::from(io::ErrorKind::FileTooLarge);
    let offset = offset.try_into().map_err(too_large)?;
    let length = bytes.try_into().map_err(too_large)?;
    if length == 0 {
        return Ok(());
    }
    let flags = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
    loop {
        match fallocate(file, flags, offset, length) {
            Ok(()) | Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => return Ok(()),
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Only Linux can be asked.
#[cfg(not(target_os = "linux"))]
fn punch_hole(_file: &File, _offset: u64, _bytes: u64) -> io::Result<()> {
    Ok(())
}

pub(super) fn failed(path: &Path, operation: &'static str, source: io::Error) -> VolumeOpenError {
    VolumeOpenError::Io {
        file: path.display().to_string(),
        operation,
        source,
    }
}

fn sync_directory(path: &Path) -> io::Result<()> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    File::open(parent)?.sync_all()
}
