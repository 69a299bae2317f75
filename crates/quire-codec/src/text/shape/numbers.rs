//! The integers of one run.

use crate::int::sequence::Sequence;
use crate::{Corrupt, VECTOR_VALUES};
use std::ops::Range;
use std::sync::Arc;

/// A sequence that is read in any range; keeps the vector decoded last.
pub(super) struct Numbers {
    sequence: Sequence<i64>,
    values: Box<[i64; VECTOR_VALUES]>,
    /// Which vector `values` holds, and its length.
    held: Option<(usize, usize)>,
}

impl Numbers {
    pub(super) fn open(
        image: &Arc<[u8]>,
        range: Range<usize>,
        length: usize,
    ) -> Result<Self, Corrupt> {
        Ok(Self {
            sequence: Sequence::open(image.clone(), range, length)?,
            values: Box::new([0; VECTOR_VALUES]),
            held: None,
        })
    }

    fn hold(&mut self, vector: usize) -> Result<&[i64], Corrupt> {
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

    /// Numbers `start..start + out.len()`.
    pub(super) fn read(&mut self, start: usize, out: &mut [u64]) -> Result<(), Corrupt> {
        let mut done = 0;
        while done < out.len() {
            let at = start + done;
            let values = self.hold(at / VECTOR_VALUES)?;
            let available = values.get(at % VECTOR_VALUES..).unwrap_or_default();
            let count = available.len().min(out.len() - done);
            if count == 0 {
                return Err(Corrupt::new("run is shorter than its shape's rows", 0));
            }
            for (number, value) in out[done..done + count].iter_mut().zip(available) {
                *number = *value as u64;
            }
            done += count;
        }
        Ok(())
    }

    /// Number `index`, without its neighbours where the sequence allows it.
    pub(super) fn get(&self, index: usize) -> Result<u64, Corrupt> {
        self.sequence.value(index).map(|value| value as u64)
    }
}
