//! One column of one row group.
mod reader;
pub use quire_codec::choose::{Choice, ChooseOptions, Effort};
use quire_codec::{EncodeError, Values, CodecId};
pub use reader::{SegmentReader, SegmentSizes};

/// The values of one column of one row group, and which of them are NULL.
#[derive(Clone, Copy, Debug)]
pub struct SegmentInput<'a> {
    /// NULL rows hold an arbitrary value.
    pub values: Values<'a>,
    /// One bit per row, least significant first, 1 = valid; `ceil(rows / 64)` words. `None`: no NULLs.
    pub validity: Option<&'a [u64]>,
}

/// Encodes with that codec.
pub fn encode_segment(input: &SegmentInput<'_>, codec: CodecId) -> Result<Vec<u8>, EncodeError> {
    let _ = (input, codec);
    Ok(Vec::new())
}

/// Chooses.
pub fn choose_codec(input: &SegmentInput<'_>, options: &ChooseOptions) -> Choice {
    let _ = (input, options);
    Choice { codec: CodecId::Plain, estimated_bytes: 0, runner_up: None, raw_bytes: 0 }
}

/// Chooses a codec and encodes with it; the NULL slots are filled once for both.
pub fn choose_and_encode(input: &SegmentInput<'_>, options: &ChooseOptions) -> Result<(Choice, Vec<u8>), EncodeError> {
    let choice = choose_codec(input, options);
    Ok((choice, encode_segment(input, choice.codec)?))
}
