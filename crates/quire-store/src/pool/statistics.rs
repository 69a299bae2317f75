//! What the pool has done.

use super::access_time::expected_access_time;
use super::policy::PoolPolicy;

/// Counters and sizes of a pool, for `quire_pool()`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PoolStats {
    /// How frames and images share the budget.
    pub policy: PoolPolicy,
    /// Accesses to pages of all levels that found the frame.
    pub hot_hits: u64,
    /// Those that found the image, glances included.
    pub warm_hits: u64,
    /// Those that read the image from the disk, glances included.
    pub misses: u64,
    /// Accesses to leaves that found the frame, or waited for another thread that loaded it.
    pub leaf_hot_hits: u64,
    /// Accesses to leaves that made the frame of an image in memory. Images that were read ahead are among them. No glances.
    pub leaf_warm_hits: u64,
    /// Accesses to leaves that read the image from the disk and made the frame of it. No glances.
    pub leaf_misses: u64,
    /// Time that the `leaf_warm_hits` and `leaf_misses` took together, in nanoseconds: of reading, decoding, and making room.
    pub leaf_load_ns: u64,
    /// Lookups of one key ([`Pool::glance`](super::Pool::glance)) that an image answered. The page was not decoded, so equation 2 of paper 4 says
    /// nothing about them: they are in no count of leaves. A lookup that found or made a frame is an access like any other, and no glance; so
    /// where there are many glances, the hit rates of leaves are those of the rest, and of all lookups fewer find a frame.
    pub glances: u64,
    /// Frames that made room for others.
    pub evictions: u64,
    /// Compressions that a thread waited for that changed a page.
    pub foreground_compressions: u64,
    /// Compressions by the compression threads.
    pub background_compressions: u64,
    /// Compressions by flushes.
    pub flush_compressions: u64,
    /// Images that flushes wrote without compressing: operations were appended, or they had been compressed before.
    pub appended_images: u64,
    /// Compressions of leaves whose images have a fixed size.
    pub target_compressions: u64,
    /// Those whose result did not fit.
    pub target_failures: u64,
    /// Leaves that were split because of that.
    pub failure_splits: u64,
    /// Leaves that were split before it came to that.
    pub advance_splits: u64,
    /// Bytes that insertions leave free in leaves whose images have a fixed size: of the tree where it is most.
    pub padding_bytes: u64,
    /// Bytes that frames and images may take.
    pub budget_bytes: u64,
    /// Bytes that frames may take at the moment.
    pub hot_target_bytes: u64,
    /// Bytes that frames take.
    pub hot_bytes: u64,
    /// Bytes that the images take which frames hold: nothing unless the pool is [one of twins](PoolPolicy::Twins).
    pub twin_bytes: u64,
    /// Bytes that other images take, those of columns included.
    pub warm_bytes: u64,
    /// Bytes of changed frames, and of those that a flush is writing; a frame can be both.
    pub dirty_bytes: u64,
    /// Time of reading an image from the disk of late, in nanoseconds: a moving average.
    pub read_ns: u64,
    /// Time of making a page from its image of late, in nanoseconds: a moving average.
    pub decode_ns: u64,
    /// Time of making an image from its page of late, in nanoseconds: a moving average.
    pub encode_ns: u64,
    /// Mean time of reading an image from the disk, in nanoseconds, of pages of all levels and for glances, too: *T disk* of paper 4, §IV-B.
    pub read_ns_mean: u64,
    /// Mean time of making a page from its image, in nanoseconds, of pages of all levels: *T d* of paper 4, §IV-B.
    pub decode_ns_mean: u64,
}

impl PoolStats {
    /// Share of all accesses that found the frame, 0 when there were none. Inner pages make it larger than the
    /// [rate of the leaves](Self::leaf_hot_hit_rate).
    #[must_use]
    pub fn hot_hit_rate(&self) -> f64 {
        self.rate(self.hot_hits)
    }

    /// Share of all accesses that found the image only, glances included; 0 when there were none.
    #[must_use]
    pub fn warm_hit_rate(&self) -> f64 {
        self.rate(self.warm_hits)
    }

    /// Share of the accesses to leaves that found the frame: *Hu* of paper 4, §IV-C; 0 when there were none.
    #[must_use]
    pub fn leaf_hot_hit_rate(&self) -> f64 {
        self.leaf_rate(self.leaf_hot_hits)
    }

    /// Share of the accesses to leaves that found the image only: *Hc* of paper 4, §IV-C; 0 when there were none.
    #[must_use]
    pub fn leaf_warm_hit_rate(&self) -> f64 {
        self.leaf_rate(self.leaf_warm_hits)
    }

    /// Mean time of an access to a leaf by paper 4's equation 2, from the rates of leaves and the mean times of reading and decoding, in
    /// nanoseconds; 0 when there were none.
    #[must_use]
    pub fn leaf_access_ns_expected(&self) -> u64 {
        // Without accesses both rates are 0, and the equation would give the time of a miss.
        if self.leaf_accesses() == 0 {
            return 0;
        }
        let expected = expected_access_time(
            self.read_ns_mean as f64,
            self.decode_ns_mean as f64,
            self.leaf_hot_hit_rate(),
            self.leaf_warm_hit_rate(),
        );
        expected.round() as u64
    }

    /// Mean time of an access to a leaf as it was measured, in nanoseconds, rounded down; 0 when there were none. One that found the frame
    /// counts as 0 ns, as in the paper's model.
    #[must_use]
    pub fn leaf_access_ns_measured(&self) -> u64 {
        let mean = self.leaf_load_ns.checked_div(self.leaf_accesses());
        mean.unwrap_or(0)
    }

    fn accesses(&self) -> u64 {
        self.hot_hits + self.warm_hits + self.misses
    }

    fn leaf_accesses(&self) -> u64 {
        self.leaf_hot_hits + self.leaf_warm_hits + self.leaf_misses
    }

    fn rate(&self, count: u64) -> f64 {
        count as f64 / self.accesses().max(1) as f64
    }

    fn leaf_rate(&self, count: u64) -> f64 {
        count as f64 / self.leaf_accesses().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_accesses_to_leaves_all_is_zero() {
        let inner_pages = PoolStats {
            misses: 3,
            read_ns_mean: 300,
            decode_ns_mean: 50,
            ..PoolStats::default()
        };
        assert_eq!(inner_pages.leaf_access_ns_expected(), 0);
        assert_eq!(inner_pages.leaf_access_ns_measured(), 0);
        assert_eq!(inner_pages.leaf_hot_hit_rate(), 0.0);
        assert_eq!(inner_pages.leaf_warm_hit_rate(), 0.0);
    }

    #[test]
    fn hits_of_inner_pages_and_glances_do_not_shorten_an_access_to_a_leaf() {
        let stats = PoolStats {
            hot_hits: 1_000,
            warm_hits: 500,
            misses: 500,
            leaf_hot_hits: 4,
            leaf_warm_hits: 1,
            leaf_misses: 3,
            leaf_load_ns: 2_000,
            glances: 900,
            read_ns_mean: 400,
            decode_ns_mean: 100,
            ..PoolStats::default()
        };
        // 3 of 8 read, 4 of 8 decode.
        assert_eq!(stats.leaf_access_ns_expected(), 400 * 3 / 8 + 100 * 4 / 8);
        assert_eq!(stats.leaf_access_ns_measured(), 250);
    }
}
