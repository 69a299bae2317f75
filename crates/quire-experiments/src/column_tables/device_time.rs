//! How long a device needs for what it was asked, and devices that are faster than they are.

use std::time::Duration;

use quire_store::disk::{DeviceProfile, ThrottleStatistics};

/// Reads of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DeviceWork {
    pub(crate) read_bytes: u64,
    /// For which bytes were transferred, on all buses together.
    pub(crate) transfer: Duration,
    /// Of all requests together.
    pub(crate) latency: Duration,
}

impl DeviceWork {
    /// What happened between two looks at a device.
    pub(crate) fn between(before: &ThrottleStatistics, after: &ThrottleStatistics) -> Self {
        Self {
            read_bytes: after.read_bytes.saturating_sub(before.read_bytes),
            transfer: after.transfer.saturating_sub(before.transfer),
            latency: after.latency.saturating_sub(before.latency),
        }
    }

    /// The same work on a device that is so many times slower.
    pub(crate) fn slowed(&self, slowness: f64) -> Self {
        Self {
            transfer: self.transfer.mul_f64(slowness),
            latency: self.latency.mul_f64(slowness),
            ..*self
        }
    }

    /// The least time in which the device can do it. Each of its buses transfers one request after the other; a request also
    /// occupies one of the `parallel_accesses` from its latency to the end of its transfer. The busier of both decides, not their sum.
    pub(crate) fn seconds(&self, profile: &DeviceProfile) -> f64 {
        let transfer = self.transfer.as_secs_f64();
        let occupied = self.latency.as_secs_f64() + transfer;
        let on_the_buses = transfer / profile.parallel_transfers.max(1) as f64;
        on_the_buses.max(occupied / profile.parallel_accesses.max(1) as f64)
    }
}

/// The device with `speed` times its bandwidth and that part of its latencies.
///
/// A machine with a slower processor is measured in quick motion. Let its processor take `speed` times as long as ours for everything. A query that runs on ours, with
/// a device that is `speed` times as fast as that machine's, takes the same course as there: it computes, reads ahead and waits at the same points, each in that part
/// of the time. So its times there are ours times `speed`.
pub(crate) fn sped_up(profile: DeviceProfile, speed: f64) -> DeviceProfile {
    let rate = |bytes_per_second: u64| (bytes_per_second as f64 * speed) as u64;
    let shorter = |latency: Duration| latency.mul_f64(1.0 / speed);
    DeviceProfile {
        read_latency: shorter(profile.read_latency),
        write_latency: shorter(profile.write_latency),
        sequential_latency: shorter(profile.sequential_latency),
        sync_latency: shorter(profile.sync_latency),
        read_bytes_per_second: rate(profile.read_bytes_per_second),
        write_bytes_per_second: rate(profile.write_bytes_per_second),
        ..profile
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_was_sped_up_and_slowed_is_as_it_was() {
        let profile = DeviceProfile::RAID_12;
        let fast = sped_up(profile, 4.0);
        assert_eq!(fast.read_bytes_per_second, 1_400_000_000);
        assert_eq!(fast.read_latency, Duration::from_millis(2));
        assert_eq!(fast.parallel_accesses, profile.parallel_accesses);
        // 700 MB in 35 requests: 2 s and 35 latencies of 8 ms.
        let work = DeviceWork {
            read_bytes: 700_000_000,
            transfer: Duration::from_millis(500),
            latency: fast.read_latency * 35,
        };
        let slowed = work.slowed(4.0);
        assert_eq!(slowed.transfer, Duration::from_secs(2));
        assert_eq!(slowed.latency, profile.read_latency * 35);
        assert_eq!(slowed.read_bytes, work.read_bytes);
        assert_eq!(slowed.seconds(&profile), 4.0 * work.seconds(&fast));
    }

    #[test]
    fn the_busier_part_of_the_device_decides() {
        let work = |transfer, latency| DeviceWork {
            transfer: Duration::from_secs(transfer),
            latency: Duration::from_secs(latency),
            ..DeviceWork::default()
        };
        let one_arm = DeviceProfile::DISK_7200_RPM;
        let four_arms = DeviceProfile::RAID_4;
        // With one access at a time latencies and transfers add up.
        assert_eq!(work(3, 8).seconds(&one_arm), 11.0);
        assert_eq!(work(3, 8).seconds(&four_arms), 3.0);
        assert_eq!(work(3, 17).seconds(&four_arms), 5.0);
    }
}
