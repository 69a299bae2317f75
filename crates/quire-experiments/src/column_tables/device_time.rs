//! How long a device needs for what it was asked.

use std::time::Duration;

use quire_store::disk::{DeviceProfile, ThrottleStatistics};

/// Reads of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DeviceWork {
    pub(crate) read_bytes: u64,
    /// For which the bus was busy.
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

    /// The least time in which the device can do it. Its bus transfers one request after the other; a request also occupies one of
    /// the `parallel_accesses` from its latency to the end of its transfer. The busier of both decides, not their sum.
    pub(crate) fn seconds(&self, profile: &DeviceProfile) -> f64 {
        let transfer = self.transfer.as_secs_f64();
        let occupied = self.latency.as_secs_f64() + transfer;
        transfer.max(occupied / profile.parallel_accesses.max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
