//! The first and the last rows of a result of any length, in bounded memory.

use std::collections::VecDeque;

use quire::arrow::array::RecordBatch;

/// Keeps every row, or the first and last ones up to a limit.
///
/// Batches are kept as slices: memory is at most that of the batches which hold the kept rows.
pub struct RowSample {
    limit: Option<usize>,
    head: Vec<RecordBatch>,
    tail: VecDeque<RecordBatch>,
    head_row_count: usize,
    tail_row_count: usize,
    row_count: usize,
}

impl RowSample {
    /// Keeps at most `limit` rows; all of them with `None`.
    pub fn new(limit: Option<usize>) -> Self {
        Self {
            limit,
            head: Vec::new(),
            tail: VecDeque::new(),
            head_row_count: 0,
            tail_row_count: 0,
            row_count: 0,
        }
    }

    /// Takes the next rows of the result.
    pub fn push(&mut self, batch: &RecordBatch) {
        self.row_count += batch.num_rows();
        let head_room = match self.limit {
            None => usize::MAX,
            Some(limit) => limit.div_ceil(2) - self.head_row_count,
        };
        let head_rows = head_room.min(batch.num_rows());
        if head_rows > 0 {
            self.head.push(batch.slice(0, head_rows));
            self.head_row_count += head_rows;
        }
        let rest = batch.num_rows() - head_rows;
        if rest > 0 {
            self.tail.push_back(batch.slice(head_rows, rest));
            self.tail_row_count += rest;
            self.trim_tail();
        }
    }

    fn trim_tail(&mut self) {
        let tail_limit = self.limit.unwrap_or(usize::MAX) / 2;
        while let Some(oldest) = self.tail.front_mut() {
            let excess = self.tail_row_count.saturating_sub(tail_limit);
            if excess == 0 {
                return;
            }
            let dropped = excess.min(oldest.num_rows());
            self.tail_row_count -= dropped;
            if dropped == oldest.num_rows() {
                self.tail.pop_front();
            } else {
                *oldest = oldest.slice(dropped, oldest.num_rows() - dropped);
            }
        }
    }

    /// Rows seen.
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    /// Rows kept.
    pub fn shown_row_count(&self) -> usize {
        self.head_row_count + self.tail_row_count
    }

    /// The first rows.
    pub fn head(&self) -> impl Iterator<Item = &RecordBatch> {
        self.head.iter()
    }

    /// The last rows; none of them is in the head.
    pub fn tail(&self) -> impl Iterator<Item = &RecordBatch> {
        self.tail.iter()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use quire::arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
    use quire::arrow::datatypes::Int64Type;

    use super::RowSample;

    fn numbers(from: i64, to: i64) -> RecordBatch {
        let column: ArrayRef = Arc::new((from..to).collect::<Int64Array>());
        RecordBatch::try_from_iter([("n", column)]).unwrap()
    }

    fn values<'a>(batches: impl Iterator<Item = &'a RecordBatch>) -> Vec<i64> {
        batches
            .flat_map(|batch| {
                batch
                    .column(0)
                    .as_primitive::<Int64Type>()
                    .values()
                    .to_vec()
            })
            .collect()
    }

    /// Rows 0..total in batches of the given size, sampled.
    fn sampled(limit: Option<usize>, total: i64, batch_rows: i64) -> RowSample {
        let mut sample = RowSample::new(limit);
        let mut next = 0;
        while next < total {
            let end = total.min(next + batch_rows);
            sample.push(&numbers(next, end));
            next = end;
        }
        sample
    }

    #[test]
    fn head_and_tail_are_the_ends_whatever_the_batches() {
        for limit in 0..8_i64 {
            for total in 0..20 {
                for batch_rows in 1..7 {
                    let sample = sampled(Some(limit as usize), total, batch_rows);
                    let head_rows = total.min((limit + 1) / 2);
                    let tail_rows = (total - head_rows).min(limit / 2);
                    let case = format!("limit {limit}, total {total}, batch {batch_rows}");
                    assert_eq!(
                        values(sample.head()),
                        (0..head_rows).collect::<Vec<_>>(),
                        "{case}"
                    );
                    let tail: Vec<i64> = (total - tail_rows..total).collect();
                    assert_eq!(values(sample.tail()), tail, "{case}");
                    assert_eq!(sample.row_count() as i64, total, "{case}");
                    assert_eq!(
                        sample.shown_row_count() as i64,
                        head_rows + tail_rows,
                        "{case}"
                    );
                }
            }
        }
    }

    #[test]
    fn without_a_limit_everything_stays() {
        let sample = sampled(None, 100, 7);
        assert_eq!(values(sample.head()), (0..100).collect::<Vec<_>>());
        assert_eq!(sample.shown_row_count(), 100);
    }
}
