//! The integers of one run.

use crate::Corrupt;
use crate::int::sequence::{Sequence, SequenceReader};
use std::ops::Range;
use std::sync::Arc;

/// The sequence of a run, whose values are the bits of unsigned numbers.
pub(super) struct RunNumbers(SequenceReader<i64>);

impl RunNumbers {
    pub(super) fn open(
        image: &Arc<[u8]>,
        range: Range<usize>,
        length: usize,
    ) -> Result<Self, Corrupt> {
        let sequence = Sequence::open(image.clone(), range, length)?;
        Ok(Self(SequenceReader::new(sequence)))
    }

    /// Numbers `start..start + out.len()`.
    pub(super) fn read(&mut self, start: usize, out: &mut [u64]) -> Result<(), Corrupt> {
        self.0.read(start, bytemuck::cast_slice_mut(out))
    }

    /// Number `index`, without its neighbours where the sequence allows it.
    pub(super) fn get(&self, index: usize) -> Result<u64, Corrupt> {
        self.0.sequence().value(index).map(|value| value as u64)
    }
}
