//! A segment whose values stand by themselves: the header, then vectors or single values on demand.

use super::validity::StoredValidity;
use super::{SEGMENT_VERSION, SHARED_SEGMENT_VERSION};
use quire_codec::boolean::BooleanDecoder;
use quire_codec::fixed::FixedDecoder;
use quire_codec::float::FloatDecoder;
use quire_codec::text::{BytesDecoder, SharedDictionary};
use quire_codec::{
    BytesVector, CodecId, CodecScalar, Corrupt, ImageCursor, PhysicalType, ROWS_MAX,
};
use quire_codec::{RowMask, vector_count, vector_rows};
use std::ops::Range;
use std::sync::Arc;

/// What a segment says of itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentHeader {
    pub(super) physical_type: PhysicalType,
    pub(super) codec: CodecId,
    pub(super) row_count: usize,
    pub(super) null_count: usize,
}

/// Where the parts of a segment are in its image.
pub(super) struct SegmentParts {
    pub(super) version: u8,
    pub(super) header: SegmentHeader,
    validity_form: u8,
    validity: Range<usize>,
    pub(super) payload: Range<usize>,
}

/// Offset of the length of the payload in a segment.
pub(super) const PAYLOAD_LENGTH_AT: usize = 16;

impl SegmentParts {
    /// Reads the header of the segment at `image[range]`.
    pub(super) fn read(image: &[u8], range: Range<usize>) -> Result<Self, Corrupt> {
        let mut cursor = ImageCursor::new(image, range)?;
        let version = cursor.u8("segment version")?;
        if version != SEGMENT_VERSION && version != SHARED_SEGMENT_VERSION {
            let what = format!(
                "segment version {version}, this program reads {SEGMENT_VERSION} and {SHARED_SEGMENT_VERSION}"
            );
            return Err(Corrupt::new(what, 0));
        }
        let physical_type = PhysicalType::from_u8(cursor.u8("physical type")?)
            .ok_or_else(|| Corrupt::new("unknown physical type", 1))?;
        let codec = CodecId::from_u8(cursor.u8("codec")?)
            .ok_or_else(|| Corrupt::new("unknown codec", 2))?;
        if version == SHARED_SEGMENT_VERSION
            && (physical_type, codec) != (PhysicalType::Bytes, CodecId::Dictionary)
        {
            let what = format!("{physical_type} values, codec {codec}, refer to a dictionary");
            return Err(Corrupt::new(what, 1));
        }
        let validity_form = cursor.u8("form of validity")?;
        let row_count = cursor.u32("row count")? as usize;
        let null_count = cursor.u32("NULL count")? as usize;
        if row_count > ROWS_MAX || null_count > row_count {
            return Err(Corrupt::new("row or NULL count is out of range", 4));
        }
        let validity_bytes = cursor.u32("size of the validity")? as usize;
        let payload_bytes = cursor.u32("size of the payload")? as usize;
        let validity = cursor.take(validity_bytes, "validity section")?;
        let payload = cursor.take(payload_bytes, "payload")?;
        cursor.finish("segment")?;
        Ok(Self {
            version,
            header: SegmentHeader {
                physical_type,
                codec,
                row_count,
                null_count,
            },
            validity_form,
            validity,
            payload,
        })
    }
}

/// A segment that needs no other column to be read. Its methods are those of [`super::SegmentReader`].
#[derive(Debug)]
pub(super) struct PlainSegment {
    header: SegmentHeader,
    image: Arc<[u8]>,
    /// Where it is in the image.
    range: Range<usize>,
    validity: StoredValidity,
    pub(super) values: ValueDecoder,
    /// The dictionary that it refers to.
    dictionary: Option<SharedDictionary>,
}

#[derive(Debug)]
pub(super) enum ValueDecoder {
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
    ($name:ident, $type:ty, $variant:ident) => {
        pub(super) fn $name(
            &mut self,
            vector: usize,
            out: &mut [$type; 1024],
        ) -> Result<usize, Corrupt> {
            match &mut self.values {
                ValueDecoder::$variant(decoder) => decoder.decode_vector(vector, out),
                _ => Err(self.wrong_type(PhysicalType::$variant)),
            }
        }
    };
}

/// A method that reads one value of one type.
macro_rules! value {
    ($name:ident, $type:ty, $variant:ident) => {
        pub(super) fn $name(&mut self, row: usize) -> Result<$type, Corrupt> {
            match &mut self.values {
                ValueDecoder::$variant(decoder) => decoder.value(row),
                _ => Err(self.wrong_type(PhysicalType::$variant)),
            }
        }
    };
}

impl PlainSegment {
    /// Opens the segment that part of an image holds; `dictionary` is the one that it refers to, if it does.
    pub(super) fn open_part(
        image: Arc<[u8]>,
        range: Range<usize>,
        dictionary: Option<SharedDictionary>,
    ) -> Result<Self, Corrupt> {
        let parts = SegmentParts::read(&image, range.clone())?;
        let header = parts.header;
        let validity = StoredValidity::open(
            parts.validity_form,
            &image,
            parts.validity,
            header.row_count,
            header.null_count,
        )?;
        let shared = Arc::clone(&image);
        let values = match (&dictionary, parts.version) {
            (None, SEGMENT_VERSION) => ValueDecoder::open(&header, shared, parts.payload)?,
            (Some(dictionary), SHARED_SEGMENT_VERSION) => {
                let decoder =
                    BytesDecoder::open_shared(shared, parts.payload, header.row_count, dictionary)?;
                ValueDecoder::Bytes(Box::new(decoder))
            }
            (None, _) => {
                let what = "segment refers to a dictionary, its row group does not name it";
                return Err(Corrupt::new(what, 0));
            }
            (Some(_), _) => {
                let what = "segment refers to no dictionary, its row group says that it does";
                return Err(Corrupt::new(what, 0));
            }
        };
        Ok(Self {
            header,
            image,
            range,
            validity,
            values,
            dictionary,
        })
    }

    /// The same segment, for a reader that decodes other vectors meanwhile.
    pub(super) fn reopen(&self) -> Result<Self, Corrupt> {
        let (image, dictionary) = (Arc::clone(&self.image), self.dictionary.clone());
        Self::open_part(image, self.range.clone(), dictionary)
    }

    pub(super) fn header(&self) -> &SegmentHeader {
        &self.header
    }

    pub(super) fn row_count(&self) -> usize {
        self.header.row_count
    }

    pub(super) fn null_count(&self) -> usize {
        self.header.null_count
    }

    pub(super) fn physical_type(&self) -> PhysicalType {
        self.header.physical_type
    }

    pub(super) fn vector_count(&self) -> usize {
        vector_count(self.header.row_count)
    }

    pub(super) fn vector_rows(&self, vector: usize) -> usize {
        vector_rows(self.header.row_count, vector)
    }

    pub(super) fn validity(&self, vector: usize, out: &mut [u64; 16]) -> Result<usize, Corrupt> {
        if vector >= self.vector_count() {
            return Err(Corrupt::new("vector is beyond the segment", 0));
        }
        self.validity.vector(vector, self.vector_rows(vector), out)
    }

    decode! { decode_bool, bool, Bool }
    decode! { decode_i16, i16, Int16 }
    decode! { decode_i32, i32, Int32 }
    decode! { decode_i64, i64, Int64 }
    decode! { decode_f32, f32, Float32 }
    decode! { decode_f64, f64, Float64 }

    value! { value_bool, bool, Bool }
    value! { value_i16, i16, Int16 }
    value! { value_i32, i32, Int32 }
    value! { value_i64, i64, Int64 }
    value! { value_i128, i128, Int128 }
    value! { value_f32, f32, Float32 }
    value! { value_f64, f64, Float64 }

    pub(super) fn few_rows(&self) -> usize {
        match &self.values {
            ValueDecoder::Bool(_) | ValueDecoder::Bytes(_) => 0,
            ValueDecoder::Int16(decoder) => decoder.few_rows(),
            ValueDecoder::Int32(decoder) => decoder.few_rows(),
            ValueDecoder::Int64(decoder) => decoder.few_rows(),
            ValueDecoder::Int128(decoder) => decoder.few_rows(),
            ValueDecoder::Float32(decoder) => decoder.few_rows(),
            ValueDecoder::Float64(decoder) => decoder.few_rows(),
        }
    }

    pub(super) fn few_codes(&self) -> usize {
        match &self.values {
            ValueDecoder::Bool(_) => 0,
            ValueDecoder::Int16(decoder) => decoder.few_codes(),
            ValueDecoder::Int32(decoder) => decoder.few_codes(),
            ValueDecoder::Int64(decoder) => decoder.few_codes(),
            ValueDecoder::Int128(decoder) => decoder.few_codes(),
            ValueDecoder::Float32(decoder) => decoder.few_codes(),
            ValueDecoder::Float64(decoder) => decoder.few_codes(),
            ValueDecoder::Bytes(decoder) => decoder.few_codes(),
        }
    }

    pub(super) fn code(&self, row: usize) -> Result<u32, Corrupt> {
        match &self.values {
            ValueDecoder::Bool(_) => Err(Corrupt::new("segment has no dictionary", 2)),
            ValueDecoder::Int16(decoder) => decoder.code(row),
            ValueDecoder::Int32(decoder) => decoder.code(row),
            ValueDecoder::Int64(decoder) => decoder.code(row),
            ValueDecoder::Int128(decoder) => decoder.code(row),
            ValueDecoder::Float32(decoder) => decoder.code(row),
            ValueDecoder::Float64(decoder) => decoder.code(row),
            ValueDecoder::Bytes(decoder) => decoder.code(row),
        }
    }

    pub(super) fn decode_byte_rows(
        &mut self,
        vector: usize,
        rows: &[u32],
        out: &mut BytesVector,
    ) -> Result<(), Corrupt> {
        match &mut self.values {
            ValueDecoder::Bytes(decoder) => decoder.decode_rows(vector, rows, out),
            _ => Err(self.wrong_type(PhysicalType::Bytes)),
        }
    }

    pub(super) fn decode_i128(
        &mut self,
        vector: usize,
        out: &mut [i128; 1024],
    ) -> Result<usize, Corrupt> {
        match &mut self.values {
            ValueDecoder::Int128(decoder) => decoder.decode_vector(vector, out),
            _ if self.header.physical_type == PhysicalType::Int64 => {
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
        match self.header.physical_type {
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

    pub(super) fn decode_bytes(
        &mut self,
        vector: usize,
        out: &mut BytesVector,
    ) -> Result<usize, Corrupt> {
        match &mut self.values {
            ValueDecoder::Bytes(decoder) => decoder.decode_vector(vector, out),
            _ => Err(self.wrong_type(PhysicalType::Bytes)),
        }
    }

    pub(super) fn dictionary_len(&self) -> Option<usize> {
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

    pub(super) fn has_shared_codes(&self) -> bool {
        let shared = self.dictionary.as_ref();
        shared.is_some_and(|shared| self.dictionary_len() == Some(shared.string_count()))
    }

    pub(super) fn dictionary_bytes(&self, code: u32) -> Option<&[u8]> {
        match &self.values {
            ValueDecoder::Bytes(decoder) => decoder.dictionary_value(code),
            _ => None,
        }
    }

    pub(super) fn dictionary_value(&self, code: u32) -> Option<CodecScalar> {
        fn at<T: Copy>(values: Option<&[T]>, code: u32) -> Option<T> {
            values?.get(code as usize).copied()
        }
        match &self.values {
            ValueDecoder::Bool(_) => None,
            ValueDecoder::Int16(decoder) => at(decoder.dictionary(), code).map(CodecScalar::Int16),
            ValueDecoder::Int32(decoder) => at(decoder.dictionary(), code).map(CodecScalar::Int32),
            ValueDecoder::Int64(decoder) => at(decoder.dictionary(), code).map(CodecScalar::Int64),
            ValueDecoder::Int128(decoder) => {
                at(decoder.dictionary(), code).map(CodecScalar::Int128)
            }
            ValueDecoder::Float32(decoder) => {
                at(decoder.dictionary(), code).map(CodecScalar::Float32)
            }
            ValueDecoder::Float64(decoder) => {
                at(decoder.dictionary(), code).map(CodecScalar::Float64)
            }
            ValueDecoder::Bytes(decoder) => decoder
                .dictionary_value(code)
                .map(|bytes| CodecScalar::Bytes(bytes.to_vec())),
        }
    }

    pub(super) fn decode_codes(
        &mut self,
        vector: usize,
        out: &mut [u32; 1024],
    ) -> Result<usize, Corrupt> {
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

    /// As [`super::SegmentReader::select_codes`] for codes of strings; `None` for other values.
    pub(super) fn select_codes(
        &mut self,
        vector: usize,
        wanted: &[u64],
        mask: &mut RowMask,
    ) -> Option<Result<usize, Corrupt>> {
        match &mut self.values {
            ValueDecoder::Bytes(decoder) => Some(decoder.select_codes(vector, wanted, mask)),
            _ => None,
        }
    }

    pub(super) fn select_code_range(
        &mut self,
        vector: usize,
        codes: Range<u32>,
        mask: &mut RowMask,
    ) -> Result<Option<usize>, Corrupt> {
        match &mut self.values {
            ValueDecoder::Bytes(decoder) => {
                decoder.select_code_range(vector, codes, mask).map(Some)
            }
            _ => Ok(None),
        }
    }

    pub(super) fn value(&mut self, row: usize) -> Result<Option<CodecScalar>, Corrupt> {
        if row >= self.header.row_count {
            return Err(Corrupt::new("row is beyond the segment", 4));
        }
        if !self.validity.is_valid(row)? {
            return Ok(None);
        }
        Ok(Some(match &mut self.values {
            ValueDecoder::Bool(decoder) => CodecScalar::Bool(decoder.value(row)?),
            ValueDecoder::Int16(decoder) => CodecScalar::Int16(decoder.value(row)?),
            ValueDecoder::Int32(decoder) => CodecScalar::Int32(decoder.value(row)?),
            ValueDecoder::Int64(decoder) => CodecScalar::Int64(decoder.value(row)?),
            ValueDecoder::Int128(decoder) => CodecScalar::Int128(decoder.value(row)?),
            ValueDecoder::Float32(decoder) => CodecScalar::Float32(decoder.value(row)?),
            ValueDecoder::Float64(decoder) => CodecScalar::Float64(decoder.value(row)?),
            ValueDecoder::Bytes(decoder) => {
                let mut bytes = Vec::new();
                decoder.value(row, &mut bytes)?;
                CodecScalar::Bytes(bytes)
            }
        }))
    }

    pub(super) fn wrong_type(&self, asked: PhysicalType) -> Corrupt {
        let held = self.header.physical_type;
        Corrupt::new(
            format!("segment holds {held} values, {asked} was expected"),
            1,
        )
    }
}

impl ValueDecoder {
    fn open(
        header: &SegmentHeader,
        image: Arc<[u8]>,
        payload: Range<usize>,
    ) -> Result<Self, Corrupt> {
        let SegmentHeader {
            physical_type,
            codec,
            row_count: rows,
            ..
        } = *header;
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
