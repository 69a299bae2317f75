//! What the pool has done.

/// Counters and sizes of a pool, for `quire_pool()`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PoolStats {
    /// Accesses that found the frame.
    pub hot_hits: u64,
    /// Accesses that found the image.
    pub warm_hits: u64,
    /// Accesses that read the image from the disk.
    pub misses: u64,
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
    /// Bytes that images take, those of columns included.
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
    /// Share of accesses that found the frame: *Hu* of paper 4; 0 when there were none.
    #[must_use]
    pub fn hot_hit_rate(&self) -> f64 {
        self.rate(self.hot_hits)
    }

    /// Share of accesses that found the image only: *Hc* of paper 4; 0 when there were none.
    #[must_use]
    pub fn warm_hit_rate(&self) -> f64 {
        self.rate(self.warm_hits)
    }

    fn accesses(&self) -> u64 {
        self.hot_hits + self.warm_hits + self.misses
    }

    fn rate(&self, count: u64) -> f64 {
        count as f64 / self.accesses().max(1) as f64
    }
}
