//! When compressing a block was worth it.

/// What a block must gain by compression to be stored compressed. Reading it then costs a decompression;
/// ZFS asks for one part in eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinimumGain {
    per_mille: u16,
}

impl MinimumGain {
    /// Any gain will do: one byte.
    pub const ANY: Self = Self { per_mille: 0 };
    /// One part in eight, the rule of ZFS.
    pub const EIGHTH: Self = Self { per_mille: 125 };

    /// At least `per_mille` thousandths of the block; more than 1,000 count as 1,000.
    pub const fn per_mille(per_mille: u16) -> Self {
        let per_mille = if per_mille > 1000 { 1000 } else { per_mille };
        Self { per_mille }
    }

    /// The most bytes a block of `raw_bytes` may take compressed: the limit to hand to a codec.
    ///
    /// ```
    /// use quire_codec::block::MinimumGain;
    /// assert_eq!(MinimumGain::EIGHTH.limit(16384), 14336);
    /// assert_eq!(MinimumGain::ANY.limit(16384), 16383);
    /// assert_eq!(MinimumGain::EIGHTH.limit(0), 0);
    /// ```
    pub const fn limit(self, raw_bytes: usize) -> usize {
        // Rounded up, so that what is gained is never less than asked for; in two steps against overflow.
        let per_mille = self.per_mille as usize;
        let gain = raw_bytes / 1000 * per_mille + (raw_bytes % 1000 * per_mille).div_ceil(1000);
        raw_bytes.saturating_sub(if gain == 0 { 1 } else { gain })
    }
}

impl Default for MinimumGain {
    fn default() -> Self {
        Self::EIGHTH
    }
}
