//! A disk that is as slow as a device with memory in front of it.
//!
//! `quire_store`'s `ThrottledDisk` has profiles of devices that are asked directly: each access waits for its own bytes. The paper's system read through the
//! files of Solaris, which reads ahead and writes behind, so that processor and disk work at the same time.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use quire_store::Disk;
use quire_store::disk::{DeviceClock, DeviceProfile};

use super::device::{Buffered, DeviceBuffer, DiskAccess};

/// A disk in front of another one.
pub(crate) struct BufferedDisk<C> {
    disk: Arc<dyn Disk>,
    clock: Arc<C>,
    device: Mutex<Buffered>,
}

impl<C: DeviceClock> BufferedDisk<C> {
    /// Makes `disk` as slow as a device, by this clock.
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        (profile, buffer): (DeviceProfile, DeviceBuffer),
        clock: Arc<C>,
    ) -> Self {
        Self {
            disk,
            clock,
            device: Mutex::new(Buffered::new(profile, buffer)),
        }
    }

    fn take_time(&self, access: DiskAccess) {
        let now = self.clock.now();
        let done_at = {
            let mut device = self.device.lock().unwrap_or_else(PoisonError::into_inner);
            device.done_at(now, access)
        };
        self.clock.wait_until(done_at);
    }
}

impl<C: DeviceClock> Disk for BufferedDisk<C> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.take_time(DiskAccess::Read {
            offset,
            bytes: buffer.len() as u64,
        });
        self.disk.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.take_time(DiskAccess::Write {
            offset,
            bytes: bytes.len() as u64,
        });
        self.disk.write_at(bytes, offset)
    }

    /// The file below is not synced: nothing is lost that could not be made again.
    fn sync(&self) -> io::Result<()> {
        self.take_time(DiskAccess::Sync);
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        self.disk.len()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.disk.set_len(bytes)
    }

    fn name(&self) -> String {
        self.disk.name()
    }
}
