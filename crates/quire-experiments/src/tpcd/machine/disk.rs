//! A disk that is as slow as a device with memory in front of it.
//!
//! `quire_store`'s `ThrottledDisk` has profiles of devices that are asked directly: each access waits for its own bytes. The paper's system read through the
//! files of Solaris, which reads ahead and writes behind, so that processor and disk work at the same time.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use quire_store::Disk;
use quire_store::disk::{DeviceClock, DeviceProfile};

use super::device::{Buffered, DeviceBuffer, DiskAccess};

/// Files of a device are so far from each other that none ever reaches the next.
const FILE_SPACE_BYTES: u64 = 1 << 40;
/// Behind so many files their places are used again.
const FILE_PLACES: u64 = 1 << 20;

/// A device, which has one arm for all files on it.
pub(crate) struct SharedDevice {
    state: Mutex<Buffered>,
    file_count: AtomicU64,
    call_ns: AtomicU64,
    written_bytes: AtomicU64,
}

impl SharedDevice {
    pub(crate) fn new((profile, buffer): (DeviceProfile, DeviceBuffer)) -> Self {
        Self {
            state: Mutex::new(Buffered::new(profile, buffer)),
            file_count: AtomicU64::new(0),
            call_ns: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
        }
    }

    /// How long this machine's system was at reading and writing the files.
    pub(crate) fn calls(&self) -> Duration {
        Duration::from_nanos(self.call_ns.load(Ordering::Relaxed))
    }

    /// Bytes that were written.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.written_bytes.load(Ordering::Relaxed)
    }

    /// A file on this device, which is `disk` in truth.
    pub(crate) fn file<C>(self: &Arc<Self>, disk: Arc<dyn Disk>, clock: Arc<C>) -> BufferedDisk<C> {
        let number = self.file_count.fetch_add(1, Ordering::Relaxed);
        BufferedDisk {
            disk,
            clock,
            device: Arc::clone(self),
            begin: number % FILE_PLACES * FILE_SPACE_BYTES,
        }
    }

    fn called<R>(&self, call: impl FnOnce() -> R) -> R {
        let started = Instant::now();
        let done = call();
        let call_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.call_ns.fetch_add(call_ns, Ordering::Relaxed);
        done
    }
}

/// A file on a slow device.
pub(crate) struct BufferedDisk<C> {
    disk: Arc<dyn Disk>,
    clock: Arc<C>,
    device: Arc<SharedDevice>,
    /// Where it begins on the device.
    begin: u64,
}

impl<C: DeviceClock> BufferedDisk<C> {
    fn take_time(&self, access: DiskAccess) {
        let now = self.clock.now();
        let done_at = {
            let state = self.device.state.lock();
            let mut state = state.unwrap_or_else(PoisonError::into_inner);
            state.done_at(now, access)
        };
        self.clock.wait_until(done_at);
    }
}

impl<C: DeviceClock> Disk for BufferedDisk<C> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.take_time(DiskAccess::Read {
            offset: self.begin.saturating_add(offset),
            bytes: buffer.len() as u64,
        });
        self.device.called(|| self.disk.read_at(buffer, offset))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let written_bytes = bytes.len() as u64;
        self.take_time(DiskAccess::Write {
            offset: self.begin.saturating_add(offset),
            bytes: written_bytes,
        });
        let written = &self.device.written_bytes;
        written.fetch_add(written_bytes, Ordering::Relaxed);
        self.device.called(|| self.disk.write_at(bytes, offset))
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

#[cfg(test)]
mod tests {
    use quire_store::MemDisk;

    use super::*;
    use crate::tpcd::machine::ProcessorClock;
    use crate::tpcd::paper;

    #[test]
    fn files_of_one_device_wait_for_its_arm_and_those_of_another_do_not() {
        // A processor that takes no time.
        let clock = Arc::new(ProcessorClock::new(0.0));
        let first = Arc::new(SharedDevice::new(paper::disk()));
        let second = Arc::new(SharedDevice::new(paper::disk()));
        let memory = || -> Arc<dyn Disk> { Arc::new(MemDisk::new()) };
        let [one, other] = [(); 2].map(|()| first.file(memory(), Arc::clone(&clock)));
        let apart = second.file(memory(), Arc::clone(&clock));
        let bytes = vec![7; 4096];
        for file in [&one, &other, &apart] {
            file.write_at(&bytes, 0).expect("a write");
        }
        assert_eq!(
            (first.written_bytes(), second.written_bytes()),
            (8192, 4096)
        );
        for file in [&one, &other, &apart] {
            file.sync().expect("a sync");
        }
        let mut read = vec![0; 4096];
        let mut duration = |file: &BufferedDisk<ProcessorClock>, offset: u64| {
            let before = clock.now();
            file.read_at(&mut read, offset).expect("a read");
            (clock.now() - before).as_secs_f64()
        };
        let (profile, _) = paper::disk();
        let seek = profile.read_latency.as_secs_f64();
        let transfer = 4096.0 / profile.read_bytes_per_second as f64;
        // The arm goes to and fro between files of one device. What has been read of one stays in memory.
        for file in [&one, &other] {
            assert!((duration(file, 0) - seek - transfer).abs() < 1e-6);
        }
        assert!((duration(&apart, 0) - seek - transfer).abs() < 1e-6);
        for file in [&one, &other, &apart] {
            assert!(duration(file, 0) < 1e-9);
        }
    }
}
