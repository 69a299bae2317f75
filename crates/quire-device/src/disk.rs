//! A file of a data set as the disk of another volume: a compressing device.
//!
//! With records of 4 KiB and no sectors it is the drive of paper 3 (§V), which compresses each block of 4 KiB and packs what is left
//! of them without gaps; with records of 128 KiB and sectors it is the file system of paper 5.

use std::io;
use std::sync::Arc;

use quire_format::data_set::InodeKind;
use quire_store::Disk;

use crate::error::FileError;
use crate::set::{AttributeChange, DataSet};

/// A file of a data set. What is written is durable after a sync, which is one of the data set.
pub struct DataSetDisk {
    set: Arc<DataSet>,
    inode: u64,
}

impl DataSetDisk {
    /// Keeps the file open until it is dropped.
    ///
    /// # Errors
    /// [`FileError::Invalid`] when it is no file; [`FileError::NotFound`], [`FileError::Storage`].
    pub fn open(set: Arc<DataSet>, inode: u64) -> Result<Self, FileError> {
        if set.attributes(inode)?.kind != InodeKind::File {
            return Err(FileError::Invalid {
                what: "only a file can be a disk; use another inode",
            });
        }
        set.open(inode)?;
        Ok(Self { set, inode })
    }
}

impl Drop for DataSetDisk {
    fn drop(&mut self) {
        // A file without a name that cannot be removed now is removed when the data set is opened again.
        let _ = self.set.release(self.inode);
    }
}

impl Disk for DataSetDisk {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = self.set.read(self.inode, offset, buffer.len());
        let bytes = bytes.map_err(as_io)?;
        if bytes.len() < buffer.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer.copy_from_slice(&bytes);
        Ok(())
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.set.write(self.inode, offset, bytes).map_err(as_io)
    }

    fn sync(&self) -> io::Result<()> {
        self.set.sync().map_err(|error| as_io(error.into()))
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.set.attributes(self.inode).map_err(as_io)?.size)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let change = AttributeChange {
            size: Some(bytes),
            ..AttributeChange::default()
        };
        let changed = self.set.set_attributes(self.inode, &change);
        changed.map(|_| ()).map_err(as_io)
    }

    /// Makes a hole, which is durable after a sync.
    fn discard(&self, offset: u64, bytes: u64) -> io::Result<()> {
        let bytes = bytes.min(self.len()?.saturating_sub(offset));
        if bytes == 0 {
            return Ok(());
        }
        let punched = self.set.punch_hole(self.inode, offset, bytes);
        punched.map_err(as_io)
    }

    /// What is free would be compressed and kept, and counted among what is stored.
    fn wants_discards(&self) -> bool {
        true
    }

    fn name(&self) -> String {
        format!("inode {} of {}", self.inode, self.set.name())
    }
}

/// A full disk and a quota are what a volume survives.
fn as_io(error: FileError) -> io::Error {
    let kind = match &error {
        FileError::QuotaExceeded { .. } => io::ErrorKind::QuotaExceeded,
        FileError::TooLarge { .. } => io::ErrorKind::FileTooLarge,
        FileError::Storage(error) if error.is_full() => io::ErrorKind::StorageFull,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}
