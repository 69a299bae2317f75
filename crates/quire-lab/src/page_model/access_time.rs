//! How long does access to a page take, by where it is found? Paper 4, §IV-B, equations 1 and 2.

use super::hit_rates::HitRates;

pub(super) const MIB_BYTES: f64 = 1_048_576.0;
const SECOND_US: f64 = 1e6;

/// The time in microseconds that `bytes` take at a throughput in MiB/s; the paper writes MB/s and counts MiB.
///
/// `None` unless both are positive and finite.
///
/// ```
/// use quire_lab::page_model::transfer_us;
///
/// // Table II: random reads of 16 KiB at 31.30 MB/s.
/// let read_us = transfer_us(16_384.0, 31.30);
/// assert_eq!(read_us.map(|us| (us * 100.0).round()), Some(49_920.0));
/// assert_eq!(transfer_us(16_384.0, 0.0), None);
/// ```
pub fn transfer_us(bytes: f64, throughput_mib_s: f64) -> Option<f64> {
    let is_positive = |value: f64| value > 0.0 && value.is_finite();
    (is_positive(bytes) && is_positive(throughput_mib_s))
        .then(|| bytes / (throughput_mib_s * MIB_BYTES) * SECOND_US)
}

/// Equation 1 (§IV-B): the mean time of access to a page in a pool without compression, in microseconds:
/// *T = T disk (1 - Hu)*. Access to memory takes no time.
///
/// `None` if the time of a disk read is negative or not finite.
///
/// ```
/// use quire_lab::page_model::{HitRates, uncompressed_access_us};
///
/// let hits = HitRates::new(0.75, 0.0).ok_or("no hit rate")?;
/// assert_eq!(uncompressed_access_us(400.0, hits), Some(100.0));
/// assert_eq!(uncompressed_access_us(-1.0, hits), None);
/// # Ok::<(), &str>(())
/// ```
pub fn uncompressed_access_us(disk_us: f64, hits: HitRates) -> Option<f64> {
    is_duration(disk_us).then(|| disk_us * (1.0 - hits.uncompressed()))
}

/// Equation 2 (§IV-B): the mean time of access to a page in a pool of compressed and uncompressed pages, in microseconds:
/// *T = T disk (1 - Hu - Hc) + T d (1 - Hu)*.
///
/// `None` if a time is negative or not finite.
///
/// ```
/// use quire_lab::page_model::{HitRates, compressed_access_us};
///
/// // Half of all accesses find the page uncompressed, a quarter compressed; a quarter reads it, and then decompresses it, too.
/// let hits = HitRates::new(0.5, 0.25).ok_or("no hit rates")?;
/// assert_eq!(compressed_access_us(400.0, 40.0, hits), Some(120.0));
/// assert_eq!(compressed_access_us(400.0, f64::NAN, hits), None);
/// # Ok::<(), &str>(())
/// ```
pub fn compressed_access_us(disk_us: f64, decompression_us: f64, hits: HitRates) -> Option<f64> {
    (is_duration(disk_us) && is_duration(decompression_us))
        .then(|| disk_us * hits.misses() + decompression_us * (1.0 - hits.uncompressed()))
}

fn is_duration(us: f64) -> bool {
    us >= 0.0 && us.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(uncompressed: f64, compressed: f64) -> HitRates {
        HitRates::new(uncompressed, compressed).unwrap()
    }

    #[test]
    fn without_hits_a_page_is_read_and_decompressed() {
        assert_eq!(uncompressed_access_us(500.0, hits(0.0, 0.0)), Some(500.0));
        let access_us = compressed_access_us(300.0, 50.0, hits(0.0, 0.0));
        assert_eq!(access_us, Some(350.0));
    }

    #[test]
    fn hits_of_compressed_pages_cost_decompression_alone() {
        assert_eq!(
            compressed_access_us(300.0, 50.0, hits(0.0, 1.0)),
            Some(50.0)
        );
        assert_eq!(compressed_access_us(300.0, 50.0, hits(1.0, 0.0)), Some(0.0));
    }

    #[test]
    fn what_is_no_time_gives_none() {
        for wrong in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(uncompressed_access_us(wrong, hits(0.5, 0.0)), None);
            assert_eq!(compressed_access_us(wrong, 1.0, hits(0.5, 0.0)), None);
            assert_eq!(compressed_access_us(1.0, wrong, hits(0.5, 0.0)), None);
        }
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(transfer_us(wrong, 1.0), None);
            assert_eq!(transfer_us(1.0, wrong), None);
        }
    }
}
