//! What figures 6.4 to 6.7 measure in common: the paper's segments, decoded vector by vector and compared.

use std::sync::Arc;

use quire_codec::{Corrupt, VECTOR_VALUES, vector_count};

use super::columns;
use crate::LabError;
use crate::super_scalar::{
    Compression, DictionaryEncoder, Integer, Marking, Reference, Segment, SegmentError,
    SegmentSettings, SuperScalarDictionary,
};

/// Bits of a code in figures 6.4, 6.5 and 6.7.
pub(super) const CODE_BITS: usize = 8;
/// Exceptions in a hundred values.
pub(super) const RATES_PERCENT: [u64; 11] = [0, 1, 2, 5, 10, 20, 30, 50, 70, 90, 100];

/// The paper's segment with linked exceptions, found with two cursors.
pub(super) fn patched<T: Integer>(
    reference: Reference<'_, T>,
    width: usize,
) -> SegmentSettings<'_, T> {
    SegmentSettings {
        reference,
        width,
        marking: Marking::Linked,
        compression: Compression::DoubleCursor,
    }
}

/// Decodes one vector after the other into `out`, and hands each over.
pub(crate) fn each_vector<T: Integer>(
    segment: &mut Segment<'_, T>,
    out: &mut [T; VECTOR_VALUES],
    mut take: impl FnMut(&[T]),
) -> Result<(), Corrupt> {
    for vector in 0..vector_count(segment.value_count()) {
        let rows = segment.decode_vector(vector, out)?;
        take(&out[..rows]);
    }
    Ok(())
}

/// Whether vectors handed over one by one are those of `values`.
pub(crate) struct VectorComparison<'a, T> {
    rest: &'a [T],
    equal: bool,
}

impl<'a, T: PartialEq> VectorComparison<'a, T> {
    pub(crate) fn with(values: &'a [T]) -> Self {
        Self {
            rest: values,
            equal: true,
        }
    }

    pub(crate) fn take(&mut self, vector: &[T]) {
        match self.rest.strip_prefix(vector) {
            Some(rest) => self.rest = rest,
            None => self.equal = false,
        }
    }

    pub(crate) fn finish(self, codec: &str) -> Result<(), LabError> {
        if self.equal && self.rest.is_empty() {
            Ok(())
        } else {
            Err(LabError::NotRestored {
                codec: codec.to_owned(),
            })
        }
    }
}

/// The 255 values that the dictionary of figures 6.4 and 6.5 has.
pub(super) fn dictionary() -> Result<DictionaryEncoder<u64>, SegmentError> {
    let values: Vec<u64> = (0..255).map(columns::scattered).collect();
    Ok(DictionaryEncoder::new(Arc::new(
        SuperScalarDictionary::new(&values)?,
    )))
}

pub(super) fn percents() -> Vec<f64> {
    RATES_PERCENT.iter().map(|&rate| rate as f64).collect()
}

/// The same values, signed.
pub(super) fn signed(values: &[u64]) -> Vec<i64> {
    values.iter().map(|&value| value as i64).collect()
}
