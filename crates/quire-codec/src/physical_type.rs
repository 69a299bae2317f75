//! The shapes values have on disk.

use std::fmt;

use crate::stored_set::stored_set;

stored_set! {
    /// What one value of a column is made of; SQL types are mapped onto these above. The numbers are stored.
    pub enum PhysicalType {
        Bool = 1 "bool",
        Int16 = 2 "int16",
        Int32 = 3 "int32",
        Int64 = 4 "int64",
        Int128 = 5 "int128",
        Float32 = 6 "float32",
        Float64 = 7 "float64",
        Bytes = 8 "bytes",
    }
}

impl PhysicalType {
    /// Bytes of one value in memory; `None` for [`PhysicalType::Bytes`]. A boolean counts as one byte.
    pub const fn value_bytes(self) -> Option<usize> {
        match self {
            Self::Bool => Some(1),
            Self::Int16 => Some(2),
            Self::Int32 | Self::Float32 => Some(4),
            Self::Int64 | Self::Float64 => Some(8),
            Self::Int128 => Some(16),
            Self::Bytes => None,
        }
    }
}

impl fmt::Display for PhysicalType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
