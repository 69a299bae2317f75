#![doc = include_str!("README.md")]

mod candidates;
mod constant;
mod dictionary;
mod dictionary_values;
mod fsst;
mod fsst_symbols;
mod fsst_table;
mod huffman_table;
mod interner;
mod lengths;
mod packed;
mod pdict;
mod phrases;
mod plain;
mod range_reader;
mod rows;
mod section;
mod shape;
mod shared_dictionary;
mod string_codes;
mod words;
mod zstd_blocks;

pub(crate) use candidates::sample;
pub use candidates::{TextCodecCandidate, candidates, pick};
pub use fsst_table::FsstTable;
pub use huffman_table::HuffmanTable;
pub use shared_dictionary::{OwnDictionary, SharedDictionary};
pub use string_codes::{CodedText, StringCodes};

use crate::{
    BytesSlice, BytesVector, CodecId, Corrupt, EncodeError, ImageCursor, PhysicalType, ROWS_MAX,
    RowMask, VECTOR_VALUES,
};
use std::ops::{Bound, Range};
use std::sync::Arc;

/// Bytes of text that one payload can hold: 1 GiB. Encoders refuse more, decoders call more corrupt.
pub const DATA_BYTES_MAX: usize = 1 << 30;

/// Encodes `values` with `codec`. The result does not say which codec or how many rows: the segment does.
///
/// ```
/// use quire_codec::{BytesSlice, BytesVector, CodecId, text};
/// use std::sync::Arc;
///
/// let values = BytesSlice { offsets: &[0, 5, 5, 10], data: b"applepears" };
/// let payload: Arc<[u8]> = text::encode(CodecId::Dictionary, &values)?.into();
/// let length = payload.len();
/// let mut decoder = text::BytesDecoder::open(CodecId::Dictionary, payload, 0..length, 3)?;
/// let mut out = BytesVector::new();
/// assert_eq!(decoder.decode_vector(0, &mut out)?, 3);
/// assert_eq!(out.as_slice().get(2), b"pears");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// More rows or bytes than a payload holds, offsets that do not ascend, a codec that does not hold
/// strings, or [`CodecId::Constant`] for values that differ.
pub fn encode(codec: CodecId, values: &BytesSlice) -> Result<Vec<u8>, EncodeError> {
    check(values)?;
    match codec {
        CodecId::Plain => Ok(plain::encode(values)),
        CodecId::Constant => constant::encode(values),
        CodecId::Dictionary => Ok(dictionary::encode(values)),
        CodecId::Fsst => Ok(fsst::encode(values)),
        CodecId::Zstd => Ok(zstd_blocks::encode(values)),
        CodecId::Words => Ok(words::encode(values)),
        CodecId::Shape => Ok(shape::encode(values)),
        CodecId::Phrases => Ok(phrases::encode(values)),
        CodecId::Pdict => Ok(pdict::encode(values, candidates::codec_of_rest)),
        other => Err(unsupported(other)),
    }
}

/// Exactly the length of what [`encode`] returns. Plain, constant and uncompressed dictionaries are
/// computed; the other codecs have to encode to know.
///
/// # Errors
/// The same as [`encode`].
pub fn encoded_bytes(codec: CodecId, values: &BytesSlice) -> Result<usize, EncodeError> {
    check(values)?;
    match codec {
        CodecId::Plain => Ok(plain::encoded_bytes(values)),
        CodecId::Constant => constant::encoded_bytes(values),
        _ => encode(codec, values).map(|payload| payload.len()),
    }
}

fn unsupported(codec: CodecId) -> EncodeError {
    EncodeError::Unsupported {
        codec,
        physical_type: PhysicalType::Bytes,
    }
}

fn check(values: &BytesSlice) -> Result<(), EncodeError> {
    if !values.is_valid() {
        return Err(EncodeError::BadOffsets);
    }
    EncodeError::check_rows(values.len())?;
    if values.data_bytes() > DATA_BYTES_MAX {
        return Err(EncodeError::TooManyBytes {
            bytes: values.data_bytes(),
            limit: DATA_BYTES_MAX,
        });
    }
    Ok(())
}

/// Length of each value in bytes.
fn lengths_of(values: &BytesSlice) -> Vec<u32> {
    values
        .offsets
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .collect()
}

/// The bytes of all rows, which lie end to end.
fn contiguous<'a>(values: &BytesSlice<'a>) -> &'a [u8] {
    match (values.offsets.first(), values.offsets.last()) {
        (Some(&first), Some(&last)) => values
            .data
            .get(first as usize..last as usize)
            .unwrap_or_default(),
        _ => &[],
    }
}

/// The bytes of one payload within the image that it came in.
#[derive(Debug)]
struct PayloadImage {
    image: Arc<[u8]>,
    range: Range<usize>,
}

impl PayloadImage {
    /// The payload of so many rows at `image[range]`.
    fn new(image: Arc<[u8]>, range: Range<usize>, row_count: usize) -> Result<Self, Corrupt> {
        if row_count > ROWS_MAX {
            return Err(Corrupt::new(
                "more rows than a segment can hold",
                range.start,
            ));
        }
        let payload = Self { image, range };
        payload.cursor()?;
        Ok(payload)
    }

    fn cursor(&self) -> Result<ImageCursor<'_>, Corrupt> {
        ImageCursor::new(&self.image, self.range.clone())
    }

    fn bytes(&self) -> &[u8] {
        self.image.get(self.range.clone()).unwrap_or_default()
    }
}

#[derive(Debug)]
enum TextScheme {
    Plain(plain::PlainDecoder),
    Constant,
    Dictionary(dictionary::TextDictionaryDecoder),
    Fsst(fsst::FsstDecoder),
    Zstd(zstd_blocks::ZstdDecoder),
    Words(Box<words::WordsDecoder>),
    Shape(Box<shape::ShapeDecoder>),
    Phrases(phrases::PhrasesDecoder),
    Pdict(Box<pdict::TextPdictDecoder>),
}

/// Decodes a payload of strings, a vector or a value at a time. Holds on to the image, and to what
/// several vectors share: the dictionary, the symbol table, the block decompressed last.
#[derive(Debug)]
pub struct BytesDecoder {
    payload: PayloadImage,
    row_count: usize,
    scheme: TextScheme,
    /// A vector of which some rows are wanted.
    whole: BytesVector,
}

impl BytesDecoder {
    /// Reads the headers of the payload at `image[payload]` that [`encode`] made of `row_count` values.
    ///
    /// # Errors
    /// [`Corrupt`] when the bytes are not such a payload. Allocates no more than the payload's length,
    /// 16 MiB for a compressed dictionary, and 1 MiB of decoding tables.
    pub fn open(
        codec: CodecId,
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
    ) -> Result<Self, Corrupt> {
        let start = payload.start;
        let payload = PayloadImage::new(image, payload, row_count)?;
        let scheme = match codec {
            CodecId::Plain => TextScheme::Plain(plain::PlainDecoder::open(&payload, row_count)?),
            CodecId::Constant => {
                constant::open(&payload, row_count).map(|()| TextScheme::Constant)?
            }
            CodecId::Dictionary => TextScheme::Dictionary(dictionary::TextDictionaryDecoder::open(
                &payload, row_count,
            )?),
            CodecId::Fsst => TextScheme::Fsst(fsst::FsstDecoder::open(&payload, row_count)?),
            CodecId::Zstd => TextScheme::Zstd(zstd_blocks::ZstdDecoder::open(&payload, row_count)?),
            CodecId::Words => {
                TextScheme::Words(Box::new(words::WordsDecoder::open(&payload, row_count)?))
            }
            CodecId::Shape => {
                TextScheme::Shape(Box::new(shape::ShapeDecoder::open(&payload, row_count)?))
            }
            CodecId::Phrases => {
                TextScheme::Phrases(phrases::PhrasesDecoder::open(&payload, row_count)?)
            }
            CodecId::Pdict => TextScheme::Pdict(Box::new(pdict::TextPdictDecoder::open(
                &payload, row_count,
            )?)),
            other => {
                return Err(Corrupt::new(
                    format!("codec {other} holds no strings"),
                    start,
                ));
            }
        };
        Ok(Self::of_scheme(payload, row_count, scheme))
    }

    /// Reads the headers of the payload at `image[payload]` that [`OwnDictionary::refer_to`] made of `row_count` values and this dictionary.
    ///
    /// # Errors
    /// [`Corrupt`] when the bytes are not such a payload, or refer to another dictionary. Allocates what [`BytesDecoder::open`] does, and if the
    /// payload has strings of its own a copy of the dictionary.
    pub fn open_shared(
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
        dictionary: &SharedDictionary,
    ) -> Result<Self, Corrupt> {
        let payload = PayloadImage::new(image, payload, row_count)?;
        let decoder = shared_dictionary::open(&payload, row_count, dictionary)?;
        Ok(Self::of_scheme(
            payload,
            row_count,
            TextScheme::Dictionary(decoder),
        ))
    }

    fn of_scheme(payload: PayloadImage, row_count: usize, scheme: TextScheme) -> Self {
        Self {
            payload,
            row_count,
            scheme,
            whole: BytesVector::new(),
        }
    }

    /// Appends the values of vector `vector` and returns how many they are; none beyond the last vector.
    ///
    /// # Errors
    /// [`Corrupt`] when the bytes are not what an encoder wrote; `out` then holds the rows it had before.
    pub fn decode_vector(
        &mut self,
        vector: usize,
        out: &mut BytesVector,
    ) -> Result<usize, Corrupt> {
        let (rows_before, bytes_before) = (out.offsets.len(), out.data.len());
        let payload = &self.payload;
        let decoded = match &mut self.scheme {
            TextScheme::Plain(decoder) => decoder.decode_vector(payload, vector, out),
            TextScheme::Constant => constant::decode_vector(payload, self.row_count, vector, out),
            TextScheme::Dictionary(decoder) => decoder.decode_vector(vector, out),
            TextScheme::Fsst(decoder) => decoder.decode_vector(payload, vector, out),
            TextScheme::Zstd(decoder) => decoder.decode_vector(payload, vector, out),
            TextScheme::Words(decoder) => decoder.decode_vector(payload, vector, out),
            TextScheme::Shape(decoder) => decoder.decode_vector(vector, out),
            TextScheme::Phrases(decoder) => decoder.decode_vector(payload, vector, out),
            TextScheme::Pdict(decoder) => decoder.decode_vector(vector, out),
        };
        if decoded.is_err() {
            out.offsets.truncate(rows_before);
            out.data.truncate(bytes_before);
        }
        decoded
    }

    /// Appends the value of row `row` to `out`.
    ///
    /// # Errors
    /// [`Corrupt`] when the bytes are not what an encoder wrote, or `row` is not a row of the payload.
    pub fn value(&mut self, row: usize, out: &mut Vec<u8>) -> Result<(), Corrupt> {
        if row >= self.row_count {
            return Err(Corrupt::new(
                "row beyond the payload",
                self.payload.range.start,
            ));
        }
        let payload = &self.payload;
        match &mut self.scheme {
            TextScheme::Plain(decoder) => decoder.value(payload, row, out),
            TextScheme::Constant => {
                out.extend_from_slice(payload.bytes());
                Ok(())
            }
            TextScheme::Dictionary(decoder) => decoder.value(row, out),
            TextScheme::Fsst(decoder) => decoder.value(payload, row, out),
            TextScheme::Zstd(decoder) => decoder.value(payload, row, out),
            TextScheme::Words(decoder) => decoder.value(payload, row, out),
            TextScheme::Shape(decoder) => decoder.value(row, out),
            TextScheme::Phrases(decoder) => decoder.value(payload, row, out),
            TextScheme::Pdict(decoder) => decoder.value(row, out),
        }
    }

    /// Number of values of a dictionary payload, all of which differ; `None` for other codecs. Rows need not have every value of a shared dictionary.
    pub fn dictionary_len(&self) -> Option<usize> {
        match &self.scheme {
            TextScheme::Dictionary(decoder) => Some(decoder.len()),
            _ => None,
        }
    }

    /// The value that `code` stands for. Values ascend with their codes, unless there are strings besides those of a shared dictionary: these come
    /// after them.
    pub fn dictionary_value(&self, code: u32) -> Option<&[u8]> {
        match &self.scheme {
            TextScheme::Dictionary(decoder) => decoder.get(code),
            _ => None,
        }
    }

    /// The codes of the values between two bounds: values ascend with their codes, so a comparison of values is one
    /// of codes. `None` for payloads without a dictionary.
    pub fn code_range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Option<Range<u32>> {
        match &self.scheme {
            TextScheme::Dictionary(decoder) => decoder.code_range(low, high),
            _ => None,
        }
    }

    /// Marks the rows of vector `vector` whose codes lie in `codes` and returns its rows; bits beyond them are 0.
    /// Codes that are packed are compared as they are.
    ///
    /// # Errors
    /// [`Corrupt`] when a code has no value, or the payload has no dictionary.
    ///
    /// ```
    /// use quire_codec::{BytesSlice, CodecId, text};
    /// use std::ops::Bound::{Excluded, Included};
    ///
    /// let values = BytesSlice { offsets: &[0, 4, 9, 13, 18], data: b"pearapplepearpeach" };
    /// let image: std::sync::Arc<[u8]> = text::encode(CodecId::Dictionary, &values)?.into();
    /// let bytes = 0..image.len();
    /// let mut decoder = text::BytesDecoder::open(CodecId::Dictionary, image, bytes, 4)?;
    /// // Everything that starts with "pe" and then has an "a".
    /// let codes = decoder.code_range(Included(b"pea"), Excluded(b"peb")).unwrap_or_default();
    /// assert_eq!(codes, 1..3);
    /// let mut mask = [0; 16];
    /// decoder.select_code_range(0, codes, &mut mask)?;
    /// assert_eq!(mask[0], 0b1101);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn select_code_range(
        &mut self,
        vector: usize,
        codes: Range<u32>,
        mask: &mut RowMask,
    ) -> Result<usize, Corrupt> {
        self.dictionary()?.select_code_range(vector, codes, mask)
    }

    /// Marks the rows of vector `vector` whose codes have their bit set in `wanted`: code `c` is bit `c % 64` of word
    /// `c / 64`. A predicate on values is decided once per distinct value that way. Returns the rows of the vector;
    /// bits beyond them are 0.
    ///
    /// # Errors
    /// [`Corrupt`] when a code has no value, or the payload has no dictionary.
    pub fn select_codes(
        &mut self,
        vector: usize,
        wanted: &[u64],
        mask: &mut RowMask,
    ) -> Result<usize, Corrupt> {
        self.dictionary()?.select_codes(vector, wanted, mask)
    }

    /// The codes of vector `vector`, each below [`Self::dictionary_len`], and how many they are.
    ///
    /// # Errors
    /// [`Corrupt`] when a code has no value, or the payload has no dictionary.
    pub fn decode_codes(
        &mut self,
        vector: usize,
        out: &mut [u32; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        self.dictionary()?.decode_codes(vector, out)
    }

    /// The code of row `row`, below [`Self::dictionary_len`].
    ///
    /// # Errors
    /// [`Corrupt`] when it has no value, there is no such row, or the payload has no dictionary.
    pub fn code(&self, row: usize) -> Result<u32, Corrupt> {
        self.dictionary()?.code(row)
    }

    /// Rows of a vector up to which reading the code of each takes less time than decoding those of all.
    pub fn few_codes(&self) -> usize {
        match &self.scheme {
            TextScheme::Dictionary(decoder) => decoder.few_codes(),
            _ => 0,
        }
    }

    fn dictionary(&self) -> Result<&dictionary::TextDictionaryDecoder, Corrupt> {
        match &self.scheme {
            TextScheme::Dictionary(decoder) => Ok(decoder),
            _ => Err(Corrupt::new(
                "payload has no dictionary",
                self.payload.range.start,
            )),
        }
    }
}
