//! The closed set of codecs. The number is stored beside the bytes; they are undone from it alone.

use crate::PhysicalType;
use crate::stored_set::stored_set;
use std::fmt;

stored_set! {
    /// How a payload is encoded. The numbers are stored and never reused.
    pub enum CodecId {
        /// Values as they are.
        Plain = 0 "plain",
        /// One value for all rows.
        Constant = 1 "constant",
        /// Runs of equal values.
        Rle = 2 "rle",
        /// Patched frame of reference, bit-packed (Zukowski §6.2.2).
        Pfor = 3 "pfor",
        /// Patched frame of reference over differences of neighbours (Zukowski §6.2.2).
        PforDelta = 4 "pfor_delta",
        /// Distinct values once, and a code per row.
        Dictionary = 5 "dictionary",
        /// Strings as codes of a table of frequent symbols.
        Fsst = 6 "fsst",
        /// Floating point numbers as decimals.
        Alp = 7 "alp",
        /// Strings in blocks, each compressed with zstd.
        Zstd = 8 "zstd",
        /// Strings as words, each entropy-coded in the context of the word before it.
        Words = 9 "words",
        /// Strings as fixed text and runs of digits or letters, each run a column of integers.
        Shape = 10 "shape",
        /// Strings as codes of equal width for frequent phrases of up to 16 bytes.
        Phrases = 11 "phrases",
        /// Frequent distinct values once and a code per row; rare values aside (Zukowski §6.2.2).
        Pdict = 12 "pdict",
        /// One value for most rows; the others aside.
        Sparse = 13 "sparse",
        /// Floating point numbers that are no decimals: few different high bits, and the low bits as they are.
        AlpRd = 14 "alp_rd",
        /// Strings of row tables, each by itself in the Huffman code of their bytes. Payloads of columns have another.
        Huffman = 15 "huffman",
    }
}

impl CodecId {
    /// The codec of that name, in any letter case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|one| one.name().eq_ignore_ascii_case(name))
    }

    /// Whether a payload of the codec can hold values of that type. [`Self::Huffman`] has no payloads.
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
            Self::Pdict => !matches!(physical_type, Bool),
            Self::Sparse => !matches!(physical_type, Bool | Bytes),
            Self::Alp | Self::AlpRd => matches!(physical_type, Float32 | Float64),
            Self::Huffman => false,
        }
    }
}

impl fmt::Display for CodecId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
