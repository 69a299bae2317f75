//! The closed set of block codecs. The number is stored beside the block; it is undone from it alone.

use std::fmt;
use std::ops::RangeInclusive;

/// How a block is compressed. The numbers are stored and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum BlockCodecId {
    /// Bytes as they are.
    None = 0,
    /// Zero-length encoding: runs of zeros shortened, as in ZFS.
    Zle = 1,
    /// Lempel-Ziv with a window of 1,023 bytes, as in ZFS.
    Lzjb = 2,
    /// The LZ4 block format, searched greedily.
    Lz4 = 3,
    /// The LZ4 block format, searched for long.
    Lz4Hc = 4,
    /// Deflate in the zlib format.
    Zlib = 5,
    /// One zstd frame without magic number and content size.
    Zstd = 6,
}

impl BlockCodecId {
    /// Every codec, in the order of the stored number.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::Zle,
        Self::Lzjb,
        Self::Lz4,
        Self::Lz4Hc,
        Self::Zlib,
        Self::Zstd,
    ];

    /// The codec a stored number stands for.
    pub fn from_u8(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|one| *one as u8 == number)
    }

    /// Lower-case name, as written in SQL and in options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Zle => "zle",
            Self::Lzjb => "lzjb",
            Self::Lz4 => "lz4",
            Self::Lz4Hc => "lz4hc",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }

    /// The codec of that name, in any letter case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|one| one.name().eq_ignore_ascii_case(name))
    }

    /// Levels the codec can be asked for, from fast to small; one level when there is no choice. A level is
    /// not stored: every level is undone alike.
    pub const fn levels(self) -> RangeInclusive<i32> {
        match self {
            Self::None | Self::Zle | Self::Lzjb | Self::Lz4 => 1..=1,
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
