//! Integers inside another payload: run lengths, dictionary values, codes, digits.
//!
//! | size | field |
//! |---|---|
//! | 1 | 0: PFOR payload follows; 1: PFOR-DELTA payload follows; 2: blocks follow ([`super::blocks`]) |

use super::blocks::{self, IntBlocks};
use super::element::{Element, Packed};
use crate::{Corrupt, GROUP_VALUES, ImageCursor, ROWS_MAX, RowMask, VECTOR_VALUES, vector_count};
use std::ops::Range;
use std::sync::Arc;

/// Differences must be smaller than this part of the values to be worth their running sums.
const DELTA_SHARE: (usize, usize) = (19, 20);

const PLAIN: u8 = 0;
const DELTA: u8 = 1;
const BLOCKS: u8 = 2;

/// How a sequence is stored.
enum SequencePlan {
    Packed { delta: bool, bytes: usize },
    Blocks(Vec<u8>),
}

/// Differences of longer sequences are first tried on this many vectors.
const SAMPLE_VECTORS: usize = 4;

/// Whether differences could be smaller than values.
fn may_be_differences<E: Element>(values: &[E]) -> bool {
    let vectors = values.len() / VECTOR_VALUES;
    if vectors <= 2 * SAMPLE_VECTORS {
        return true;
    }
    let mut sample = Vec::with_capacity(SAMPLE_VECTORS * VECTOR_VALUES);
    for index in 0..SAMPLE_VECTORS {
        let start = index * (vectors - 1) / (SAMPLE_VECTORS - 1) * VECTOR_VALUES;
        sample.extend_from_slice(&values[start..start + VECTOR_VALUES]);
    }
    E::Packed::encoded_bytes(&sample, true) < E::Packed::encoded_bytes(&sample, false)
}

fn plan<E: Element>(values: &[E]) -> SequencePlan {
    let plain = E::Packed::encoded_bytes(values, false);
    let delta = if may_be_differences(values) {
        E::Packed::encoded_bytes(values, true)
    } else {
        plain
    };
    let is_delta = delta * DELTA_SHARE.1 < plain * DELTA_SHARE.0;
    let bytes = if is_delta { delta } else { plain };
    match blocks::encode(values, bytes) {
        Some(payload) => SequencePlan::Blocks(payload),
        None => SequencePlan::Packed {
            delta: is_delta,
            bytes,
        },
    }
}

/// Size of what [`append`] writes.
pub fn encoded_bytes<E: Element>(values: &[E]) -> usize {
    1 + match plan(values) {
        SequencePlan::Packed { bytes, .. } => bytes,
        SequencePlan::Blocks(payload) => payload.len(),
    }
}

/// Appends the sequence of `values`, at most [`ROWS_MAX`] of them.
pub fn append<E: Element>(values: &[E], out: &mut Vec<u8>) {
    match plan(values) {
        SequencePlan::Packed { delta, .. } => {
            out.push(if delta { DELTA } else { PLAIN });
            E::Packed::encode(values, delta, out);
        }
        SequencePlan::Blocks(payload) => {
            out.push(BLOCKS);
            out.extend_from_slice(&payload);
        }
    }
}

/// An open sequence.
#[derive(Clone, Debug)]
pub struct Sequence<E: Element> {
    stored: StoredSequence<E>,
    reads_single_values: bool,
    length: usize,
}

#[derive(Clone, Debug)]
enum StoredSequence<E: Element> {
    Packed(E::Packed),
    Blocks(IntBlocks<E>),
}

impl<E: Element> Sequence<E> {
    /// Opens the sequence of `length` values in `image[range]`.
    pub fn open(image: Arc<[u8]>, range: Range<usize>, length: usize) -> Result<Self, Corrupt> {
        let end = range.end;
        let mut cursor = ImageCursor::new(&image, range)?;
        if length > ROWS_MAX {
            return Err(cursor.corrupt("sequence is longer than a segment can be"));
        }
        let form = cursor.u8("form of a sequence")?;
        let rest = cursor.position()..end;
        let stored = match form {
            PLAIN | DELTA => {
                StoredSequence::Packed(E::Packed::open(image, rest, length, form == DELTA)?)
            }
            BLOCKS => StoredSequence::Blocks(IntBlocks::open(image, rest, length)?),
            _ => return Err(cursor.corrupt("form of a sequence is not 0 to 2")),
        };
        Ok(Self {
            stored,
            reads_single_values: form == PLAIN,
            length,
        })
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Decodes vector `vector` and returns its length; `out` beyond it is arbitrary.
    pub fn decode_vector(
        &self,
        vector: usize,
        out: &mut [E; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        match &self.stored {
            StoredSequence::Packed(packed) => packed.decode_vector(vector, out),
            StoredSequence::Blocks(blocks) => blocks.decode_vector(vector, out),
        }
    }

    /// Whether one value is read without those around it: the sequence is neither of differences nor in compressed blocks.
    pub(crate) fn reads_single_values(&self) -> bool {
        self.reads_single_values
    }

    /// Value `index`.
    pub fn value(&self, index: usize) -> Result<E, Corrupt> {
        match &self.stored {
            StoredSequence::Packed(packed) => packed.value(index),
            StoredSequence::Blocks(blocks) => blocks.value(index),
        }
    }

    /// Decodes values `128 · group` and after and returns their number; `out` beyond them is arbitrary.
    pub(crate) fn decode_group(
        &self,
        group: usize,
        out: &mut [E; GROUP_VALUES],
    ) -> Result<usize, Corrupt> {
        match &self.stored {
            StoredSequence::Packed(packed) => packed.decode_group(group, out),
            StoredSequence::Blocks(blocks) => {
                let start = group * GROUP_VALUES;
                let mut values = [E::default(); VECTOR_VALUES];
                let length = blocks.decode_vector(start / VECTOR_VALUES, &mut values)?;
                out.copy_from_slice(&values[start % VECTOR_VALUES..][..GROUP_VALUES]);
                Ok(length
                    .saturating_sub(start % VECTOR_VALUES)
                    .min(GROUP_VALUES))
            }
        }
    }

    /// Marks the values of a vector from `low` to `high`; false if they must be decoded to tell.
    pub(crate) fn select(
        &self,
        vector: usize,
        low: E,
        high: E,
        mask: &mut RowMask,
    ) -> Result<bool, Corrupt> {
        match &self.stored {
            StoredSequence::Packed(packed) => packed.select(vector, low, high, mask),
            StoredSequence::Blocks(_) => Ok(false),
        }
    }

    /// All values.
    pub fn to_vec(&self) -> Result<Vec<E>, Corrupt> {
        let mut values = Vec::with_capacity(self.length);
        let mut vector_values = [E::default(); VECTOR_VALUES];
        for vector in 0..vector_count(self.length) {
            let length = self.decode_vector(vector, &mut vector_values)?;
            values.extend_from_slice(&vector_values[..length]);
        }
        Ok(values)
    }
}

/// A sequence that is read in ranges: keeps the vector decoded last.
#[derive(Clone, Debug)]
pub struct SequenceReader<E: Element> {
    sequence: Sequence<E>,
    values: Box<[E; VECTOR_VALUES]>,
    /// Which vector `values` holds, and its length.
    held: Option<(usize, usize)>,
}

impl<E: Element> SequenceReader<E> {
    /// Reads from `sequence`.
    pub fn new(sequence: Sequence<E>) -> Self {
        Self {
            sequence,
            values: Box::new([E::default(); VECTOR_VALUES]),
            held: None,
        }
    }

    /// What is read, for single values that lie anywhere.
    pub(crate) fn sequence(&self) -> &Sequence<E> {
        &self.sequence
    }

    /// The values of a vector.
    fn vector(&mut self, vector: usize) -> Result<&[E], Corrupt> {
        let length = match self.held {
            Some((held, length)) if held == vector => length,
            _ => {
                self.held = None;
                let length = self.sequence.decode_vector(vector, &mut self.values)?;
                self.held = Some((vector, length));
                length
            }
        };
        Ok(&self.values[..length])
    }

    /// Values `start..start + out.len()`, from the vectors that hold them.
    pub fn read(&mut self, start: usize, out: &mut [E]) -> Result<(), Corrupt> {
        let mut done = 0;
        while done < out.len() {
            let at = start + done;
            let values = self.vector(at / VECTOR_VALUES)?;
            let available = values.get(at % VECTOR_VALUES..).unwrap_or_default();
            let count = available.len().min(out.len() - done);
            if count == 0 {
                return Err(Corrupt::new("sequence is shorter than its use", 0));
            }
            out[done..done + count].copy_from_slice(&available[..count]);
            done += count;
        }
        Ok(())
    }

    /// Value `index`.
    pub fn value(&mut self, index: usize) -> Result<E, Corrupt> {
        let found = self
            .vector(index / VECTOR_VALUES)?
            .get(index % VECTOR_VALUES)
            .copied();
        found.ok_or_else(|| Corrupt::new("sequence is shorter than its use", 0))
    }
}
