//! Choice of codec.
use crate::CodecId;

/// How hard to look for the best codec.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// Small samples.
    Fast,
    /// Samples large enough that the estimate is usually within a few per cent.
    #[default]
    Normal,
    /// Every vector.
    Thorough,
}

/// What the caller wants of the chooser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChooseOptions {
    /// The codec the user asked for; it is not questioned.
    pub forced: Option<CodecId>,
    pub effort: Effort,
}

/// The codec for a column of one row group, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub codec: CodecId,
    /// Expected size of the encoded values.
    pub estimated_bytes: usize,
    /// The best of the others and its expected size.
    pub runner_up: Option<(CodecId, usize)>,
    /// Size of the values uncompressed.
    pub raw_bytes: usize,
}
