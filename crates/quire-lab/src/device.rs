//! A device of a given bandwidth, for equation 6.1.

use std::hint::spin_loop;
use std::time::Instant;

/// Delivers bytes in order at one bandwidth, from the moment it is made, and goes on while the processor works: the equation
/// has I/O and processing overlap, too. Bytes are in memory; only their arrival is simulated, in real time.
#[derive(Debug)]
pub(crate) struct SimulatedDevice {
    bytes_per_ns: f64,
    requested_bytes: u64,
    start: Instant,
}

impl SimulatedDevice {
    /// Of so many millions of bytes per second.
    pub(crate) fn new(mb_s: f64) -> Self {
        Self {
            bytes_per_ns: mb_s / 1e3,
            requested_bytes: 0,
            start: Instant::now(),
        }
    }

    /// Waits until the next `bytes` have arrived. A sleeping thread would wake up too late.
    pub(crate) fn wait_for(&mut self, bytes: usize) {
        self.requested_bytes += bytes as u64;
        let arrival_ns = self.requested_bytes as f64 / self.bytes_per_ns;
        while (self.start.elapsed().as_nanos() as f64) < arrival_ns {
            spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_arrive_no_earlier_than_the_bandwidth_allows() {
        let start = Instant::now();
        let mut device = SimulatedDevice::new(100.0);
        for _ in 0..10 {
            device.wait_for(10_000);
        }
        // 100,000 bytes at 100 bytes a microsecond.
        assert!(start.elapsed().as_micros() >= 1_000);
    }
}
