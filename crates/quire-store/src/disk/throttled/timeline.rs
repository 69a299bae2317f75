//! The model of a device: when it would complete a request.
//!
//! A device has *slots*, in which the latencies of requests overlap, and buses, as a rule one, each of which transfers the bytes of one request
//! after the other. The model keeps the time at which each slot and bus becomes free, so that an idle device accumulates no credit.

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
    buses_free_at: Vec<Duration>,
    /// Offset at which the last request ended.
    position: u64,
    /// Total time for which the buses were busy.
    pub(super) transfer: Duration,
    /// Sum over all reads and writes of the time to the first byte, from when a slot was free.
    pub(super) latency: Duration,
}

impl Timeline {
    pub(super) fn new(profile: DeviceProfile) -> Self {
        Self {
            slots_free_at: vec![Duration::ZERO; profile.parallel_accesses.max(1)],
            buses_free_at: vec![Duration::ZERO; profile.parallel_transfers.max(1)],
            profile,
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
        let slot = self.slots_free_at.iter_mut().min();
        let bus = self.buses_free_at.iter_mut().min();
        let (Some(slot), Some(bus)) = (slot, bus) else {
            return now;
        };
        let first_byte = (now.max(*slot) + latency).max(*bus);
        let done_at = first_byte + transfer;
        *slot = done_at;
        *bus = done_at;
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
        parallel_transfers: 1,
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
    fn with_several_buses_transfers_pass_side_by_side() {
        let mut device = Timeline::new(DeviceProfile {
            parallel_transfers: 2,
            ..DEVICE
        });
        let times = [10, 30, 50, 70].map(|offset| done(&mut device, 0, read(offset)));
        // Two at once; the third waits for the first. The fourth has no slot before.
        assert_eq!(times, [105, 105, 110, 210]);
        assert_eq!(device.transfer, Duration::from_micros(20));
    }

    /// MiB/s of accesses to every other block, each submitted when the one before is done.
    fn random_rate(bytes: u64, request: impl Fn(u64) -> DeviceRequest) -> f64 {
        let mut device = Timeline::new(DeviceProfile::BAIDU_MLC);
        let end = (0..1_000).fold(Duration::ZERO, |now, number| {
            device.done_at(now, request((2 * number + 1) * bytes))
        });
        1_000.0 * bytes as f64 / f64::from(1 << 20) / end.as_secs_f64()
    }

    /// Paper 4, table II. Its MB are MiB: only so does equation 2 give the times of table VII (`pool::access_time`).
    #[test]
    fn the_disks_of_paper_4_have_its_random_rates() {
        for (bytes, read_rate, write_rate) in [(8 << 10, 25.73, 40.08), (16 << 10, 31.30, 55.82)] {
            let reads = random_rate(bytes, |offset| DeviceRequest::Read { offset, bytes });
            let writes = random_rate(bytes, |offset| DeviceRequest::Write { offset, bytes });
            assert!((reads - read_rate).abs() < 0.05, "{bytes} B: {reads}");
            assert!((writes - write_rate).abs() < 0.05, "{bytes} B: {writes}");
        }
    }

    /// Its sequential rates are not those of a device with a latency and a rate: 16 KiB are read more slowly than 8 KiB.
    #[test]
    fn the_disks_of_paper_4_have_about_its_sequential_rates() {
        for (bytes, read_rate, write_rate) in [(8 << 10, 58.22, 51.52), (16 << 10, 53.60, 78.90)] {
            let rate = |request: &dyn Fn(u64) -> DeviceRequest| {
                let mut device = Timeline::new(DeviceProfile::BAIDU_MLC);
                let end = (0..1_000).fold(Duration::ZERO, |now, number| {
                    device.done_at(now, request(number * bytes))
                });
                1_000.0 * bytes as f64 / f64::from(1 << 20) / end.as_secs_f64()
            };
            let reads = rate(&|offset| DeviceRequest::Read { offset, bytes }) / read_rate;
            let writes = rate(&|offset| DeviceRequest::Write { offset, bytes }) / write_rate;
            assert!((0.5..=1.5).contains(&reads), "{bytes} B: {reads}");
            assert!((0.5..=1.5).contains(&writes), "{bytes} B: {writes}");
        }
    }

    /// Sixteen connections, each with one request at a time (paper 4, §VI-B).
    #[test]
    fn the_disks_of_paper_4_serve_sixteen_connections_sixteen_times_as_fast() {
        let end_of = |connections: usize| {
            let mut device = Timeline::new(DeviceProfile::BAIDU_MLC);
            let mut done_at = vec![Duration::ZERO; connections];
            for number in 0..1_600 {
                let now = done_at[number % connections];
                let request = DeviceRequest::Read {
                    offset: (2 * number as u64 + 1) << 13,
                    bytes: 1 << 13,
                };
                done_at[number % connections] = device.done_at(now, request);
            }
            done_at.into_iter().max().unwrap_or_default()
        };
        assert_eq!(end_of(16) * 16, end_of(1));
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
            // 16 in 108 us and 97.8 us of transfer.
            (DeviceProfile::BAIDU_MLC, 77_000.0..78_000.0),
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
