//! The runs of equal integers that a segment stores, for conditions that are evaluated once per run.

use super::plain::{PlainSegment, ValueDecoder};
use super::reader::SegmentReader;
use quire_codec::correlated::is_supported;
use quire_codec::{CodecId, Corrupt};

/// Runs of equal integers, of one vector after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegerRuns {
    /// The integer of each run. Those of NULL rows are unspecified.
    pub values: Vec<i64>,
    /// Rows of each run, 1 to 1,024.
    pub lengths: Vec<u16>,
}

impl SegmentReader {
    /// Appends the runs of a vector, whose lengths add up to its rows. `false` if the segment does not store runs of integers of 16 to 64 bits.
    ///
    /// # Errors
    /// Corrupt bytes, or a vector beyond the segment. What has been appended is unspecified then.
    pub fn append_runs(&mut self, vector: usize, runs: &mut IntegerRuns) -> Result<bool, Corrupt> {
        let IntegerRuns { values, lengths } = runs;
        let append = |value: i64, length: usize| {
            values.push(value);
            lengths.push(length as u16);
        };
        match self.as_plain() {
            Some(plain) => plain.for_each_run(vector, append),
            None => Ok(false),
        }
    }
}

impl PlainSegment {
    /// Whether it stores runs of integers of 16 to 64 bits.
    pub(super) fn stores_runs(&self) -> bool {
        self.header().codec == CodecId::Rle && is_supported(self.physical_type())
    }

    /// Calls `take` with the integer and the length of each run of a vector. `false` if the segment does not store runs of integers of 16 to 64 bits.
    pub(super) fn for_each_run(
        &mut self,
        vector: usize,
        mut take: impl FnMut(i64, usize),
    ) -> Result<bool, Corrupt> {
        match &mut self.values {
            ValueDecoder::Int16(decoder) => {
                decoder.for_each_run(vector, |value, length| take(value.into(), length))
            }
            ValueDecoder::Int32(decoder) => {
                decoder.for_each_run(vector, |value, length| take(value.into(), length))
            }
            ValueDecoder::Int64(decoder) => decoder.for_each_run(vector, take),
            _ => Ok(false),
        }
    }
}
