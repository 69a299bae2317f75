//! The closed set of block codecs. The number is stored beside the block; it is undone from it alone.

use std::fmt;
use std::ops::RangeInclusive;

use crate::stored_set::stored_set;

stored_set! {
    /// How a block is compressed. The numbers are stored and never reused.
    pub enum BlockCodecId {
        /// Bytes as they are.
        None = 0 "none",
        /// Zero-length encoding: runs of zeros shortened, as in ZFS.
        Zle = 1 "zle",
        /// Lempel-Ziv with a window of 1,023 bytes, as in ZFS.
        Lzjb = 2 "lzjb",
        /// The LZ4 block format, searched greedily.
        Lz4 = 3 "lz4",
        /// The LZ4 block format, searched for long.
        Lz4Hc = 4 "lz4hc",
        /// Deflate in the zlib format.
        Zlib = 5 "zlib",
        /// One zstd frame without magic number and content size.
        Zstd = 6 "zstd",
    }
}

/// The level of LZJB that searches as ZFS does.
pub(super) const LZJB_GREEDY_LEVEL: i32 = 0;

impl BlockCodecId {
    /// The codec of that name, in any letter case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|one| one.name().eq_ignore_ascii_case(name))
    }

    /// Levels the codec can be asked for, from fast to small; one level when there is no choice. A level is
    /// not stored: every level is undone alike. Level 0 of LZJB is the search of ZFS, level 1 is ours.
    pub const fn levels(self) -> RangeInclusive<i32> {
        match self {
            Self::None | Self::Zle | Self::Lz4 => 1..=1,
            Self::Lzjb => LZJB_GREEDY_LEVEL..=1,
            Self::Lz4Hc => 3..=12,
            Self::Zlib => 1..=12,
            Self::Zstd => -7..=22,
        }
    }

    /// The level used when none is asked for.
    pub const fn default_level(self) -> i32 {
        match self {
            Self::None | Self::Zle | Self::Lzjb | Self::Lz4 => 1,
            Self::Lz4Hc => 9,
            Self::Zlib => 6,
            Self::Zstd => 3,
        }
    }
}

impl fmt::Display for BlockCodecId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
