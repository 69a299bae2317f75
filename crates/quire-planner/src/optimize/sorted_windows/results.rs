//! Results of a function for rows that have not been given out, in the order of the rows.
//!
//! A result of a partition or of a peer group is the result of all its rows. It is repeated for a batch of them at a time: there may be more
//! rows than memory has room for results.

use std::collections::VecDeque;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, UInt32Array};
use datafusion::arrow::compute::{concat, take};
use datafusion::common::{Result, internal_err};

/// Results that became known at the same time.
pub(super) enum ResultPart {
    /// One for each row.
    OfRows(ArrayRef),
    OfSpans(SpanResults),
}

/// One result for each of some partitions or peer groups.
pub(super) struct SpanResults {
    results: ArrayRef,
    row_counts: Arc<[usize]>,
    /// So many spans have been given out, and so many rows of the next one.
    given_spans: usize,
    given_rows: usize,
}

impl ResultPart {
    /// `row_counts` says how many rows each span has.
    pub(super) fn of_spans(results: ArrayRef, row_counts: Arc<[usize]>) -> Self {
        Self::OfSpans(SpanResults {
            results,
            row_counts,
            given_spans: 0,
            given_rows: 0,
        })
    }

    fn row_count(&self) -> usize {
        match self {
            Self::OfRows(results) => results.len(),
            Self::OfSpans(spans) => spans.row_counts.iter().sum(),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::OfRows(results) => results.get_array_memory_size(),
            Self::OfSpans(spans) => {
                spans.results.get_array_memory_size() + size_of_val(spans.row_counts.as_ref())
            }
        }
    }

    /// The results of the next rows: of `wanted` rows, or of all that are left.
    fn take(&mut self, wanted: usize) -> Result<ArrayRef> {
        match self {
            Self::OfRows(results) => {
                let given = results.slice(0, wanted.min(results.len()));
                *results = results.slice(given.len(), results.len() - given.len());
                Ok(given)
            }
            Self::OfSpans(spans) => {
                let places = spans.next_places(wanted)?;
                Ok(take(&spans.results, &places, None)?)
            }
        }
    }
}

impl SpanResults {
    /// For each of the next rows, which result is its own.
    fn next_places(&mut self, wanted: usize) -> Result<UInt32Array> {
        let mut places: Vec<u32> = Vec::with_capacity(wanted);
        while let Some(row_count) = self.row_counts.get(self.given_spans)
            && places.len() < wanted
        {
            let Ok(place) = u32::try_from(self.given_spans) else {
                return internal_err!("a batch has more than 2^32 partitions");
            };
            let rows = (row_count - self.given_rows).min(wanted - places.len());
            places.extend(std::iter::repeat_n(place, rows));
            self.given_rows += rows;
            if self.given_rows == *row_count {
                self.given_spans += 1;
                self.given_rows = 0;
            }
        }
        Ok(places.into())
    }
}

/// The results.
#[derive(Default)]
pub(super) struct ResultQueue {
    parts: VecDeque<QueuedResults>,
    row_count: usize,
    bytes: usize,
}

struct QueuedResults {
    part: ResultPart,
    /// Rows that have not been given out.
    row_count: usize,
    bytes: usize,
}

impl ResultQueue {
    /// Of so many rows the results are known.
    pub(super) fn row_count(&self) -> usize {
        self.row_count
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn push(&mut self, part: ResultPart) {
        let (row_count, bytes) = (part.row_count(), part.bytes());
        if row_count > 0 {
            self.row_count += row_count;
            self.bytes += bytes;
            self.parts.push_back(QueuedResults {
                part,
                row_count,
                bytes,
            });
        }
    }

    /// The results of the next rows, which must be known.
    pub(super) fn take(&mut self, row_count: usize) -> Result<ArrayRef> {
        let mut pieces = vec![self.take_piece(row_count)?];
        let mut taken = pieces[0].len();
        while taken < row_count {
            let piece = self.take_piece(row_count - taken)?;
            taken += piece.len();
            pieces.push(piece);
        }
        if let [piece] = pieces.as_slice() {
            return Ok(Arc::clone(piece));
        }
        let pieces: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
        Ok(concat(&pieces)?)
    }

    /// Results of at least one row, and of no more than the first part has.
    fn take_piece(&mut self, wanted: usize) -> Result<ArrayRef> {
        let Some(first) = self.parts.front_mut() else {
            return internal_err!("the results of {wanted} rows are not known");
        };
        let piece = first.part.take(wanted)?;
        self.row_count -= piece.len();
        first.row_count -= piece.len();
        if first.row_count == 0 {
            self.bytes -= first.bytes;
            self.parts.pop_front();
        }
        Ok(piece)
    }
}
