//! The values of a map segment, decoded.

use quire_codec::{BytesVector, Corrupt, PhysicalType, Scalar, Values};

use super::SegmentReader;

/// Bytes of the strings of a map, in memory. Encoders make none that has more, decoders call more corrupt.
pub(super) const ENTRY_BYTES_MAX: usize = 16 << 20;

/// Values of one type.
#[derive(Debug)]
pub(super) enum Entries {
    Bool(Vec<bool>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int128(Vec<i128>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Bytes(BytesVector),
}

impl Entries {
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
    pub(super) fn gather(values: &Values<'_>, rows: &[u32]) -> Option<Self> {
        fn of<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
            rows.iter().map(|&row| values[row as usize]).collect()
        }
        Some(match values {
            Values::Bool(values) => Self::Bool(of(values, rows)),
            Values::Int16(values) => Self::Int16(of(values, rows)),
            Values::Int32(values) => Self::Int32(of(values, rows)),
            Values::Int64(values) => Self::Int64(of(values, rows)),
            Values::Int128(values) => Self::Int128(of(values, rows)),
            Values::Float32(values) => Self::Float32(of(values, rows)),
            Values::Float64(values) => Self::Float64(of(values, rows)),
            Values::Bytes(values) => {
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
    pub(super) fn append(&mut self, segment: &mut SegmentReader) -> Result<(), Corrupt> {
        fn of<T: Copy + Default>(
            entries: &mut Vec<T>,
            segment: &mut SegmentReader,
            decode: fn(&mut SegmentReader, usize, &mut [T; 1024]) -> Result<usize, Corrupt>,
        ) -> Result<(), Corrupt> {
            let mut values = [T::default(); 1024];
            for vector in 0..segment.vector_count() {
                let rows = decode(segment, vector, &mut values)?;
                entries.extend_from_slice(values.get(..rows).unwrap_or_default());
            }
            Ok(())
        }
        match self {
            Self::Bool(entries) => of(entries, segment, SegmentReader::decode_bool),
            Self::Int16(entries) => of(entries, segment, SegmentReader::decode_i16),
            Self::Int32(entries) => of(entries, segment, SegmentReader::decode_i32),
            Self::Int64(entries) => of(entries, segment, SegmentReader::decode_i64),
            Self::Int128(entries) => of(entries, segment, SegmentReader::decode_i128),
            Self::Float32(entries) => of(entries, segment, SegmentReader::decode_f32),
            Self::Float64(entries) => of(entries, segment, SegmentReader::decode_f64),
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

    pub(super) fn values(&self) -> Values<'_> {
        match self {
            Self::Bool(values) => Values::Bool(values),
            Self::Int16(values) => Values::Int16(values),
            Self::Int32(values) => Values::Int32(values),
            Self::Int64(values) => Values::Int64(values),
            Self::Int128(values) => Values::Int128(values),
            Self::Float32(values) => Values::Float32(values),
            Self::Float64(values) => Values::Float64(values),
            Self::Bytes(values) => Values::Bytes(values.as_slice()),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.values().len()
    }

    /// The value of a code, of any type; `None` beyond the last.
    pub(super) fn scalar(&self, code: u32) -> Option<Scalar> {
        let code = code as usize;
        match self {
            Self::Bool(values) => values.get(code).copied().map(Scalar::Bool),
            Self::Int16(values) => values.get(code).copied().map(Scalar::Int16),
            Self::Int32(values) => values.get(code).copied().map(Scalar::Int32),
            Self::Int64(values) => values.get(code).copied().map(Scalar::Int64),
            Self::Int128(values) => values.get(code).copied().map(Scalar::Int128),
            Self::Float32(values) => values.get(code).copied().map(Scalar::Float32),
            Self::Float64(values) => values.get(code).copied().map(Scalar::Float64),
            Self::Bytes(_) => self
                .bytes(code as u32)
                .map(|one| Scalar::Bytes(one.to_vec())),
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
