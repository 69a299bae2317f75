//! A disk in memory: for databases without a file, and for tests.

use std::io;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::Disk;

/// A disk in memory. Every write is durable at once, for as long as the process lives.
#[derive(Debug, Default)]
pub struct MemDisk {
    bytes: RwLock<Vec<u8>>,
}

impl MemDisk {
    /// An empty disk.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A disk that holds `bytes`.
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self {
            bytes: RwLock::new(bytes),
        }
    }

    /// A copy of everything on the disk.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.shared().clone()
    }

    fn shared(&self) -> RwLockReadGuard<'_, Vec<u8>> {
        self.bytes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn exclusive(&self) -> RwLockWriteGuard<'_, Vec<u8>> {
        self.bytes.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk for MemDisk {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        read_range(&self.shared(), buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        write_range(&mut self.exclusive(), bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.shared().len() as u64)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let length = usize::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.exclusive().resize(length, 0);
        Ok(())
    }

    fn discard(&self, offset: u64, bytes: u64) -> io::Result<()> {
        zero_range(&mut self.exclusive(), offset, bytes);
        Ok(())
    }

    fn name(&self) -> String {
        "(in memory)".to_owned()
    }
}

/// Copies `image[offset..]` into `buffer`.
pub(super) fn read_range(image: &[u8], buffer: &mut [u8], offset: u64) -> io::Result<()> {
    let source = usize::try_from(offset)
        .ok()
        .and_then(|start| image.get(start..start.checked_add(buffer.len())?))
        .ok_or(io::ErrorKind::UnexpectedEof)?;
    buffer.copy_from_slice(source);
    Ok(())
}

/// Makes the bytes of a range zeros, as far as the image has them.
pub(super) fn zero_range(image: &mut [u8], offset: u64, bytes: u64) {
    let place = |offset: u64| {
        usize::try_from(offset)
            .unwrap_or(usize::MAX)
            .min(image.len())
    };
    let range = place(offset)..place(offset.saturating_add(bytes));
    image[range].fill(0);
}

/// Copies `bytes` to `image[offset..]`, growing the image with zeros where needed.
pub(super) fn write_range(image: &mut Vec<u8>, bytes: &[u8], offset: u64) -> io::Result<()> {
    let start = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let end = start
        .checked_add(bytes.len())
        .ok_or(io::ErrorKind::FileTooLarge)?;
    if image.len() < end {
        image.resize(end, 0);
    }
    image[start..end].copy_from_slice(bytes);
    Ok(())
}
