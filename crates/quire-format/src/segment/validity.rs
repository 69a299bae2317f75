//! Which rows are NULL, and the section of the segment that says so.

use quire_codec::boolean::{self, BooleanDecoder};
use quire_codec::{
    CodecId, Corrupt, EncodeError, ImageCursor, ROWS_MAX, RowMask, vector_count, vector_rows,
};
use std::ops::Range;
use std::sync::Arc;

const ALL_VALID: u8 = 0;
const ALL_NULL: u8 = 1;
const BITS: u8 = 2;

/// The validity of a column that is being encoded.
pub(super) struct ValidityEncoder<'a> {
    /// `None` when no row is NULL.
    words: Option<&'a [u64]>,
    row_count: usize,
    null_count: usize,
    /// The section as stored.
    section: Vec<u8>,
}

impl<'a> ValidityEncoder<'a> {
    /// `words`: one bit a row, 1 for those that are not NULL; `None` when no row is NULL.
    pub(super) fn of(row_count: usize, words: Option<&'a [u64]>) -> Result<Self, EncodeError> {
        if row_count > ROWS_MAX {
            return Err(EncodeError::TooManyRows {
                row_count,
                limit: ROWS_MAX,
            });
        }
        let Some(words) = words else {
            return Ok(Self {
                words: None,
                row_count,
                null_count: 0,
                section: Vec::new(),
            });
        };
        if words.len() != row_count.div_ceil(64) {
            let expected = row_count.div_ceil(64);
            return Err(EncodeError::ValidityLength {
                words: words.len(),
                expected,
                row_count,
            });
        }
        let null_count = row_count - count_valid(words, row_count);
        let section = match null_count {
            0 => Vec::new(),
            all if all == row_count => Vec::new(),
            _ => boolean::encode(CodecId::Rle, words, row_count)?,
        };
        let words = Some(words).filter(|_| null_count > 0);
        Ok(Self {
            words,
            row_count,
            null_count,
            section,
        })
    }

    pub(super) fn null_count(&self) -> usize {
        self.null_count
    }

    pub(super) fn section(&self) -> &[u8] {
        &self.section
    }

    pub(super) fn form(&self) -> u8 {
        match self.null_count {
            0 => ALL_VALID,
            all if all == self.row_count => ALL_NULL,
            _ => BITS,
        }
    }

    /// Bits of the rows; `None` when no row is NULL.
    pub(super) fn words(&self) -> Option<&'a [u64]> {
        self.words
    }
}

/// Whether row `row` is not NULL.
pub(super) fn is_valid(words: &[u64], row: usize) -> bool {
    words
        .get(row / 64)
        .is_some_and(|word| word >> (row % 64) & 1 != 0)
}

/// A bit for each of so many rows of a vector.
pub(super) fn all_rows(row_count: usize) -> RowMask {
    let mut mask = RowMask::default();
    for (index, word) in mask.iter_mut().enumerate() {
        *word = match row_count.saturating_sub(index * 64) {
            0 => 0,
            set @ 1..64 => (1 << set) - 1,
            _ => u64::MAX,
        };
    }
    mask
}

fn count_valid(words: &[u64], row_count: usize) -> usize {
    let whole: u32 = words
        .iter()
        .take(row_count / 64)
        .map(|word| word.count_ones())
        .sum();
    let rest = words.get(row_count / 64).copied().unwrap_or(0) & ((1 << (row_count % 64)) - 1);
    whole as usize + rest.count_ones() as usize
}

/// The validity of a segment that is being read.
#[derive(Clone, Debug)]
pub(super) enum StoredValidity {
    AllValid,
    AllNull,
    Bits(BooleanDecoder),
}

impl StoredValidity {
    /// Opens `section`, whose form and counts the header gave, and checks them.
    pub(super) fn open(
        form: u8,
        image: &Arc<[u8]>,
        section: Range<usize>,
        row_count: usize,
        null_count: usize,
    ) -> Result<Self, Corrupt> {
        let start = section.start;
        let wrong = |what: &'static str| Err(Corrupt::new(what, start));
        if form != BITS && !section.is_empty() {
            return wrong("validity section of a segment that needs none");
        }
        match form {
            ALL_VALID if null_count == 0 => Ok(Self::AllValid),
            ALL_NULL if null_count == row_count => Ok(Self::AllNull),
            BITS => {
                ImageCursor::new(image, section.clone())?;
                let bits = BooleanDecoder::open(CodecId::Rle, image.clone(), section, row_count)?;
                let stored = Self::Bits(bits);
                if stored.count_nulls(row_count)? == null_count {
                    Ok(stored)
                } else {
                    wrong("NULL count of the header is not that of the validity section")
                }
            }
            ALL_VALID | ALL_NULL => wrong("NULL count does not fit the form of validity"),
            _ => wrong("unknown form of validity"),
        }
    }

    fn count_nulls(&self, row_count: usize) -> Result<usize, Corrupt> {
        let mut out = [0; 16];
        (0..vector_count(row_count))
            .map(|vector| self.vector(vector, vector_rows(row_count, vector), &mut out))
            .sum()
    }

    /// The bits of a vector of `rows` rows, those beyond cleared, and how many rows are NULL.
    pub(super) fn vector(
        &self,
        vector: usize,
        rows: usize,
        out: &mut [u64; 16],
    ) -> Result<usize, Corrupt> {
        match self {
            Self::AllValid => {
                *out = all_rows(rows);
                Ok(0)
            }
            Self::AllNull => {
                out.fill(0);
                Ok(rows)
            }
            Self::Bits(bits) => {
                bits.decode_words(vector, out)?;
                Ok(rows
                    - out
                        .iter()
                        .map(|word| word.count_ones() as usize)
                        .sum::<usize>())
            }
        }
    }

    /// Whether row `row`, which must exist, is not NULL.
    pub(super) fn is_valid(&self, row: usize) -> Result<bool, Corrupt> {
        match self {
            Self::AllValid => Ok(true),
            Self::AllNull => Ok(false),
            Self::Bits(bits) => bits.value(row),
        }
    }
}
