//! A disk that takes its time, or lets a test look in between.

use std::io;

use super::Disk;

/// What is asked of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskCall {
    /// [`Disk::read_at`].
    Read,
    /// [`Disk::write_at`].
    Write,
    /// [`Disk::sync`].
    Sync,
}

/// For tests: calls a function before each read, write and sync of the disk below, and waits until it returns.
pub struct HookedDisk<D> {
    below: D,
    before: Box<dyn Fn(DiskCall) + Send + Sync>,
}

impl<D: Disk> HookedDisk<D> {
    /// `before` may wait, count, or use the volume from another thread.
    pub fn new(below: D, before: impl Fn(DiskCall) + Send + Sync + 'static) -> Self {
        let before = Box::new(before);
        Self { below, before }
    }
}

impl<D: Disk> Disk for HookedDisk<D> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        (self.before)(DiskCall::Read);
        self.below.read_at(buffer, offset)
    }

    fn read_scattered_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        (self.before)(DiskCall::Read);
        self.below.read_scattered_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        (self.before)(DiskCall::Write);
        self.below.write_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        (self.before)(DiskCall::Sync);
        self.below.sync()
    }

    fn len(&self) -> io::Result<u64> {
        self.below.len()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.below.set_len(bytes)
    }

    fn discard(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.below.discard(offset, bytes)
    }

    fn wants_discards(&self) -> bool {
        self.below.wants_discards()
    }

    fn name(&self) -> String {
        self.below.name()
    }
}
