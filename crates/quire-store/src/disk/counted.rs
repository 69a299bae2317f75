//! How much is read from a disk, and written to it?

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Disk;

/// Counts what is asked of another disk and done. Every volume has one over its disk; what is found in memory never comes here.
pub(crate) struct CountedDisk {
    disk: Arc<dyn Disk>,
    reads: AtomicU64,
    read_bytes: AtomicU64,
    writes: AtomicU64,
    written_bytes: AtomicU64,
    syncs: AtomicU64,
}

/// Requests that a disk has performed since a volume was opened on it. Those that failed do not count, nor do changes of length and
/// discards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskTraffic {
    /// Number of reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Number of writes.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Number of syncs.
    pub syncs: u64,
}

impl DiskTraffic {
    /// What has come since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(earlier.reads),
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            writes: self.writes.saturating_sub(earlier.writes),
            written_bytes: self.written_bytes.saturating_sub(earlier.written_bytes),
            syncs: self.syncs.saturating_sub(earlier.syncs),
        }
    }
}

impl CountedDisk {
    pub(crate) fn new(disk: Arc<dyn Disk>) -> Self {
        Self {
            disk,
            reads: AtomicU64::new(0),
            read_bytes: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
            syncs: AtomicU64::new(0),
        }
    }

    /// Since the disk was wrapped. While others use it, a request may be counted whose bytes are not yet.
    pub(crate) fn traffic(&self) -> DiskTraffic {
        DiskTraffic {
            reads: self.reads.load(Ordering::Relaxed),
            read_bytes: self.read_bytes.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
            written_bytes: self.written_bytes.load(Ordering::Relaxed),
            syncs: self.syncs.load(Ordering::Relaxed),
        }
    }

    fn count_read(&self, read: io::Result<()>, bytes: usize) -> io::Result<()> {
        if read.is_ok() {
            self.reads.fetch_add(1, Ordering::Relaxed);
            self.read_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        read
    }
}

impl Disk for CountedDisk {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = buffer.len();
        self.count_read(self.disk.read_at(buffer, offset), bytes)
    }

    fn read_scattered_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = buffer.len();
        self.count_read(self.disk.read_scattered_at(buffer, offset), bytes)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.disk.write_at(bytes, offset)?;
        self.writes.fetch_add(1, Ordering::Relaxed);
        let written_bytes = bytes.len() as u64;
        self.written_bytes
            .fetch_add(written_bytes, Ordering::Relaxed);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.sync()?;
        self.syncs.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        self.disk.len()
    }

    fn is_empty(&self) -> io::Result<bool> {
        self.disk.is_empty()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.disk.set_len(bytes)
    }

    fn discard(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.disk.discard(offset, bytes)
    }

    fn wants_discards(&self) -> bool {
        self.disk.wants_discards()
    }

    fn name(&self) -> String {
        self.disk.name()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::disk::{Fault, FaultKind, SimDisk};

    #[test]
    fn what_is_done_is_counted_and_what_fails_is_not() {
        let below = Arc::new(SimDisk::new(vec![1; 5_000]));
        let disk = CountedDisk::new(below.clone());
        disk.read_at(&mut [0; 10], 0).unwrap();
        disk.read_scattered_at(&mut [0; 100], 50).unwrap();
        disk.write_at(&[7; 1_000], 4_500).unwrap();
        disk.sync().unwrap();
        let before = disk.traffic();
        let expected = DiskTraffic {
            reads: 2,
            read_bytes: 110,
            writes: 1,
            written_bytes: 1_000,
            syncs: 1,
        };
        assert_eq!(before, expected);
        disk.read_at(&mut [0; 10], 9_000).unwrap_err();
        below.set_quota(Some(5_500));
        disk.write_at(&[0; 10], 5_500).unwrap_err();
        below.add_fault(Fault {
            kind: FaultKind::Sync,
            nth: 1,
            is_persistent: false,
            error: io::ErrorKind::Other,
            effect: 0,
        });
        disk.sync().unwrap_err();
        assert_eq!(disk.traffic(), before);
        assert_eq!(disk.traffic().since(&before), DiskTraffic::default());
        assert_eq!((disk.len().unwrap(), disk.name()), (5_500, below.name()));
    }
}
