//! A disk with the latency and bandwidth of another device, so that I/O-bound experiments are reproducible on any machine.

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

/// Wraps a disk and delays each read, write and sync until the modelled device would have completed it.
///
/// The time that the underlying disk takes counts towards the delay. If it takes longer than the model, the request is not delayed
/// further, and the difference is added to [`ThrottleStatistics::late`].
pub struct ThrottledDisk {
    disk: Arc<dyn Disk>,
    clock: Arc<dyn DeviceClock>,
    state: Mutex<ThrottledDiskState>,
}

struct ThrottledDiskState {
    timeline: Timeline,
    statistics: ThrottleStatistics,
}

/// Requests to a throttled disk, and their times on the modelled device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThrottleStatistics {
    /// Number of reads.
    pub reads: u64,
    /// Number of writes.
    pub writes: u64,
    /// Number of syncs.
    pub syncs: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Time for which the device transferred bytes: the sum over its buses.
    pub transfer: Duration,
    /// Sum over all reads and writes of their latencies, those that overlap included.
    pub latency: Duration,
    /// Sum over all requests of the time from submission to completion, including the time in the queue.
    pub service: Duration,
    /// Sum over all requests of the time by which the underlying disk exceeded the model.
    pub late: Duration,
}

impl ThrottledDisk {
    /// Throttles `disk` to `profile`, in real time.
    #[must_use]
    pub fn new(disk: Arc<dyn Disk>, profile: DeviceProfile) -> Self {
        Self::with_clock(disk, profile, Arc::new(RealClock::new()))
    }

    /// Throttles `disk` to `profile` by another clock, for tests.
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

    /// Totals since the disk was created.
    #[must_use]
    pub fn statistics(&self) -> ThrottleStatistics {
        let state = self.lock();
        ThrottleStatistics {
            transfer: state.timeline.transfer,
            latency: state.timeline.latency,
            ..state.statistics
        }
    }

    /// Runs `perform` on the underlying disk, and returns when the device would have completed `request`.
    fn throttle<R>(
        &self,
        request: DeviceRequest,
        perform: impl FnOnce(&dyn Disk) -> io::Result<R>,
    ) -> io::Result<R> {
        let submitted_at = self.clock.now();
        // The lock covers only the model, which queues requests in the order in which they take it. The I/O itself and the wait
        // happen without it, so that concurrent requests overlap as they would on the device.
        let completed_at = {
            let mut state = self.lock();
            state.statistics.count(request);
            let completed_at = state.timeline.done_at(submitted_at, request);
            state.statistics.service += completed_at.saturating_sub(submitted_at);
            completed_at
        };
        let result = perform(&*self.disk);
        let late = self.clock.now().saturating_sub(completed_at);
        if late.is_zero() {
            self.clock.wait_until(completed_at)
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
    fn count(&mut self, request: DeviceRequest) {
        match request {
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
        self.throttle(DeviceRequest::Read { offset, bytes }, |disk| {
            disk.read_at(buffer, offset)
        })
    }

    fn read_scattered_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = buffer.len() as u64;
        self.throttle(DeviceRequest::Read { offset, bytes }, |disk| {
            disk.read_scattered_at(buffer, offset)
        })
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let request = DeviceRequest::Write {
            offset,
            bytes: bytes.len() as u64,
        };
        self.throttle(request, |disk| disk.write_at(bytes, offset))
    }

    fn sync(&self) -> io::Result<()> {
        self.throttle(DeviceRequest::Sync, |disk| disk.sync())
    }

    // The model has no cost for metadata operations.
    fn len(&self) -> io::Result<u64> {
        self.disk.len()
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
