//! Slices of values going in, and values coming out.

use crate::{Corrupt, PhysicalType};
use std::ops::Range;

/// Byte strings laid end to end. Row `i` is `data[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Copy, Debug)]
pub struct BytesSlice<'a> {
    /// Ascending; one more than there are rows. The first need not be 0.
    pub offsets: &'a [u32],
    /// At least as long as the last offset.
    pub data: &'a [u8],
}

impl<'a> BytesSlice<'a> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of row `row`; empty if the row or its bytes do not exist.
    pub fn get(&self, row: usize) -> &'a [u8] {
        let bounds = self.offsets.get(row).zip(self.offsets.get(row + 1));
        bounds
            .and_then(|(&start, &end)| self.data.get(start as usize..end as usize))
            .unwrap_or_default()
    }

    /// The rows in `rows`, sharing the data. Rows beyond the end are left out.
    pub fn slice(&self, rows: Range<usize>) -> Self {
        let end = rows.end.min(self.len());
        let start = rows.start.min(end);
        let offsets = self.offsets.get(start..=end).unwrap_or_default();
        Self {
            offsets,
            data: self.data,
        }
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let slice = *self;
        (0..slice.len()).map(move |row| slice.get(row))
    }

    /// Bytes of all rows together, offsets not counted.
    pub fn data_bytes(&self) -> usize {
        match (self.offsets.first(), self.offsets.last()) {
            (Some(&first), Some(&last)) => last.saturating_sub(first) as usize,
            _ => 0,
        }
    }

    /// Whether the offsets ascend and stay within the data.
    pub fn is_valid(&self) -> bool {
        let ascending = self.offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        ascending
            && self
                .offsets
                .last()
                .is_none_or(|&last| last as usize <= self.data.len())
    }
}

/// Byte strings that decoders append to; the owned counterpart of [`BytesSlice`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BytesVector {
    /// Starts with 0; one more than there are rows.
    pub offsets: Vec<u32>,
    pub data: Vec<u8>,
}

impl Default for BytesVector {
    fn default() -> Self {
        Self {
            offsets: vec![0],
            data: Vec::new(),
        }
    }
}

impl BytesVector {
    /// No rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.offsets.clear();
        self.offsets.push(0);
        self.data.clear();
    }

    /// Appends one row; corrupt when the data would pass 4 GiB, which no encoder produces.
    pub fn push(&mut self, value: &[u8]) -> Result<(), Corrupt> {
        let end = u32::try_from(self.data.len() + value.len())
            .map_err(|_| Corrupt::new("decoded strings pass 4 GiB", 0))?;
        self.data.extend_from_slice(value);
        self.offsets.push(end);
        Ok(())
    }

    /// The rows, borrowed.
    pub fn as_slice(&self) -> BytesSlice<'_> {
        BytesSlice {
            offsets: &self.offsets,
            data: &self.data,
        }
    }
}

/// The values of a column of one row group. Rows that are NULL hold an arbitrary value.
#[derive(Clone, Copy, Debug)]
pub enum RowGroupValues<'a> {
    Bool(&'a [bool]),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    Int128(&'a [i128]),
    Float32(&'a [f32]),
    Float64(&'a [f64]),
    Bytes(BytesSlice<'a>),
}

impl RowGroupValues<'_> {
    /// Type of the values.
    pub const fn physical_type(&self) -> PhysicalType {
        match self {
            Self::Bool(_) => PhysicalType::Bool,
            Self::Int16(_) => PhysicalType::Int16,
            Self::Int32(_) => PhysicalType::Int32,
            Self::Int64(_) => PhysicalType::Int64,
            Self::Int128(_) => PhysicalType::Int128,
            Self::Float32(_) => PhysicalType::Float32,
            Self::Float64(_) => PhysicalType::Float64,
            Self::Bytes(_) => PhysicalType::Bytes,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Bool(values) => values.len(),
            Self::Int16(values) => values.len(),
            Self::Int32(values) => values.len(),
            Self::Int64(values) => values.len(),
            Self::Int128(values) => values.len(),
            Self::Float32(values) => values.len(),
            Self::Float64(values) => values.len(),
            Self::Bytes(values) => values.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes the values take uncompressed: one bit for a boolean, and four of offset for a string.
    pub fn raw_bytes(&self) -> usize {
        match self {
            Self::Bool(values) => values.len().div_ceil(8),
            Self::Bytes(values) => values.data_bytes() + 4 * values.len(),
            _ => self.len() * self.physical_type().value_bytes().unwrap_or(0),
        }
    }
}

/// One value, owned.
#[derive(Clone, Debug, PartialEq)]
pub enum CodecScalar {
    Bool(bool),
    Int16(i16),
    Int32(i32),
    Int64(i64),
    Int128(i128),
    Float32(f32),
    Float64(f64),
    Bytes(Vec<u8>),
}

impl CodecScalar {
    /// Type of the value.
    pub const fn physical_type(&self) -> PhysicalType {
        match self {
            Self::Bool(_) => PhysicalType::Bool,
            Self::Int16(_) => PhysicalType::Int16,
            Self::Int32(_) => PhysicalType::Int32,
            Self::Int64(_) => PhysicalType::Int64,
            Self::Int128(_) => PhysicalType::Int128,
            Self::Float32(_) => PhysicalType::Float32,
            Self::Float64(_) => PhysicalType::Float64,
            Self::Bytes(_) => PhysicalType::Bytes,
        }
    }

    /// The value, if it is an integer.
    pub fn as_integer(&self) -> Option<i128> {
        match *self {
            Self::Int16(value) => Some(i128::from(value)),
            Self::Int32(value) => Some(i128::from(value)),
            Self::Int64(value) => Some(i128::from(value)),
            Self::Int128(value) => Some(value),
            _ => None,
        }
    }
}
