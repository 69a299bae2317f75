//! What can go wrong: bytes that no encoder wrote, and values a codec cannot hold.

use crate::{CodecId, PhysicalType, ROWS_MAX};
use std::borrow::Cow;

/// Bytes that no encoder of this format wrote: what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("corrupt data at byte {offset}: {what}")]
pub struct Corrupt {
    /// What was found, and what was expected.
    pub what: Cow<'static, str>,
    /// Byte offset within the image that was being decoded.
    pub offset: usize,
}

impl Corrupt {
    /// `what` is wrong at byte `offset` of the image.
    pub fn new(what: impl Into<Cow<'static, str>>, offset: usize) -> Self {
        Self {
            what: what.into(),
            offset,
        }
    }
}

/// Why values could not be encoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    #[error("codec {codec} cannot hold {physical_type} values; choose another codec or none")]
    Unsupported {
        codec: CodecId,
        physical_type: PhysicalType,
    },
    #[error(
        "codec constant needs all values of a segment to be equal; choose another codec or none"
    )]
    NotConstant,
    #[error(
        "{row_count} rows are more than the {limit} a segment can hold; write smaller row groups"
    )]
    TooManyRows { row_count: usize, limit: usize },
    #[error(
        "{bytes} bytes of text are more than the {limit} a segment can hold; write smaller row groups"
    )]
    TooManyBytes { bytes: usize, limit: usize },
    #[error("validity has {words} words, but {row_count} rows need {expected}")]
    ValidityLength {
        words: usize,
        expected: usize,
        row_count: usize,
    },
    #[error("string offsets are not ascending or leave the data; this is a defect of the caller")]
    BadOffsets,
}

impl EncodeError {
    /// Refuses more rows than a payload can hold.
    pub(crate) fn check_rows(row_count: usize) -> Result<(), Self> {
        if row_count <= ROWS_MAX {
            Ok(())
        } else {
            Err(Self::TooManyRows {
                row_count,
                limit: ROWS_MAX,
            })
        }
    }
}
