//! Reading a segment: the header, then vectors or single values on demand.

use super::combined::Combined;
use super::entries::Entries;
use super::map::{MapImage, Mapped};
use super::validity::StoredValidity;
use super::{SEGMENT_HEADER_BYTES, SEGMENT_VERSION};
use quire_codec::boolean::BooleanDecoder;
use quire_codec::correlated::{self, Combination, Residual};
use quire_codec::fixed::FixedDecoder;
use quire_codec::float::FloatDecoder;
use quire_codec::text::BytesDecoder;
use quire_codec::{BytesVector, CodecId, Corrupt, Cursor, PhysicalType, ROWS_MAX, Scalar};
use quire_codec::{RowMask, vector_count, vector_rows};
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
    /// What is added to the values decoded here.
    combined: Option<Box<Combined>>,
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
    /// Any type, by the values of another column.
    Mapped(Box<Mapped>),
}

/// A vector of a map's values of one type.
macro_rules! decode_mapped {
    ($mapped:ident, $variant:ident, $vector:ident, $out:expr) => {
        $mapped.decode($vector, $out, |entries| match entries {
            Entries::$variant(values) => Some(values),
            _ => None,
        })
    };
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
                ValueDecoder::Mapped(mapped) => decode_mapped!(mapped, $variant, vector, out),
                _ => Err(self.wrong_type(PhysicalType::$variant)),
            }
        }
    };
}

/// A method that decodes a vector of integers, which may be what is left of other columns.
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
                ValueDecoder::Mapped(mapped) => {
                    return decode_mapped!(mapped, $variant, vector, out);
                }
                _ => return Err(self.wrong_type(PhysicalType::$variant)),
            };
            if let Some(combined) = &mut self.combined {
                combined.add_to(vector, out)?;
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
            combined: None,
        })
    }

    /// The column of which this segment holds what `first`, or both references, leave of it.
    ///
    /// # Errors
    /// They cannot belong together: no integers of 16 to 64 bits, another number of rows or of references, or
    /// a reference with a relation of its own.
    pub fn combined(
        mut self,
        combination: Combination,
        first: SegmentReader,
        second: Option<SegmentReader>,
    ) -> Result<Self, Corrupt> {
        if !correlated::is_supported(self.physical_type) || self.has_relation() {
            return Err(Corrupt::new("segment of residuals is of another type", 1));
        }
        let combined = Combined::new(combination, first, second, self.row_count)?;
        self.combined = Some(Box::new(combined));
        Ok(self)
    }

    /// Opens the map segment that `image` holds, all of it, as the column that `reference` determines. Decodes the
    /// map: at most 16 MiB of strings and a table of 4 MiB.
    ///
    /// # Errors
    /// Bytes that [`super::encode_map`] did not write, or not for that reference.
    pub fn open_map(image: &Arc<[u8]>, reference: SegmentReader) -> Result<Self, Corrupt> {
        let image = MapImage::open(image)?;
        Ok(Self {
            physical_type: image.values.physical_type,
            codec: image.values.codec,
            row_count: image.row_count,
            null_count: image.null_count,
            sizes: image.sizes,
            validity: StoredValidity::AllValid,
            combined: None,
            values: ValueDecoder::Mapped(Box::new(Mapped::new(image, reference)?)),
        })
    }

    /// Whether the values follow from another column, so that none can follow them.
    pub(super) fn has_relation(&self) -> bool {
        self.combined.is_some() || matches!(self.values, ValueDecoder::Mapped(_))
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
    pub fn validity(&mut self, vector: usize, out: &mut [u64; 16]) -> Result<usize, Corrupt> {
        if vector >= self.vector_count() {
            return Err(Corrupt::new("vector is beyond the segment", 0));
        }
        if let ValueDecoder::Mapped(mapped) = &mut self.values {
            return mapped.validity(vector, out);
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
            ValueDecoder::Mapped(mapped) if self.physical_type == PhysicalType::Int128 => {
                decode_mapped!(mapped, Int128, vector, out)
            }
            _ if self.physical_type == PhysicalType::Int64 => {
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

    /// Decodes a vector of integers of 16 to 64 bits, widened; otherwise as `decode_i64`.
    pub(super) fn decode_wide(
        &mut self,
        vector: usize,
        out: &mut [i64; 1024],
    ) -> Result<usize, Corrupt> {
        fn widen<T: Copy + Into<i64>>(narrow: &[T; 1024], out: &mut [i64; 1024]) {
            for (wide, narrow) in out.iter_mut().zip(narrow) {
                *wide = (*narrow).into();
            }
        }
        match self.physical_type {
            PhysicalType::Int16 => {
                let mut narrow = [0_i16; 1024];
                let rows = self.decode_i16(vector, &mut narrow)?;
                widen(&narrow, out);
                Ok(rows)
            }
            PhysicalType::Int32 => {
                let mut narrow = [0_i32; 1024];
                let rows = self.decode_i32(vector, &mut narrow)?;
                widen(&narrow, out);
                Ok(rows)
            }
            _ => self.decode_i64(vector, out),
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
            ValueDecoder::Mapped(mapped) => {
                let mut values = [false; 1024];
                let rows = decode_mapped!(mapped, Bool, vector, &mut values)?;
                out.fill(0);
                for (row, &value) in values[..rows].iter().enumerate() {
                    out[row / 64] |= u64::from(value) << (row % 64);
                }
                Ok(rows)
            }
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
            ValueDecoder::Mapped(mapped) => mapped.decode_bytes(vector, out),
            _ => Err(self.wrong_type(PhysicalType::Bytes)),
        }
    }

    /// Number of distinct values, if the codec is [`CodecId::Dictionary`]; of values, equal ones too, if they are
    /// a map from another column. What is left of other columns has none.
    pub fn dictionary_len(&self) -> Option<usize> {
        if self.combined.is_some() {
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
            ValueDecoder::Mapped(mapped) => Some(mapped.entries().len()),
        }
    }

    /// The string a code stands for; `None` without a dictionary of strings, or beyond it.
    pub fn dictionary_bytes(&self, code: u32) -> Option<&[u8]> {
        match &self.values {
            ValueDecoder::Bytes(decoder) => decoder.dictionary_value(code),
            ValueDecoder::Mapped(mapped) => mapped.entries().bytes(code),
            _ => None,
        }
    }

    /// The value of any type a code stands for; `None` without a dictionary, or beyond it.
    pub fn dictionary_value(&self, code: u32) -> Option<Scalar> {
        if self.combined.is_some() {
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
            ValueDecoder::Mapped(mapped) => mapped.entries().scalar(code),
        }
    }

    /// Whether a code stands for a value: those of a map may stand for NULL.
    pub fn dictionary_is_valid(&self, code: u32) -> bool {
        match &self.values {
            ValueDecoder::Mapped(mapped) => mapped.is_valid(code),
            _ => true,
        }
    }

    /// Decodes the codes of a vector, each below [`SegmentReader::dictionary_len`], and returns its rows. NULL
    /// rows have the code of some value.
    ///
    /// # Errors
    /// Corrupt bytes, a vector beyond the segment, or a segment without a dictionary.
    pub fn decode_codes(&mut self, vector: usize, out: &mut [u32; 1024]) -> Result<usize, Corrupt> {
        if self.combined.is_some() {
            return Err(Corrupt::new("segment of residuals has no dictionary", 2));
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
            ValueDecoder::Mapped(mapped) => mapped.codes(vector, out),
        }
    }

    /// Marks the rows of a vector whose codes have their bit set in `wanted`: code `c` is bit `c % 64` of word `c / 64`.
    /// Returns the rows of the vector; bits beyond them are 0, those of NULL rows arbitrary.
    ///
    /// # Errors
    /// Corrupt bytes, a vector beyond the segment, or a segment without a dictionary.
    pub fn select_codes(
        &mut self,
        vector: usize,
        wanted: &[u64],
        mask: &mut RowMask,
    ) -> Result<usize, Corrupt> {
        if let (None, ValueDecoder::Bytes(decoder)) = (&self.combined, &mut self.values) {
            return decoder.select_codes(vector, wanted, mask);
        }
        let mut codes = [0; 1024];
        let rows = self.decode_codes(vector, &mut codes)?;
        *mask = RowMask::default();
        for (row, &code) in codes[..rows].iter().enumerate() {
            let word = wanted.get(code as usize / 64).copied().unwrap_or(0);
            mask[row / 64] |= (word >> (code % 64) & 1) << (row % 64);
        }
        Ok(rows)
    }

    /// As [`SegmentReader::select_codes`], for codes that are neighbours; `None` if the segment holds no strings.
    ///
    /// # Errors
    /// Corrupt bytes, or a segment without a dictionary.
    pub fn select_code_range(
        &mut self,
        vector: usize,
        codes: std::ops::Range<u32>,
        mask: &mut RowMask,
    ) -> Result<Option<usize>, Corrupt> {
        match &mut self.values {
            ValueDecoder::Bytes(decoder) => {
                decoder.select_code_range(vector, codes, mask).map(Some)
            }
            _ => Ok(None),
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
            ValueDecoder::Mapped(mapped) => return mapped.value(row),
        };
        let Some(combined) = &mut self.combined else {
            return Ok(Some(value));
        };
        let expected = combined.expected_value(row)?;
        Ok(Some(match value {
            Scalar::Int16(value) => Scalar::Int16(value.plus(expected)),
            Scalar::Int32(value) => Scalar::Int32(value.plus(expected)),
            Scalar::Int64(value) => Scalar::Int64(value.plus(expected)),
            _ => return Err(Corrupt::new("residuals of another type", 1)),
        }))
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
