//! The closed set of codecs. The number is stored beside the bytes; they are undone from it alone.

use crate::PhysicalType;
use std::fmt;

/// How a payload is encoded. The numbers are stored and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CodecId {
    /// Values as they are.
    Plain = 0,
    /// One value for all rows.
    Constant = 1,
    /// Runs of equal values.
    Rle = 2,
    /// Patched frame of reference, bit-packed (Zukowski §6.2.2).
    Pfor = 3,
    /// Patched frame of reference over differences of neighbours (Zukowski §6.2.2).
    PforDelta = 4,
    /// Distinct values once, and a code per row.
    Dictionary = 5,
    /// Strings as codes of a table of frequent symbols.
    Fsst = 6,
    /// Floating point numbers as decimals.
    Alp = 7,
    /// Strings in blocks, each compressed with zstd.
    Zstd = 8,
    /// Strings as words, each entropy-coded in the context of the word before it.
    Words = 9,
    /// Strings as fixed text and runs of digits or letters, each run a column of integers.
    Shape = 10,
    /// Strings as codes of equal width for frequent phrases of up to 16 bytes.
    Phrases = 11,
    /// Frequent distinct values once and a code per row; rare values aside (Zukowski §6.2.2).
    Pdict = 12,
    /// One value for most rows; the others aside.
    Sparse = 13,
    /// Floating point numbers that are no decimals: few different high bits, and the low bits as they are.
    AlpRd = 14,
}

impl CodecId {
    /// Every codec, in the order of the stored number.
    pub const ALL: [Self; 15] = [
        Self::Plain,
        Self::Constant,
        Self::Rle,
        Self::Pfor,
        Self::PforDelta,
        Self::Dictionary,
        Self::Fsst,
        Self::Alp,
        Self::Zstd,
        Self::Words,
        Self::Shape,
        Self::Phrases,
        Self::Pdict,
        Self::Sparse,
        Self::AlpRd,
    ];

    /// The codec a stored number stands for.
    pub fn from_u8(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|one| *one as u8 == number)
    }

    /// Lower-case name, as written in SQL (`COMPRESSION pfor`).
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Constant => "constant",
            Self::Rle => "rle",
            Self::Pfor => "pfor",
            Self::PforDelta => "pfor_delta",
            Self::Dictionary => "dictionary",
            Self::Fsst => "fsst",
            Self::Alp => "alp",
            Self::Zstd => "zstd",
            Self::Words => "words",
            Self::Shape => "shape",
            Self::Phrases => "phrases",
            Self::Pdict => "pdict",
            Self::Sparse => "sparse",
            Self::AlpRd => "alp_rd",
        }
    }

    /// The codec of that name, in any letter case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|one| one.name().eq_ignore_ascii_case(name))
    }

    /// Whether the codec can hold values of that type.
    pub const fn supports(self, physical_type: PhysicalType) -> bool {
        use PhysicalType::{Bool, Bytes, Float32, Float64, Int16, Int32, Int64, Int128};
        match self {
            Self::Plain | Self::Constant => true,
            Self::Rle => !matches!(physical_type, Bytes),
            Self::Pfor | Self::PforDelta => matches!(physical_type, Int16 | Int32 | Int64 | Int128),
            Self::Dictionary => !matches!(physical_type, Bool),
            Self::Fsst | Self::Zstd | Self::Words | Self::Shape | Self::Phrases => {
                matches!(physical_type, Bytes)
            }
            Self::Pdict | Self::Sparse => !matches!(physical_type, Bool | Bytes),
            Self::Alp | Self::AlpRd => matches!(physical_type, Float32 | Float64),
        }
    }
}

impl fmt::Display for CodecId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
