//! The model of a device: when it would complete a request.
//!
//! A device has *slots*, in which the latencies of requests overlap, and one bus, which transfers their bytes one request after the
//! other. The model keeps the time at which each slot and the bus become free, so that an idle device accumulates no credit.

use std::time::Duration;

use super::profile::DeviceProfile;

/// A request to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeviceRequest {
    Read { offset: u64, bytes: u64 },
    Write { offset: u64, bytes: u64 },
    Sync,
}

/// The state of a device. Times are measured from its creation.
pub(super) struct Timeline {
    profile: DeviceProfile,
    slots_free_at: Vec<Duration>,
    connection_free_at: Duration,
    /// Offset at which the last request ended.
    position: u64,
    /// Total time for which the bus was busy.
    pub(super) transfer: Duration,
    /// Sum over all reads and writes of the time to the first byte, from when a slot was free.
    pub(super) latency: Duration,
}

impl Timeline {
    pub(super) fn new(profile: DeviceProfile) -> Self {
        Self {
            slots_free_at: vec![Duration::ZERO; profile.parallel_accesses.max(1)],
            profile,
            connection_free_at: Duration::ZERO,
            position: 0,
            transfer: Duration::ZERO,
            latency: Duration::ZERO,
        }
    }

    /// When a request completes that is submitted at `now`.
    pub(super) fn done_at(&mut self, now: Duration, access: DeviceRequest) -> Duration {
        let profile = self.profile;
        match access {
            DeviceRequest::Read { offset, bytes } => {
                let rate = profile.read_bytes_per_second;
                self.transfer(now, profile.read_latency, offset, bytes, rate)
            }
            DeviceRequest::Write { offset, bytes } => {
                let rate = profile.write_bytes_per_second;
                self.transfer(now, profile.write_latency, offset, bytes, rate)
            }
            DeviceRequest::Sync => {
                // A sync waits for all requests submitted before it.
                let free_at = self.slots_free_at.iter().max();
                let done_at = now.max(free_at.copied().unwrap_or(now)) + profile.sync_latency;
                self.slots_free_at.fill(done_at);
                done_at
            }
        }
    }

    fn transfer(
        &mut self,
        now: Duration,
        latency: Duration,
        offset: u64,
        bytes: u64,
        bytes_per_second: u64,
    ) -> Duration {
        let latency = if offset == self.position {
            self.profile.sequential_latency.min(latency)
        } else {
            latency
        };
        self.position = offset.saturating_add(bytes);
        let transfer = Duration::from_secs_f64(bytes as f64 / bytes_per_second.max(1) as f64);
        let Some(slot) = self.slots_free_at.iter_mut().min() else {
            return now;
        };
        let first_byte = (now.max(*slot) + latency).max(self.connection_free_at);
        let done_at = first_byte + transfer;
        *slot = done_at;
        self.connection_free_at = done_at;
        self.transfer += transfer;
        self.latency += latency;
        done_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE: DeviceProfile = DeviceProfile {
        name: "of a test",
        read_latency: Duration::from_micros(100),
        write_latency: Duration::from_micros(40),
        sequential_latency: Duration::from_micros(10),
        sync_latency: Duration::from_micros(1_000),
        read_bytes_per_second: 1_000_000,
        write_bytes_per_second: 500_000,
        parallel_accesses: 3,
    };

    fn read(offset: u64) -> DeviceRequest {
        DeviceRequest::Read { offset, bytes: 5 }
    }

    /// Microseconds.
    fn done(timeline: &mut Timeline, now: u64, access: DeviceRequest) -> u128 {
        let done_at = timeline.done_at(Duration::from_micros(now), access);
        done_at.as_micros()
    }

    #[test]
    fn latencies_pass_side_by_side_and_bytes_one_after_the_other() {
        let mut device = Timeline::new(DEVICE);
        let times = [10, 30, 50, 70, 90].map(|offset| done(&mut device, 0, read(offset)));
        // Three slots: the fourth begins when the first is done.
        assert_eq!(times, [105, 110, 115, 210, 215]);
        assert_eq!(device.transfer, Duration::from_micros(25));
        assert_eq!(device.latency, Duration::from_micros(500));
        // Where the last request ended.
        done(&mut device, 0, read(95));
        assert_eq!(device.latency, Duration::from_micros(510));
    }

    #[test]
    fn an_idle_device_saves_nothing_up() {
        let mut device = Timeline::new(DEVICE);
        assert_eq!(done(&mut device, 0, read(10)), 105);
        assert_eq!(done(&mut device, 9_000, read(30)), 9_105);
        let write = DeviceRequest::Write {
            offset: 0,
            bytes: 50,
        };
        assert_eq!(done(&mut device, 20_000, write), 20_140);
    }

    #[test]
    fn who_goes_on_where_the_access_before_ended_waits_less() {
        let mut device = Timeline::new(DEVICE);
        assert_eq!(done(&mut device, 0, read(10)), 105);
        assert_eq!(done(&mut device, 200, read(15)), 215);
        assert_eq!(done(&mut device, 300, read(15)), 405);
    }

    #[test]
    fn a_sync_waits_for_what_was_asked_and_others_for_it() {
        let mut device = Timeline::new(DEVICE);
        assert_eq!(done(&mut device, 0, read(10)), 105);
        assert_eq!(done(&mut device, 0, DeviceRequest::Sync), 1_105);
        assert_eq!(done(&mut device, 500, read(30)), 1_210);
    }

    #[test]
    fn long_reads_in_order_reach_the_bandwidth_that_is_asked_for() {
        for megabytes in [50, 100, 200, 350, 700, 1_500, 3_000] {
            let bytes_per_second = megabytes * 1_000_000;
            let profile = DeviceProfile::NVME_SSD.with_bandwidth(bytes_per_second);
            let mut device = Timeline::new(profile);
            // Four requests are always submitted: each when the fourth before it is done.
            let mut done_at = vec![Duration::ZERO; 4];
            for number in 0..1_000_u64 {
                let (offset, bytes) = (number << 21, 1 << 21);
                let now = done_at[done_at.len() - 4];
                done_at.push(device.done_at(now, DeviceRequest::Read { offset, bytes }));
            }
            let seconds = done_at.last().map_or(0.0, Duration::as_secs_f64);
            let rate = (1_000_u64 << 21) as f64 / seconds;
            let share = rate / bytes_per_second as f64;
            assert!((0.99..=1.0).contains(&share), "{megabytes} MB/s: {share}");
        }
    }

    #[test]
    fn the_compressing_drive_writes_as_many_blocks_as_it_names() {
        let mut device = Timeline::new(DeviceProfile::CSD_2021);
        let count = 100_000;
        let last = (0..count).map(|number| {
            let offset = (number * 7_919 % count) * 8_192;
            let bytes = 4_096;
            device.done_at(Duration::ZERO, DeviceRequest::Write { offset, bytes })
        });
        let seconds = last.max().map_or(0.0, |done_at| done_at.as_secs_f64());
        let rate = count as f64 / seconds;
        assert!((510_000.0..530_000.0).contains(&rate), "{rate}");
    }

    #[test]
    fn each_profile_has_a_name_that_is_typed() {
        for profile in DeviceProfile::ALL {
            let typed = profile.typed_name().unwrap();
            assert_eq!(DeviceProfile::from_typed_name(typed), Some(profile));
            let constant = typed.to_uppercase().replace('-', "_");
            assert_eq!(DeviceProfile::from_typed_name(&constant), Some(profile));
        }
        assert_eq!(DeviceProfile::from_typed_name("tape"), None);
    }

    #[test]
    fn the_profiles_reach_the_rates_they_name() {
        for (profile, reads_per_second) in [
            (DeviceProfile::DISK_OF_1998, 70.0..80.0),
            (DeviceProfile::DISK_7200_RPM, 78.0..85.0),
            (DeviceProfile::RAID_12, 1_450.0..1_510.0),
            (DeviceProfile::RAID_4, 480.0..510.0),
            (DeviceProfile::SATA_SSD, 80_000.0..90_000.0),
            (DeviceProfile::NVME_SSD, 600_000.0..800_000.0),
            (DeviceProfile::CSD_2021, 630_000.0..660_000.0),
        ] {
            let mut device = Timeline::new(profile);
            let count = 100_000;
            let last = (0..count).map(|number| {
                let offset = (number * 7_919 % count) * 8_192;
                device.done_at(
                    Duration::ZERO,
                    DeviceRequest::Read {
                        offset,
                        bytes: 4_096,
                    },
                )
            });
            let seconds = last.max().map_or(0.0, |done_at| done_at.as_secs_f64());
            let rate = count as f64 / seconds;
            assert!(reads_per_second.contains(&rate), "{}: {rate}", profile.name);
        }
    }
}
