//! How long does access to a page take? Paper 4, §IV-B, equations 1 and 2, for a device and so much memory.

use quire_store::disk::DeviceProfile;
use quire_store::pool::expected_access_time;

use super::hit_rates::PoolHits;

/// Shares of the pool that images may take are tried in so many steps.
const SHARE_STEPS: u32 = 64;

/// What one access reads from the device if nothing is in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AccessReads {
    /// Requests.
    pub(super) count: f64,
    /// Bytes of all of them.
    pub(super) bytes: f64,
}

impl AccessReads {
    /// *T disk*, in microseconds: latencies overlap as far as the device's queue goes, transfers do not.
    pub(super) fn disk_us(self, device: &DeviceProfile) -> f64 {
        let waits = (self.count / device.parallel_accesses.max(1) as f64).max(1.0);
        let latency_us = device.read_latency.as_secs_f64() * 1e6;
        let transfer_us = self.bytes / device.read_bytes_per_second.max(1) as f64 * 1e6;
        waits * latency_us + transfer_us
    }
}

/// How a layout keeps what it has read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum KeptPages {
    /// Pages as they are; in memory so many bytes.
    Plain { bytes: f64 },
    /// Pages and their images; so many bytes each. The share of the pool that images take is the one that makes an access shortest, because the pool tunes
    /// itself (`quire_store::pool`).
    WithImages { bytes: f64, image_bytes: f64 },
    /// Images alone, which are decoded at every access.
    Images { bytes: f64 },
}

impl KeptPages {
    /// Mean time of an access in microseconds, with *T disk* and *T d* in microseconds.
    pub(super) fn access_us(self, disk_us: f64, decode_us: f64, memory_bytes: f64) -> f64 {
        let pool = memory_bytes.max(1.0);
        let time = |hits: PoolHits, decode_us| {
            expected_access_time(disk_us, decode_us, hits.hot, hits.warm)
        };
        match self {
            Self::Plain { bytes } => time(PoolHits::without_images(bytes.max(1.0) / pool), 0.0),
            Self::Images { bytes } => {
                // R = 1 and r = 1: images are what there is to keep.
                time(
                    PoolHits::with_images(bytes.max(1.0) / pool, 1.0, 1.0),
                    decode_us,
                )
            }
            Self::WithImages { bytes, image_bytes } => {
                let bytes = bytes.max(1.0);
                let fraction = (image_bytes / bytes).clamp(1e-6, 1.0);
                let least = fraction / (1.0 + fraction);
                let shares = (0..=SHARE_STEPS).map(|step| {
                    let step = f64::from(step) / f64::from(SHARE_STEPS);
                    least + (1.0 - least) * step
                });
                shares
                    .map(|share| {
                        time(
                            PoolHits::with_images(bytes / pool, share, fraction),
                            decode_us,
                        )
                    })
                    .fold(f64::INFINITY, f64::min)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_in_memory_costs_no_read_and_one_that_is_not_costs_all() {
        let plain = KeptPages::Plain { bytes: 1e6 };
        assert_eq!(plain.access_us(300.0, 50.0, 2e6), 0.0);
        assert_eq!(plain.access_us(300.0, 50.0, 5e5), 150.0);
        let images = KeptPages::Images { bytes: 1e6 };
        assert_eq!(images.access_us(300.0, 50.0, 1e6), 50.0);
        assert!((images.access_us(300.0, 50.0, 2.5e5) - (225.0 + 50.0)).abs() < 1e-9);
    }

    #[test]
    fn a_pool_that_tunes_itself_is_no_worse_than_one_share_for_images() {
        let pages = KeptPages::WithImages {
            bytes: 11e9,
            image_bytes: 3.3e9,
        };
        // Paper 4 has R = 0.9, D / BS = 11 and r = 0.3.
        let fixed = PoolHits::with_images(11.0, 0.9, 0.3);
        let fixed = expected_access_time(303.63, 26.6, fixed.hot, fixed.warm);
        let tuned = pages.access_us(303.63, 26.6, 1e9);
        assert!(tuned <= fixed + 1e-9 && tuned > 0.0, "{tuned} {fixed}");
        // Where undoing takes longer than reading, images are worth nothing.
        let slow = pages.access_us(10.0, 1e4, 1e9);
        let copies = PoolHits::with_images(11.0, 0.3 / 1.3, 0.3);
        let expected = expected_access_time(10.0, 1e4, copies.hot, copies.warm);
        assert!((slow - expected).abs() < 1e-6, "{slow} {expected}");
    }

    #[test]
    fn reads_beside_each_other_wait_once_for_each_full_queue() {
        let reads = AccessReads {
            count: 16.0,
            bytes: 0.0,
        };
        assert_eq!(reads.disk_us(&DeviceProfile::NVME_SSD), 80.0);
        assert_eq!(reads.disk_us(&DeviceProfile::SATA_SSD), 180.0);
    }
}
