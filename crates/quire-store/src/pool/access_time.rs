//! How long an access to a leaf takes: what paper 4 (J. Ma et al., §IV) expects, and what is measured beside it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::costs::whole_ns;
use crate::volume::ReadFrom;

/// Mean time of an access to a page by paper 4, §IV-B, equation 2, in the unit of the two times:
/// *T = T disk (1 - Hu - Hc) + T d (1 - Hu)*.
///
/// `read` is *T disk*, the time of reading an image, and `decode` is *T d*, the time of making the page from it. `hot_hit_rate` is *Hu*, the share of
/// accesses that find the page, and `warm_hit_rate` is *Hc*, the share of those that find only its image; both are from 0 to 1, and of
/// leaves alone (§IV-C). Finding the page takes no time.
///
/// ```
/// use quire_store::pool::expected_access_time;
///
/// // Half of the accesses find the page and a quarter the image. A quarter reads it, and half decode it.
/// assert_eq!(expected_access_time(400.0, 40.0, 0.5, 0.25), 120.0);
/// ```
#[must_use]
pub fn expected_access_time(read: f64, decode: f64, hot_hit_rate: f64, warm_hit_rate: f64) -> f64 {
    read * (1.0 - hot_hit_rate - warm_hit_rate) + decode * (1.0 - hot_hit_rate)
}

/// Accesses to leaves that found no frame and made one. Hits of frames are counted where they are found (`residents`), without a clock.
#[derive(Debug, Default)]
pub(super) struct LeafLoads {
    /// The image was in memory.
    pub(super) warm_hits: AtomicU64,
    /// The image was read.
    pub(super) misses: AtomicU64,
    /// Nanoseconds that all of them took.
    pub(super) ns: AtomicU64,
}

impl LeafLoads {
    /// Counts one that took `duration`. The counters are statistics: nothing else depends on their order.
    pub(super) fn note(&self, from: ReadFrom, duration: Duration) {
        let counter = match from {
            ReadFrom::Cache => &self.warm_hits,
            ReadFrom::Disk { .. } => &self.misses,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.ns.fetch_add(whole_ns(duration), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables II, V, VI and VII: 8 KiB at 25.73 MiB/s, for lz4hc and for zlib.
    #[test]
    fn the_papers_rates_give_the_papers_times() {
        for (decode_us, hot, warm, access_us) in [
            (49.88, 0.7254, 0.1146, 62.28),
            (208.06, 0.7246, 0.1270, 102.36),
        ] {
            let expected_us = expected_access_time(303.63, decode_us, hot, warm);
            assert!((expected_us - access_us).abs() < 0.005, "{expected_us}");
        }
    }

    #[test]
    fn what_always_hits_takes_no_time_and_what_never_does_takes_both() {
        assert_eq!(expected_access_time(300.0, 50.0, 1.0, 0.0), 0.0);
        assert_eq!(expected_access_time(300.0, 50.0, 0.0, 1.0), 50.0);
        assert_eq!(expected_access_time(300.0, 50.0, 0.0, 0.0), 350.0);
    }
}
