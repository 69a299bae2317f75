//! One column of one row group: a header, which rows are NULL, and the encoded values.
//!
//! # Layout, versions 1 and 2
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 1 | format version: 1; 2 if the payload refers to a shared dictionary |
//! | 1 | 1 | physical type ([`PhysicalType`]) |
//! | 2 | 1 | codec ([`CodecId`]) |
//! | 3 | 1 | validity: 0 no row is NULL, 1 every row is NULL, 2 see the validity section |
//! | 4 | 4 | row count, at most [`ROWS_MAX`] |
//! | 8 | 4 | NULL count |
//! | 12 | 4 | `v`, bytes of the validity section; 0 unless validity is 2 |
//! | 16 | 4 | `p`, bytes of the payload |
//! | 20 | v | validity: a boolean RLE payload ([`quire_codec::boolean`]), 1 = not NULL |
//! | 20 + v | p | payload of the codec for that type ([`quire_codec`]); of version 2 that of [`quire_codec::text::OwnDictionary::refer_to`] |
//!
//! Integers are little endian, and nothing follows the payload. The checksum is the business of the page that
//! holds the segment.
//!
//! # Shared dictionaries
//!
//! A segment of version 2 holds strings, with the codec dictionary, most of which are in a [`SharedDictionary`] that is stored by itself. The
//! row group says which one. A segment that needs none has version 1, so files without shared dictionaries stay as they were.
//!
//! # NULLs
//!
//! The payload has a value for every row. That of a NULL row means nothing, so the encoder puts there what
//! costs least: the value of the row before, or for strings that are stored one by one the empty string. So
//! NULLs disable no codec.
//!
//! ```
//! use quire_codec::{CodecId, CodecScalar, RowGroupValues};
//! use quire_format::segment::{ChooseOptions, SegmentInput, SegmentReader, choose_and_encode};
//!
//! let values = [20_000, 0, 20_003];
//! let input = SegmentInput { values: RowGroupValues::Int32(&values), validity: Some(&[0b101]) };
//! let (choice, image) = choose_and_encode(&input, &ChooseOptions::default())?;
//! let mut reader = SegmentReader::open(image.into())?;
//! assert_eq!(reader.codec(), choice.codec);
//! assert_eq!(reader.value(1)?, None);
//! assert_eq!(reader.value(2)?, Some(CodecScalar::Int32(20_003)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod combined;
mod encode_map;
mod entries;
mod fill;
mod image;
mod map;
mod map_dictionary;
mod map_exceptions;
mod map_image;
mod map_keys;
mod map_lead;
mod map_numbers;
mod map_values;
mod materialize;
mod materialized;
mod plain;
mod reader;
mod runs;
mod select;
mod shared_dictionary;
mod single;
#[cfg(test)]
mod tests;
mod validity;

pub use encode_map::{EncodeMapError, EncodedMap, encode_map};
pub use image::SegmentImage;
pub use materialized::MaterializedSegment;
pub use quire_codec::choose::{Beneath, ChooseOptions, CodecChoice, SearchEffort, Sketch};
pub use quire_codec::text::SharedDictionary;
pub use reader::SegmentReader;
pub use runs::IntegerRuns;
pub use shared_dictionary::DictionarySegment;

use fill::FilledValues;
use quire_codec::choose::{choose, encode};
use quire_codec::{CodecId, EncodeError, PhysicalType, ROWS_MAX, RowGroupValues};
use validity::ValidityEncoder;

/// The version of a segment that is read by itself, or beside other columns.
pub const SEGMENT_VERSION: u8 = 1;

/// The version of a segment that refers to a shared dictionary.
const SHARED_SEGMENT_VERSION: u8 = 2;

/// Bytes of the header.
pub const SEGMENT_HEADER_BYTES: usize = 20;

/// The values of one column of one row group, and which of them are NULL.
#[derive(Clone, Copy, Debug)]
pub struct SegmentInput<'a> {
    /// At most [`ROWS_MAX`] rows. NULL rows hold an arbitrary value.
    pub values: RowGroupValues<'a>,
    /// One bit per row, least significant first, 1 = not NULL; `ceil(rows / 64)` words, bits beyond the rows
    /// ignored. `None`: no NULLs.
    pub validity: Option<&'a [u64]>,
}

/// Encodes with that codec.
///
/// # Errors
/// A codec that cannot hold the type or, for [`CodecId::Constant`], the values; more than [`ROWS_MAX`] rows;
/// a validity of another length than the values.
pub fn encode_segment(input: &SegmentInput<'_>, codec: CodecId) -> Result<Vec<u8>, EncodeError> {
    let validity = ValidityEncoder::of(input.values.len(), input.validity)?;
    let filled = FilledValues::new(&input.values, &validity, fill::repeats(codec));
    assemble(&filled.values(), &validity, codec)
}

/// Chooses the codec. The sizes are those of the whole segment; the one of the choice is exact when the whole
/// column was looked at, and otherwise extrapolated from a sample.
pub fn choose_codec(input: &SegmentInput<'_>, options: &ChooseOptions) -> CodecChoice {
    match ValidityEncoder::of(input.values.len(), input.validity) {
        Ok(validity) => {
            let filled = FilledValues::for_choice(&input.values, &validity);
            whole_segment(choose(&filled.values(), options), &validity)
        }
        // Encoding will say what is wrong.
        Err(_) => choose(&input.values, options),
    }
}

/// Chooses a codec and encodes with it, preparing the NULL rows once for both.
///
/// # Errors
/// As [`encode_segment`].
pub fn choose_and_encode(
    input: &SegmentInput<'_>,
    options: &ChooseOptions,
) -> Result<(CodecChoice, Vec<u8>), EncodeError> {
    let mut values = SegmentValues::new(input)?;
    let choice = values.choose(options);
    let image = values.encode(choice.codec)?;
    Ok((choice, image))
}

/// The values of a segment that is to be written, with NULL rows filled: for callers that look before they choose.
pub struct SegmentValues<'a> {
    input: SegmentInput<'a>,
    validity: ValidityEncoder<'a>,
    filled: FilledValues<'a>,
}

impl<'a> SegmentValues<'a> {
    /// Prepares the values.
    ///
    /// # Errors
    /// More than [`ROWS_MAX`] rows, or a validity of another length than the values.
    pub fn new(input: &SegmentInput<'a>) -> Result<Self, EncodeError> {
        let validity = ValidityEncoder::of(input.values.len(), input.validity)?;
        let filled = FilledValues::for_choice(&input.values, &validity);
        Ok(Self {
            input: *input,
            validity,
            filled,
        })
    }

    /// What the values look like.
    pub fn sketch(&self) -> Sketch {
        Sketch::of(&self.filled.values())
    }

    /// Chooses a codec, as [`choose_codec`].
    pub fn choose(&self, options: &ChooseOptions) -> CodecChoice {
        whole_segment(choose(&self.filled.values(), options), &self.validity)
    }

    /// Encodes with that codec.
    ///
    /// # Errors
    /// As [`encode_segment`].
    pub fn encode(&mut self, codec: CodecId) -> Result<Vec<u8>, EncodeError> {
        if !self.filled.serves(codec) {
            let repeats = fill::repeats(codec);
            self.filled = FilledValues::new(&self.input.values, &self.validity, repeats);
        }
        assemble(&self.filled.values(), &self.validity, codec)
    }
}

/// Adds what surrounds the payload.
fn whole_segment(mut choice: CodecChoice, validity: &ValidityEncoder<'_>) -> CodecChoice {
    let around = SEGMENT_HEADER_BYTES + validity.section().len();
    choice.estimated_bytes += around;
    choice.remaining_bytes += around;
    choice.runner_up = choice
        .runner_up
        .map(|(codec, bytes)| (codec, bytes + around));
    choice
}

fn assemble(
    values: &RowGroupValues<'_>,
    validity: &ValidityEncoder<'_>,
    codec: CodecId,
) -> Result<Vec<u8>, EncodeError> {
    let physical_type = values.physical_type();
    if !codec.supports(physical_type) {
        return Err(EncodeError::Unsupported {
            codec,
            physical_type,
        });
    }
    let payload = encode(values, codec)?;
    let section = validity.section();
    let limit = u32::MAX as usize;
    let payload_bytes = u32::try_from(payload.len()).map_err(|_| EncodeError::TooManyBytes {
        bytes: payload.len(),
        limit,
    })?;
    let mut image = Vec::with_capacity(SEGMENT_HEADER_BYTES + section.len() + payload.len());
    image.extend_from_slice(&[
        SEGMENT_VERSION,
        physical_type as u8,
        codec as u8,
        validity.form(),
    ]);
    image.extend_from_slice(&(values.len() as u32).to_le_bytes());
    image.extend_from_slice(&(validity.null_count() as u32).to_le_bytes());
    image.extend_from_slice(&(section.len() as u32).to_le_bytes());
    image.extend_from_slice(&payload_bytes.to_le_bytes());
    image.extend_from_slice(section);
    image.extend_from_slice(&payload);
    Ok(image)
}

const _: () = assert!(
    ROWS_MAX <= u32::MAX as usize,
    "counts are stored in four bytes"
);
const _: () = assert!(PhysicalType::Bytes as u8 == 8, "physical types are stored");
