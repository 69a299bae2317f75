//! What a tuple has in place of a long string.

use quire_codec::Corrupt;

use super::fit::VALUE_BYTES_MAX;

/// What a key of an overflow tree has behind the key of the row: ordinal and number of the chunk.
pub(super) const OVERFLOW_SUFFIX_BYTES: usize = 6;

/// No UTF-8 starts with it, and no `BYTEA` is stored with it in front but behind an escape.
const SPECIAL: u8 = 0xFF;
const ESCAPED: u8 = 0x00;
const CUT_OUT: u8 = 0x01;
pub(super) const MARK_BYTES: usize = 8;

/// What a tuple has in place of a string that was cut out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverflowMark {
    pub(super) value_bytes: u32,
    pub(super) chunk_bytes: u16,
}

/// A string as a tuple has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoredString<'a> {
    Whole(&'a [u8]),
    CutOut(OverflowMark),
}

impl<'a> StoredString<'a> {
    #[inline]
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Corrupt> {
        match bytes.first() {
            Some(&SPECIAL) => Self::read_special(bytes),
            _ => Ok(Self::Whole(bytes)),
        }
    }

    fn read_special(bytes: &'a [u8]) -> Result<Self, Corrupt> {
        match bytes {
            [SPECIAL, ESCAPED, value @ ..] if value.first() == Some(&SPECIAL) => {
                Ok(Self::Whole(value))
            }
            &[SPECIAL, CUT_OUT, a, b, c, d, low, high] => {
                let mark = OverflowMark {
                    value_bytes: u32::from_le_bytes([a, b, c, d]),
                    chunk_bytes: u16::from_le_bytes([low, high]),
                };
                if mark.chunk_bytes == 0 || mark.value_bytes() > VALUE_BYTES_MAX {
                    Err(Corrupt::new("mark of a long value", 0))
                } else {
                    Ok(Self::CutOut(mark))
                }
            }
            _ => Err(Corrupt::new("string starts with an unknown mark", 0)),
        }
    }
}

/// How a `BYTEA` is stored that starts like a mark; `None` if it does not.
pub(super) fn escape(bytes: &[u8]) -> Option<Vec<u8>> {
    (bytes.first() == Some(&SPECIAL)).then(|| [&[SPECIAL, ESCAPED], bytes].concat())
}

impl OverflowMark {
    /// Length of the string.
    #[must_use]
    pub const fn value_bytes(&self) -> usize {
        self.value_bytes as usize
    }

    /// Entries it was cut into.
    #[must_use]
    pub const fn chunk_count(&self) -> usize {
        self.value_bytes().div_ceil(self.chunk_bytes as usize)
    }

    pub(super) fn encode(self) -> Vec<u8> {
        let mut bytes = vec![SPECIAL, CUT_OUT];
        bytes.extend_from_slice(&self.value_bytes.to_le_bytes());
        bytes.extend_from_slice(&self.chunk_bytes.to_le_bytes());
        bytes
    }
}
