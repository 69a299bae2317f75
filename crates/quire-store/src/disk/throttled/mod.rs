//! A disk that is as slow as another device: experiments in which the disk decides repeat on any machine.

mod clock;
mod profile;
mod timeline;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use clock::{DeviceClock, RealClock};
pub use profile::DeviceProfile;

use super::Disk;
use timeline::{DeviceRequest, Timeline};

/// A disk in front of another one that lets every access take as long as it would on a device.
///
/// What the disk below needs is part of that time. Where it needs more, as a device that is slower than the profile does, the
/// access takes that long, and [`ThrottleStatistics::late`] says by how much it was late.
pub struct ThrottledDisk {
    disk: Arc<dyn Disk>,
    clock: Arc<dyn DeviceClock>,
    state: Mutex<ThrottledDiskState>,
}

struct ThrottledDiskState {
    timeline: Timeline,
    statistics: ThrottleStatistics,
}

/// What a throttled disk was asked, and how long the device took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThrottleStatistics {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Syncs.
    pub syncs: u64,
    /// Bytes of the reads.
    pub read_bytes: u64,
    /// Bytes of the writes.
    pub written_bytes: u64,
    /// For which the connection of the device was in use.
    pub transfer: Duration,
    /// Of all accesses together, from being asked to being done, waiting for others included.
    pub service: Duration,
    /// What the disk below took longer than the device would have.
    pub late: Duration,
}

impl ThrottledDisk {
    /// Makes `disk` as slow as a device.
    #[must_use]
    pub fn new(disk: Arc<dyn Disk>, profile: DeviceProfile) -> Self {
        Self::with_clock(disk, profile, Arc::new(RealClock::new()))
    }

    /// The same by another clock.
    #[must_use]
    pub fn with_clock(
        disk: Arc<dyn Disk>,
        profile: DeviceProfile,
        clock: Arc<dyn DeviceClock>,
    ) -> Self {
        let state = ThrottledDiskState {
            timeline: Timeline::new(profile),
            statistics: ThrottleStatistics::default(),
        };
        Self {
            disk,
            clock,
            state: Mutex::new(state),
        }
    }

    /// What has happened so far.
    #[must_use]
    pub fn statistics(&self) -> ThrottleStatistics {
        let state = self.lock();
        ThrottleStatistics {
            transfer: state.timeline.transfer,
            ..state.statistics
        }
    }

    /// Does `act`, and returns when the device would have done the access.
    fn take_time<R>(
        &self,
        access: DeviceRequest,
        act: impl FnOnce(&dyn Disk) -> io::Result<R>,
    ) -> io::Result<R> {
        let asked_at = self.clock.now();
        let done_at = {
            let mut state = self.lock();
            state.statistics.count(access);
            let done_at = state.timeline.done_at(asked_at, access);
            state.statistics.service += done_at.saturating_sub(asked_at);
            done_at
        };
        let result = act(&*self.disk);
        let late = self.clock.now().saturating_sub(done_at);
        if late.is_zero() {
            self.clock.wait_until(done_at)
        } else {
            self.lock().statistics.late += late
        }
        result
    }

    fn lock(&self) -> MutexGuard<'_, ThrottledDiskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ThrottleStatistics {
    fn count(&mut self, access: DeviceRequest) {
        match access {
            DeviceRequest::Read { bytes, .. } => {
                self.reads += 1;
                self.read_bytes += bytes;
            }
            DeviceRequest::Write { bytes, .. } => {
                self.writes += 1;
                self.written_bytes += bytes;
            }
            DeviceRequest::Sync => self.syncs += 1,
        }
    }
}

impl Disk for ThrottledDisk {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = buffer.len() as u64;
        self.take_time(DeviceRequest::Read { offset, bytes }, |disk| {
            disk.read_at(buffer, offset)
        })
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let access = DeviceRequest::Write {
            offset,
            bytes: bytes.len() as u64,
        };
        self.take_time(access, |disk| disk.write_at(bytes, offset))
    }

    fn sync(&self) -> io::Result<()> {
        self.take_time(DeviceRequest::Sync, |disk| disk.sync())
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
