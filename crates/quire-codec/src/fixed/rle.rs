//! Runs of equal values. Runs end with their vector, so that each vector stands alone.
//!
//! | size | field |
//! |---|---|
//! | 4 | number of runs |
//! | 4 | size of the run values |
//! | 2 · vectors | runs in each vector, 1 to 1,024 |
//! | … | value of each run ([`sequence`]) |
//! | … | length of each run less one, as 16-bit integers ([`sequence`]) |

use crate::int::element::Element;
use crate::int::sequence::{self, Sequence, SequenceReader};
use crate::{Corrupt, ImageCursor, VECTOR_VALUES, vector_count, vector_rows};
use std::ops::Range;
use std::sync::Arc;

/// Up to this length, a run is written with as many values as this.
const SHORT_RUN: usize = 8;

struct RleRuns<E> {
    values: Vec<E>,
    lengths: Vec<i16>,
    /// Per vector.
    counts: Vec<u16>,
}

fn runs_of<E: Element>(values: &[E]) -> RleRuns<E> {
    let mut runs = RleRuns {
        values: Vec::new(),
        lengths: Vec::new(),
        counts: Vec::new(),
    };
    for vector in values.chunks(VECTOR_VALUES) {
        let before = runs.values.len();
        for run in vector.chunk_by(|left, right| left == right) {
            runs.values.push(run[0]);
            runs.lengths.push((run.len() - 1) as i16);
        }
        runs.counts.push((runs.values.len() - before) as u16);
    }
    runs
}

/// Size of what [`encode`] writes.
pub(crate) fn encoded_bytes<E: Element>(values: &[E]) -> usize {
    let runs = runs_of(values);
    8 + 2 * runs.counts.len()
        + sequence::encoded_bytes(&runs.values)
        + sequence::encoded_bytes(&runs.lengths)
}

pub(crate) fn encode<E: Element>(values: &[E], out: &mut Vec<u8>) {
    let runs = runs_of(values);
    let mut run_values = Vec::new();
    sequence::append(&runs.values, &mut run_values);
    out.extend_from_slice(&(runs.values.len() as u32).to_le_bytes());
    out.extend_from_slice(&(run_values.len() as u32).to_le_bytes());
    runs.counts
        .iter()
        .for_each(|count| out.extend_from_slice(&count.to_le_bytes()));
    out.extend_from_slice(&run_values);
    sequence::append(&runs.lengths, out);
}

/// Decoder of an RLE payload.
#[derive(Clone, Debug)]
pub(crate) struct RleDecoder<E: Element> {
    /// First run of each vector, and the number of all runs.
    first_runs: Vec<u32>,
    values: SequenceReader<E>,
    lengths: SequenceReader<i16>,
}

impl<E: Element> RleDecoder<E> {
    pub(crate) fn open(
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
    ) -> Result<Self, Corrupt> {
        let end = payload.end;
        let mut cursor = ImageCursor::new(&image, payload)?;
        let run_count = cursor.u32("number of runs")? as usize;
        let value_bytes = cursor.u32("size of the run values")? as usize;
        let mut first_runs = vec![0];
        let mut total = 0;
        for vector in 0..vector_count(row_count) {
            let count = usize::from(cursor.u16("runs of a vector")?);
            if count == 0 || count > vector_rows(row_count, vector) {
                return Err(cursor.corrupt("number of runs does not fit the vector"));
            }
            total += count;
            first_runs.push(total as u32);
        }
        if total != run_count {
            return Err(cursor.corrupt("runs of the vectors do not add up"));
        }
        let values = cursor.take(value_bytes, "run values")?;
        let lengths = cursor.position()..end;
        let values = SequenceReader::new(Sequence::open(image.clone(), values, run_count)?);
        let lengths = SequenceReader::new(Sequence::open(image, lengths, run_count)?);
        Ok(Self {
            first_runs,
            values,
            lengths,
        })
    }

    /// First run of a vector, and its run lengths less one at the front of `lengths`.
    fn lengths<'b>(
        &mut self,
        vector: usize,
        lengths: &'b mut [i16; VECTOR_VALUES],
    ) -> Result<(usize, &'b [i16]), Corrupt> {
        let missing = || Corrupt::new("vector is beyond the segment", 0);
        let first = *self.first_runs.get(vector).ok_or_else(missing)? as usize;
        let end = *self.first_runs.get(vector + 1).ok_or_else(missing)? as usize;
        let lengths = lengths.get_mut(..end - first).ok_or_else(missing)?;
        self.lengths.read(first, lengths)?;
        Ok((first, lengths))
    }

    /// Calls `take` with the value and the length of each run of a vector of `rows` rows.
    pub(crate) fn for_each_run(
        &mut self,
        vector: usize,
        rows: usize,
        mut take: impl FnMut(E, usize) -> Result<(), Corrupt>,
    ) -> Result<(), Corrupt> {
        let mut lengths = [0i16; VECTOR_VALUES];
        let (first, lengths) = self.lengths(vector, &mut lengths)?;
        let mut values = [E::default(); VECTOR_VALUES];
        let values = &mut values[..lengths.len()];
        self.values.read(first, values)?;
        let mut end = 0;
        for (value, length) in values.iter().zip(lengths) {
            let length = usize::from(*length as u16) + 1;
            end += length;
            take(*value, length)?;
        }
        if end == rows {
            Ok(())
        } else {
            Err(wrong_lengths())
        }
    }

    pub(crate) fn decode_vector(
        &mut self,
        vector: usize,
        rows: usize,
        out: &mut [E; VECTOR_VALUES],
    ) -> Result<(), Corrupt> {
        let mut row = 0;
        self.for_each_run(vector, rows, |value, length| {
            let rest = out.get_mut(row..).ok_or_else(wrong_lengths)?;
            row += length;
            match rest.first_chunk_mut::<SHORT_RUN>() {
                // Without a loop, whose end nobody can predict. The next run overwrites what is too much.
                Some(start) if length <= SHORT_RUN => start.fill(value),
                _ => rest
                    .get_mut(..length)
                    .ok_or_else(wrong_lengths)?
                    .fill(value),
            }
            Ok(())
        })
    }

    pub(crate) fn value(&mut self, row: usize, rows: usize) -> Result<E, Corrupt> {
        let mut lengths = [0i16; VECTOR_VALUES];
        let (first, lengths) = self.lengths(row / VECTOR_VALUES, &mut lengths)?;
        let mut end = 0;
        let mut found = None;
        for (run, length) in lengths.iter().enumerate() {
            end += usize::from(*length as u16) + 1;
            if row % VECTOR_VALUES < end && found.is_none() {
                found = Some(run);
            }
        }
        match found.filter(|_| end == rows) {
            Some(run) => self.values.value(first + run),
            None => Err(wrong_lengths()),
        }
    }
}

fn wrong_lengths() -> Corrupt {
    Corrupt::new("run lengths do not add up to the vector", 0)
}
