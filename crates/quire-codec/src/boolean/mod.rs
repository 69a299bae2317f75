//! The payload of a column of booleans, and of validity: bits, packed least significant first.
//!
//! | codec | payload |
//! |---|---|
//! | plain | ⌈rows / 8⌉ bytes |
//! | constant | 1 byte, 0 or 1 |
//! | RLE | a container per vector, see below |
//!
//! RLE: for each vector one byte of kind and, for kinds 3 to 6, two bytes of count; then the containers.
//!
//! | kind | container |
//! |---|---|
//! | 0, 1 | nothing: all false, all true |
//! | 2 | the bits, ⌈rows / 8⌉ bytes |
//! | 3, 4 | positions of the true, of the false rows: `count` numbers of 10 bits, ascending |
//! | 5, 6 | positions where a row differs from the row before, likewise; the first row is false, true |
//!
//! Each vector gets the smallest, so scattered NULLs, runs of NULLs and half NULLs all cost what they must.

mod bits;
mod containers;
mod stored;

pub(crate) use bits::VECTOR_WORDS;
pub use bits::to_words;
use bits::{clear_beyond, vectors};

use crate::{
    CodecId, Corrupt, EncodeError, ImageCursor, PhysicalType, ROWS_MAX, VECTOR_VALUES,
    vector_count, vector_rows,
};
use std::ops::Range;
use std::sync::Arc;
pub(crate) use stored::{RowSet, append_rows, rows_bytes};

/// Encodes the first `row_count` bits of `words`, least significant first.
///
/// # Errors
/// Too many rows, too few words, a codec that booleans do not have, or [`CodecId::Constant`] for bits that
/// differ.
pub fn encode(codec: CodecId, words: &[u64], row_count: usize) -> Result<Vec<u8>, EncodeError> {
    check(words, row_count)?;
    let mut out = Vec::new();
    match codec {
        CodecId::Plain => {
            for vector in vectors(words, row_count) {
                vector
                    .iter()
                    .for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
            }
            out.truncate(row_count.div_ceil(8));
        }
        CodecId::Constant => out.push(constant_value(words, row_count)?.into()),
        CodecId::Rle => append_rows(words, row_count, &mut out),
        _ => return Err(unsupported(codec)),
    }
    Ok(out)
}

/// Size of [`encode`]'s result, which is not written. Fails when `encode` would.
pub fn encoded_bytes(
    codec: CodecId,
    words: &[u64],
    row_count: usize,
) -> Result<usize, EncodeError> {
    check(words, row_count)?;
    match codec {
        CodecId::Plain => Ok(row_count.div_ceil(8)),
        CodecId::Constant => constant_value(words, row_count).map(|_| 1),
        CodecId::Rle => Ok(rows_bytes(words, row_count)),
        _ => Err(unsupported(codec)),
    }
}

fn unsupported(codec: CodecId) -> EncodeError {
    EncodeError::Unsupported {
        codec,
        physical_type: PhysicalType::Bool,
    }
}

fn check(words: &[u64], row_count: usize) -> Result<(), EncodeError> {
    EncodeError::check_rows(row_count)?;
    if words.len() >= row_count.div_ceil(64) {
        Ok(())
    } else {
        Err(EncodeError::ValidityLength {
            words: words.len(),
            expected: row_count.div_ceil(64),
            row_count,
        })
    }
}

fn constant_value(words: &[u64], row_count: usize) -> Result<bool, EncodeError> {
    let ones: usize = vectors(words, row_count)
        .flatten()
        .map(|word| word.count_ones() as usize)
        .sum();
    match ones {
        0 => Ok(false),
        all if all == row_count => Ok(true),
        _ => Err(EncodeError::NotConstant),
    }
}

/// Decoder of the payloads that [`encode`] writes.
#[derive(Clone, Debug)]
pub struct BooleanDecoder {
    row_count: usize,
    scheme: BooleanScheme,
}

#[derive(Clone, Debug)]
enum BooleanScheme {
    Plain(Arc<[u8]>, Range<usize>),
    Constant(bool),
    Containers(RowSet),
}

impl BooleanDecoder {
    /// Opens the payload of `row_count` rows in `image[payload]`.
    pub fn open(
        codec: CodecId,
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
    ) -> Result<Self, Corrupt> {
        let mut cursor = ImageCursor::new(&image, payload.clone())?;
        if row_count > ROWS_MAX {
            return Err(cursor.corrupt("more rows than a segment can hold"));
        }
        let scheme = match codec {
            CodecId::Plain => {
                cursor.take(row_count.div_ceil(8), "bits")?;
                cursor.finish("bits")?;
                BooleanScheme::Plain(image, payload)
            }
            CodecId::Constant => {
                let value = match cursor.u8("constant bit")? {
                    0 => false,
                    1 => true,
                    _ => return Err(cursor.corrupt("constant bit is neither 0 nor 1")),
                };
                cursor.finish("constant bit")?;
                BooleanScheme::Constant(value)
            }
            CodecId::Rle => BooleanScheme::Containers(RowSet::open(image, payload, row_count)?),
            _ => {
                return Err(Corrupt::new(
                    format!("codec {codec} does not hold booleans"),
                    0,
                ));
            }
        };
        Ok(Self { row_count, scheme })
    }

    /// Decodes vector `vector` as bits, those beyond its rows cleared, and returns its rows.
    pub fn decode_words(
        &self,
        vector: usize,
        out: &mut [u64; VECTOR_WORDS],
    ) -> Result<usize, Corrupt> {
        if vector >= vector_count(self.row_count) {
            return Err(Corrupt::new("vector is beyond the segment", 0));
        }
        let rows = vector_rows(self.row_count, vector);
        match &self.scheme {
            BooleanScheme::Plain(image, payload) => {
                let start = payload.start + vector * VECTOR_VALUES / 8;
                let bytes = image
                    .get(start..start + rows.div_ceil(8))
                    .unwrap_or_default();
                containers::read_words(bytes, out);
                clear_beyond(out, rows);
            }
            BooleanScheme::Constant(value) => {
                out.fill(if *value { u64::MAX } else { 0 });
                clear_beyond(out, rows);
            }
            BooleanScheme::Containers(set) => set.words(vector, out)?,
        }
        Ok(rows)
    }

    /// Decodes vector `vector` and returns its rows; `out` beyond them is false.
    pub fn decode_vector(
        &self,
        vector: usize,
        out: &mut [bool; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        let mut words = [0; VECTOR_WORDS];
        let rows = self.decode_words(vector, &mut words)?;
        for (values, word) in out.chunks_exact_mut(64).zip(words) {
            for (bit, value) in values.iter_mut().enumerate() {
                *value = word >> bit & 1 != 0;
            }
        }
        Ok(rows)
    }

    /// The value of row `row`, decoding at most its vector.
    pub fn value(&self, row: usize) -> Result<bool, Corrupt> {
        if row >= self.row_count {
            return Err(Corrupt::new("row is beyond the segment", 0));
        }
        let mut words = [0; VECTOR_WORDS];
        self.decode_words(row / VECTOR_VALUES, &mut words)?;
        Ok(words[row % VECTOR_VALUES / 64] >> (row % 64) & 1 != 0)
    }
}
