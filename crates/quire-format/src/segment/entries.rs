//! The values of a map segment, decoded.

use quire_codec::{BytesVector, CodecScalar, Corrupt, PhysicalType, RowGroupValues};

use super::plain::PlainSegment;

/// Bytes of the strings of a map, in memory. Encoders make none that has more, decoders call more corrupt.
pub(super) const ENTRY_BYTES_MAX: usize = 16 << 20;

/// Values of one type.
#[derive(Debug)]
pub(super) enum SegmentEntries {
    Bool(Vec<bool>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int128(Vec<i128>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Bytes(BytesVector),
}

impl SegmentEntries {
    /// No values.
    pub(super) fn new(physical_type: PhysicalType) -> Self {
        match physical_type {
            PhysicalType::Bool => Self::Bool(Vec::new()),
            PhysicalType::Int16 => Self::Int16(Vec::new()),
            PhysicalType::Int32 => Self::Int32(Vec::new()),
            PhysicalType::Int64 => Self::Int64(Vec::new()),
            PhysicalType::Int128 => Self::Int128(Vec::new()),
            PhysicalType::Float32 => Self::Float32(Vec::new()),
            PhysicalType::Float64 => Self::Float64(Vec::new()),
            PhysicalType::Bytes => Self::Bytes(BytesVector::new()),
        }
    }

    /// The values of some rows; `None` for more than [`ENTRY_BYTES_MAX`] of strings.
    pub(super) fn gather(values: &RowGroupValues<'_>, rows: &[u32]) -> Option<Self> {
        fn of<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
            rows.iter().map(|&row| values[row as usize]).collect()
        }
        Some(match values {
            RowGroupValues::Bool(values) => Self::Bool(of(values, rows)),
            RowGroupValues::Int16(values) => Self::Int16(of(values, rows)),
            RowGroupValues::Int32(values) => Self::Int32(of(values, rows)),
            RowGroupValues::Int64(values) => Self::Int64(of(values, rows)),
            RowGroupValues::Int128(values) => Self::Int128(of(values, rows)),
            RowGroupValues::Float32(values) => Self::Float32(of(values, rows)),
            RowGroupValues::Float64(values) => Self::Float64(of(values, rows)),
            RowGroupValues::Bytes(values) => {
                let mut gathered = BytesVector::new();
                for &row in rows {
                    let value = values.get(row as usize);
                    if gathered.data.len() + value.len() > ENTRY_BYTES_MAX {
                        return None;
                    }
                    gathered.push(value).ok()?;
                }
                Self::Bytes(gathered)
            }
        })
    }

    /// Appends all values of a segment, which has the type.
    pub(super) fn append(&mut self, segment: &mut PlainSegment) -> Result<(), Corrupt> {
        fn of<T: Copy + Default>(
            entries: &mut Vec<T>,
            segment: &mut PlainSegment,
            decode: fn(&mut PlainSegment, usize, &mut [T; 1024]) -> Result<usize, Corrupt>,
        ) -> Result<(), Corrupt> {
            let mut values = [T::default(); 1024];
            entries.reserve(segment.row_count() + 1);
            for vector in 0..segment.vector_count() {
                let rows = decode(segment, vector, &mut values)?;
                entries.extend_from_slice(values.get(..rows).unwrap_or_default());
            }
            Ok(())
        }
        match self {
            Self::Bool(entries) => of(entries, segment, PlainSegment::decode_bool),
            Self::Int16(entries) => of(entries, segment, PlainSegment::decode_i16),
            Self::Int32(entries) => of(entries, segment, PlainSegment::decode_i32),
            Self::Int64(entries) => of(entries, segment, PlainSegment::decode_i64),
            Self::Int128(entries) => of(entries, segment, PlainSegment::decode_i128),
            Self::Float32(entries) => of(entries, segment, PlainSegment::decode_f32),
            Self::Float64(entries) => of(entries, segment, PlainSegment::decode_f64),
            Self::Bytes(entries) => {
                for vector in 0..segment.vector_count() {
                    segment.decode_bytes(vector, entries)?;
                    if entries.data.len() > ENTRY_BYTES_MAX {
                        return Err(Corrupt::new("strings of a map pass 16 MiB", 0));
                    }
                }
                Ok(())
            }
        }
    }

    /// Appends a value that stands for NULL.
    pub(super) fn push_null(&mut self) -> Result<(), Corrupt> {
        match self {
            Self::Bool(values) => values.push(false),
            Self::Int16(values) => values.push(0),
            Self::Int32(values) => values.push(0),
            Self::Int64(values) => values.push(0),
            Self::Int128(values) => values.push(0),
            Self::Float32(values) => values.push(0.0),
            Self::Float64(values) => values.push(0.0),
            Self::Bytes(values) => values.push(&[])?,
        }
        Ok(())
    }

    /// Which integers of 16 to 64 bits pass: bit `i % 64` of word `i / 64` for the value `i`. `None` for other types.
    pub(super) fn integers_where(&self, passes: impl Fn(i64) -> bool) -> Option<Vec<u64>> {
        fn of<T: Copy + Into<i64>>(values: &[T], passes: impl Fn(i64) -> bool) -> Vec<u64> {
            let word = |values: &[T]| {
                let bits = values.iter().enumerate();
                bits.fold(0, |word, (bit, &value)| {
                    word | u64::from(passes(value.into())) << bit
                })
            };
            values.chunks(64).map(word).collect()
        }
        match self {
            Self::Int16(values) => Some(of(values, passes)),
            Self::Int32(values) => Some(of(values, passes)),
            Self::Int64(values) => Some(of(values, passes)),
            _ => None,
        }
    }

    pub(super) fn values(&self) -> RowGroupValues<'_> {
        match self {
            Self::Bool(values) => RowGroupValues::Bool(values),
            Self::Int16(values) => RowGroupValues::Int16(values),
            Self::Int32(values) => RowGroupValues::Int32(values),
            Self::Int64(values) => RowGroupValues::Int64(values),
            Self::Int128(values) => RowGroupValues::Int128(values),
            Self::Float32(values) => RowGroupValues::Float32(values),
            Self::Float64(values) => RowGroupValues::Float64(values),
            Self::Bytes(values) => RowGroupValues::Bytes(values.as_slice()),
        }
    }

    /// Bytes of memory that are reserved for them.
    pub(super) fn reserved_bytes(&self) -> usize {
        fn of<T>(values: &Vec<T>) -> usize {
            values.capacity() * size_of::<T>()
        }
        match self {
            Self::Bool(values) => of(values),
            Self::Int16(values) => of(values),
            Self::Int32(values) => of(values),
            Self::Int64(values) => of(values),
            Self::Int128(values) => of(values),
            Self::Float32(values) => of(values),
            Self::Float64(values) => of(values),
            Self::Bytes(values) => of(&values.offsets) + of(&values.data),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.values().len()
    }

    /// The value of a code, of any type; `None` beyond the last.
    pub(super) fn scalar(&self, code: u32) -> Option<CodecScalar> {
        let code = code as usize;
        match self {
            Self::Bool(values) => values.get(code).copied().map(CodecScalar::Bool),
            Self::Int16(values) => values.get(code).copied().map(CodecScalar::Int16),
            Self::Int32(values) => values.get(code).copied().map(CodecScalar::Int32),
            Self::Int64(values) => values.get(code).copied().map(CodecScalar::Int64),
            Self::Int128(values) => values.get(code).copied().map(CodecScalar::Int128),
            Self::Float32(values) => values.get(code).copied().map(CodecScalar::Float32),
            Self::Float64(values) => values.get(code).copied().map(CodecScalar::Float64),
            Self::Bytes(_) => self
                .bytes(code as u32)
                .map(|one| CodecScalar::Bytes(one.to_vec())),
        }
    }

    /// The string of a code; `None` for another type, or beyond the last.
    pub(super) fn bytes(&self, code: u32) -> Option<&[u8]> {
        match self {
            Self::Bytes(values) if (code as usize) < values.len() => {
                Some(values.as_slice().get(code as usize))
            }
            _ => None,
        }
    }
}
