//! Ranges of the values of a payload within a payload, read in order: what has no shape, and what is in no dictionary.

use super::BytesDecoder;
use crate::{BytesVector, Corrupt, VECTOR_VALUES};

/// Values of a payload of strings, by ranges. Keeps the vector decoded last.
#[derive(Debug)]
pub(super) struct StringRangeReader {
    decoder: Box<BytesDecoder>,
    /// The vector decoded last, and its number.
    values: BytesVector,
    held: Option<usize>,
    /// Those of the range that was asked for.
    wanted: BytesVector,
}

impl StringRangeReader {
    pub(super) fn new(decoder: BytesDecoder) -> Self {
        Self {
            decoder: Box::new(decoder),
            values: BytesVector::new(),
            held: None,
            wanted: BytesVector::new(),
        }
    }

    /// Makes values `start..start + count` the wanted ones.
    pub(super) fn load(&mut self, start: usize, count: usize) -> Result<(), Corrupt> {
        self.wanted.clear();
        for index in start..start + count {
            let vector = index / VECTOR_VALUES;
            if self.held != Some(vector) {
                self.held = None;
                self.values.clear();
                self.decoder.decode_vector(vector, &mut self.values)?;
                self.held = Some(vector);
            }
            let value = self.values.as_slice().get(index % VECTOR_VALUES);
            self.wanted.push(value)?;
        }
        Ok(())
    }

    /// The values that were loaded last.
    pub(super) fn wanted(&self) -> &BytesVector {
        &self.wanted
    }

    /// Appends one value, without those around it where the codec can.
    pub(super) fn value(&mut self, index: usize, out: &mut Vec<u8>) -> Result<(), Corrupt> {
        self.decoder.value(index, out)
    }
}
