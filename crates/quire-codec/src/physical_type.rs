//! The shapes values have on disk.

use std::fmt;

/// What one value of a column is made of; SQL types are mapped onto these above. The numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PhysicalType {
    Bool = 1,
    Int16 = 2,
    Int32 = 3,
    Int64 = 4,
    Int128 = 5,
    Float32 = 6,
    Float64 = 7,
    Bytes = 8,
}

impl PhysicalType {
    /// Every physical type, in the order of the stored number.
    pub const ALL: [Self; 8] = [
        Self::Bool,
        Self::Int16,
        Self::Int32,
        Self::Int64,
        Self::Int128,
        Self::Float32,
        Self::Float64,
        Self::Bytes,
    ];

    /// The type a stored number stands for.
    pub fn from_u8(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|one| *one as u8 == number)
    }

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

    /// Lower-case name, as shown to users.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Int128 => "int128",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
            Self::Bytes => "bytes",
        }
    }
}

impl fmt::Display for PhysicalType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
