//! Reading a segment: the header, then vectors or single values on demand.

use super::validity::StoredValidity;
use super::{SEGMENT_HEADER_BYTES, SEGMENT_VERSION};
use quire_codec::boolean::BooleanDecoder;
use quire_codec::correlated;
use quire_codec::fixed::FixedDecoder;
use quire_codec::float::FloatDecoder;
use quire_codec::text::BytesDecoder;
use quire_codec::{BytesVector, CodecId, Corrupt, Cursor, PhysicalType, ROWS_MAX, Scalar};
use quire_codec::{vector_count, vector_rows};
use std::sync::Arc;

/// Where the bytes of a segment went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentSizes {
    pub header_bytes: usize,
    pub validity_bytes: usize,
    pub payload_bytes: usize,
}

/// A segment, open for reading. Opening checks the header and every length, but decodes no values.
#[derive(Debug)]
pub struct SegmentReader {
    physical_type: PhysicalType,
    codec: CodecId,
    row_count: usize,
    null_count: usize,
    sizes: SegmentSizes,
    validity: StoredValidity,
    values: ValueDecoder,
    /// The column whose values are added to those decoded here.
    reference: Option<Box<SegmentReader>>,
}

#[derive(Debug)]
enum ValueDecoder {
    Bool(BooleanDecoder),
    Int16(FixedDecoder<i16>),
    Int32(FixedDecoder<i32>),
    Int64(FixedDecoder<i64>),
    Int128(FixedDecoder<i128>),
    Float32(FloatDecoder<f32>),
    Float64(FloatDecoder<f64>),
    Bytes(Box<BytesDecoder>),
}

/// A method that decodes a vector of one type.
macro_rules! decode {
    ($(#[$meta:meta])* $name:ident, $type:ty, $variant:ident) => {
        $(#[$meta])*
        ///
        /// Returns the rows of the vector; `out` beyond them, and in NULL rows, is arbitrary.
        ///
        /// # Errors
        /// Corrupt bytes, a vector beyond the segment, or a segment of another type.
        pub fn $name(&mut self, vector: usize, out: &mut [$type; 1024]) -> Result<usize, Corrupt> {
            match &mut self.values {
                ValueDecoder::$variant(decoder) => decoder.decode_vector(vector, out),
                _ => Err(self.wrong_type(PhysicalType::$variant)),
            }
        }
    };
}

/// A method that decodes a vector of integers, which may be differences from another column.
macro_rules! decode_integers {
    ($(#[$meta:meta])* $name:ident, $type:ty, $variant:ident) => {
        $(#[$meta])*
        ///
        /// Returns the rows of the vector; `out` beyond them, and in NULL rows, is arbitrary.
        ///
        /// # Errors
        /// Corrupt bytes, a vector beyond the segment, or a segment of another type.
        pub fn $name(&mut self, vector: usize, out: &mut [$type; 1024]) -> Result<usize, Corrupt> {
            let rows = match &mut self.values {
                ValueDecoder::$variant(decoder) => decoder.decode_vector(vector, out)?,
                _ => return Err(self.wrong_type(PhysicalType::$variant)),
            };
            if let Some(reference) = &mut self.reference {
                let mut added = [0; 1024];
                reference.$name(vector, &mut added)?;
                correlated::add(out, &added);
            }
            Ok(rows)
        }
    };
}

impl SegmentReader {
    /// Opens the segment that `image` holds, all of it.
    ///
    /// # Errors
    /// Bytes that [`super::encode_segment`] did not write, as far as that shows without decoding.
    pub fn open(image: Arc<[u8]>) -> Result<Self, Corrupt> {
        let mut cursor = Cursor::new(&image, 0..image.len())?;
        let version = cursor.u8("segment version")?;
        if version != SEGMENT_VERSION {
            let what = format!("segment version {version}, this program reads {SEGMENT_VERSION}");
            return Err(Corrupt::new(what, 0));
        }
        let physical_type = PhysicalType::from_u8(cursor.u8("physical type")?)
            .ok_or_else(|| Corrupt::new("unknown physical type", 1))?;
        let codec = CodecId::from_u8(cursor.u8("codec")?)
            .ok_or_else(|| Corrupt::new("unknown codec", 2))?;
        let form = cursor.u8("form of validity")?;
        let row_count = cursor.u32("row count")? as usize;
        let null_count = cursor.u32("NULL count")? as usize;
        if row_count > ROWS_MAX || null_count > row_count {
            return Err(Corrupt::new("row or NULL count is out of range", 4));
        }
        let validity_bytes = cursor.u32("size of the validity")? as usize;
        let payload_bytes = cursor.u32("size of the payload")? as usize;
        let section = cursor.take(validity_bytes, "validity section")?;
        let payload = cursor.take(payload_bytes, "payload")?;
        cursor.finish("segment")?;
        let validity = StoredValidity::open(form, &image, section, row_count, null_count)?;
        let values = ValueDecoder::open(physical_type, codec, image, payload, row_count)?;
        let sizes = SegmentSizes {
            header_bytes: SEGMENT_HEADER_BYTES,
            validity_bytes,
            payload_bytes,
        };
        Ok(Self {
            physical_type,
            codec,
            row_count,
            null_count,
            sizes,
            validity,
            values,
            reference: None,
        })
    }

    /// The column whose differences from `reference` this segment holds.
    ///
    /// # Errors
    /// The two cannot belong together: another type or number of rows, NULLs in the reference, or a reference of
    /// its own.
    pub fn following(mut self, reference: SegmentReader) -> Result<Self, Corrupt> {
        let is_possible = correlated::is_supported(self.physical_type)
            && reference.physical_type == self.physical_type
            && reference.row_count == self.row_count
            && reference.null_count == 0
            && reference.reference.is_none();
        if !is_possible {
            return Err(Corrupt::new(
                "segment of differences has a reference of other rows",
                0,
            ));
        }
        self.reference = Some(Box::new(reference));
        Ok(self)
    }

    pub fn physical_type(&self) -> PhysicalType {
        self.physical_type
    }

    pub fn codec(&self) -> CodecId {
        self.codec
    }

    pub fn row_count(&self) -> usize {
        self.row_count
    }

    pub fn null_count(&self) -> usize {
        self.null_count
    }

    /// Vectors in the segment, of 1,024 rows each but the last.
    pub fn vector_count(&self) -> usize {
        vector_count(self.row_count)
    }

    /// Rows of vector `vector`; 0 beyond the segment.
    pub fn vector_rows(&self, vector: usize) -> usize {
        vector_rows(self.row_count, vector)
    }

    /// Sizes of the header, the validity section and the payload.
    pub fn payload_breakdown(&self) -> SegmentSizes {
        self.sizes
    }

    /// Which rows of a vector are not NULL: bit `i % 64` of word `i / 64` for row `i`, bits beyond the rows
    /// clear. Returns how many rows are NULL.
    ///
    /// # Errors
    /// Corrupt bytes, or a vector beyond the segment.
    pub fn validity(&self, vector: usize, out: &mut [u64; 16]) -> Result<usize, Corrupt> {
        if vector >= self.vector_count() {
            return Err(Corrupt::new("vector is beyond the segment", 0));
        }
        self.validity.vector(vector, self.vector_rows(vector), out)
    }

    decode! {
        /// Decodes a vector of booleans.
        decode_bool, bool, Bool
    }
    decode_integers! {
        /// Decodes a vector of 16-bit integers.
        decode_i16, i16, Int16
    }
    decode_integers! {
        /// Decodes a vector of 32-bit integers.
        decode_i32, i32, Int32
    }
    decode_integers! {
        /// Decodes a vector of 64-bit integers.
        decode_i64, i64, Int64
    }
    decode! {
        /// Decodes a vector of 32-bit floats.
        decode_f32, f32, Float32
    }
    decode! {
        /// Decodes a vector of 64-bit floats.
        decode_f64, f64, Float64
    }

    /// Decodes a vector of 128-bit integers, or of 64-bit integers widened.
    ///
    /// Returns the rows of the vector; `out` beyond them, and in NULL rows, is arbitrary.
    ///
    /// # Errors
    /// Corrupt bytes, a vector beyond the segment, or a segment of another type.
    pub fn decode_i128(&mut self, vector: usize, out: &mut [i128; 1024]) -> Result<usize, Corrupt> {
        match &mut self.values {
            ValueDecoder::Int128(decoder) => decoder.decode_vector(vector, out),
            ValueDecoder::Int64(_) => {
                let mut narrow = [0i64; 1024];
                let rows = self.decode_i64(vector, &mut narrow)?;
                for (wide, narrow) in out.iter_mut().zip(narrow) {
                    *wide = narrow.into();
                }
                Ok(rows)
            }
            _ => Err(self.wrong_type(PhysicalType::Int128)),
        }
    }

    /// Decodes a vector of booleans as bits, those beyond the rows clear; otherwise as `decode_bool`.
    pub fn decode_bool_words(
        &mut self,
        vector: usize,
        out: &mut [u64; 16],
    ) -> Result<usize, Corrupt> {
        match &mut self.values {
            ValueDecoder::Bool(decoder) => decoder.decode_words(vector, out),
            _ => Err(self.wrong_type(PhysicalType::Bool)),
        }
    }

    /// Appends a vector of strings to `out` and returns its rows. NULL rows are arbitrary strings.
    ///
    /// # Errors
    /// Corrupt bytes, a vector beyond the segment, or a segment of another type.
    pub fn decode_bytes(&mut self, vector: usize, out: &mut BytesVector) -> Result<usize, Corrupt> {
        match &mut self.values {
            ValueDecoder::Bytes(decoder) => decoder.decode_vector(vector, out),
            _ => Err(self.wrong_type(PhysicalType::Bytes)),
        }
    }

    /// Number of distinct values, if the codec is [`CodecId::Dictionary`]; differences from another column have
    /// none.
    pub fn dictionary_len(&self) -> Option<usize> {
        if self.reference.is_some() {
            return None;
        }
        match &self.values {
            ValueDecoder::Bool(_) => None,
            ValueDecoder::Int16(decoder) => decoder.dictionary().map(<[_]>::len),
            ValueDecoder::Int32(decoder) => decoder.dictionary().map(<[_]>::len),
            ValueDecoder::Int64(decoder) => decoder.dictionary().map(<[_]>::len),
            ValueDecoder::Int128(decoder) => decoder.dictionary().map(<[_]>::len),
            ValueDecoder::Float32(decoder) => decoder.dictionary().map(<[_]>::len),
            ValueDecoder::Float64(decoder) => decoder.dictionary().map(<[_]>::len),
            ValueDecoder::Bytes(decoder) => decoder.dictionary_len(),
        }
    }

    /// The string a code stands for; `None` without a dictionary of strings, or beyond it.
    pub fn dictionary_bytes(&self, code: u32) -> Option<&[u8]> {
        match &self.values {
            ValueDecoder::Bytes(decoder) => decoder.dictionary_value(code),
            _ => None,
        }
    }

    /// The value of any type a code stands for; `None` without a dictionary, or beyond it.
    pub fn dictionary_value(&self, code: u32) -> Option<Scalar> {
        if self.reference.is_some() {
            return None;
        }
        fn at<T: Copy>(values: Option<&[T]>, code: u32) -> Option<T> {
            values?.get(code as usize).copied()
        }
        match &self.values {
            ValueDecoder::Bool(_) => None,
            ValueDecoder::Int16(decoder) => at(decoder.dictionary(), code).map(Scalar::Int16),
            ValueDecoder::Int32(decoder) => at(decoder.dictionary(), code).map(Scalar::Int32),
            ValueDecoder::Int64(decoder) => at(decoder.dictionary(), code).map(Scalar::Int64),
            ValueDecoder::Int128(decoder) => at(decoder.dictionary(), code).map(Scalar::Int128),
            ValueDecoder::Float32(decoder) => at(decoder.dictionary(), code).map(Scalar::Float32),
            ValueDecoder::Float64(decoder) => at(decoder.dictionary(), code).map(Scalar::Float64),
            ValueDecoder::Bytes(decoder) => decoder
                .dictionary_value(code)
                .map(|bytes| Scalar::Bytes(bytes.to_vec())),
        }
    }

    /// Decodes the codes of a vector, each below [`SegmentReader::dictionary_len`], and returns its rows. NULL
    /// rows have the code of some value.
    ///
    /// # Errors
    /// Corrupt bytes, a vector beyond the segment, or a segment without a dictionary.
    pub fn decode_codes(&mut self, vector: usize, out: &mut [u32; 1024]) -> Result<usize, Corrupt> {
        if self.reference.is_some() {
            return Err(Corrupt::new("segment of differences has no dictionary", 2));
        }
        match &mut self.values {
            ValueDecoder::Bool(_) => Err(Corrupt::new("segment has no dictionary", 2)),
            ValueDecoder::Int16(decoder) => decoder.decode_codes(vector, out),
            ValueDecoder::Int32(decoder) => decoder.decode_codes(vector, out),
            ValueDecoder::Int64(decoder) => decoder.decode_codes(vector, out),
            ValueDecoder::Int128(decoder) => decoder.decode_codes(vector, out),
            ValueDecoder::Float32(decoder) => decoder.decode_codes(vector, out),
            ValueDecoder::Float64(decoder) => decoder.decode_codes(vector, out),
            ValueDecoder::Bytes(decoder) => decoder.decode_codes(vector, out),
        }
    }

    /// The value of row `row`, `None` if it is NULL; decodes at most a vector.
    ///
    /// # Errors
    /// Corrupt bytes, or a row beyond the segment.
    pub fn value(&mut self, row: usize) -> Result<Option<Scalar>, Corrupt> {
        if row >= self.row_count {
            return Err(Corrupt::new("row is beyond the segment", 4));
        }
        if !self.validity.is_valid(row)? {
            return Ok(None);
        }
        let value = match &mut self.values {
            ValueDecoder::Bool(decoder) => Scalar::Bool(decoder.value(row)?),
            ValueDecoder::Int16(decoder) => Scalar::Int16(decoder.value(row)?),
            ValueDecoder::Int32(decoder) => Scalar::Int32(decoder.value(row)?),
            ValueDecoder::Int64(decoder) => Scalar::Int64(decoder.value(row)?),
            ValueDecoder::Int128(decoder) => Scalar::Int128(decoder.value(row)?),
            ValueDecoder::Float32(decoder) => Scalar::Float32(decoder.value(row)?),
            ValueDecoder::Float64(decoder) => Scalar::Float64(decoder.value(row)?),
            ValueDecoder::Bytes(decoder) => {
                let mut bytes = Vec::new();
                decoder.value(row, &mut bytes)?;
                Scalar::Bytes(bytes)
            }
        };
        let Some(reference) = &mut self.reference else {
            return Ok(Some(value));
        };
        Ok(match (value, reference.value(row)?) {
            (Scalar::Int16(a), Some(Scalar::Int16(b))) => Some(Scalar::Int16(a.wrapping_add(b))),
            (Scalar::Int32(a), Some(Scalar::Int32(b))) => Some(Scalar::Int32(a.wrapping_add(b))),
            (Scalar::Int64(a), Some(Scalar::Int64(b))) => Some(Scalar::Int64(a.wrapping_add(b))),
            _ => return Err(Corrupt::new("reference of another type", 1)),
        })
    }

    fn wrong_type(&self, asked: PhysicalType) -> Corrupt {
        let held = self.physical_type;
        Corrupt::new(
            format!("segment holds {held} values, {asked} was expected"),
            1,
        )
    }
}

impl ValueDecoder {
    fn open(
        physical_type: PhysicalType,
        codec: CodecId,
        image: Arc<[u8]>,
        payload: std::ops::Range<usize>,
        rows: usize,
    ) -> Result<Self, Corrupt> {
        if !codec.supports(physical_type) {
            return Err(Corrupt::new(
                format!("codec {codec} cannot hold {physical_type}"),
                2,
            ));
        }
        Ok(match physical_type {
            PhysicalType::Bool => Self::Bool(BooleanDecoder::open(codec, image, payload, rows)?),
            PhysicalType::Int16 => Self::Int16(FixedDecoder::open(codec, image, payload, rows)?),
            PhysicalType::Int32 => Self::Int32(FixedDecoder::open(codec, image, payload, rows)?),
            PhysicalType::Int64 => Self::Int64(FixedDecoder::open(codec, image, payload, rows)?),
            PhysicalType::Int128 => Self::Int128(FixedDecoder::open(codec, image, payload, rows)?),
            PhysicalType::Float32 => {
                Self::Float32(FloatDecoder::open(codec, image, payload, rows)?)
            }
            PhysicalType::Float64 => {
                Self::Float64(FloatDecoder::open(codec, image, payload, rows)?)
            }
            PhysicalType::Bytes => {
                Self::Bytes(Box::new(BytesDecoder::open(codec, image, payload, rows)?))
            }
        })
    }
}
