//! Pieces of consecutive rows from all over a stream whose length nobody knows before its end.

use datafusion::arrow::array::RecordBatch;

/// Rows of a piece.
pub(super) const PIECE_ROWS: usize = 2_048;

/// As many pieces are kept, and at least half as many of a long stream.
const PIECES_MAX: usize = 32;

/// Takes batches, and keeps every so many rows a piece. When there are too many pieces, every second one is dropped and the next ones lie twice
/// as far apart, so that in the end they are spread evenly over the whole.
pub(super) struct EvenPieces {
    pieces: Vec<RecordBatch>,
    /// From the beginning of a piece to that of the next, in rows; a multiple of [`PIECE_ROWS`].
    stride_rows: u64,
    row_count: u64,
    /// Rows of the piece that is being filled.
    open: Vec<RecordBatch>,
}

impl EvenPieces {
    pub(super) fn new() -> Self {
        Self {
            pieces: Vec::new(),
            stride_rows: PIECE_ROWS as u64,
            row_count: 0,
            open: Vec::new(),
        }
    }

    /// Rows so far.
    pub(super) fn row_count(&self) -> u64 {
        self.row_count
    }

    /// The next rows.
    ///
    /// # Errors
    /// When Arrow cannot join the parts of a piece.
    pub(super) fn add(&mut self, batch: &RecordBatch) -> datafusion::common::Result<()> {
        let mut first = 0;
        while first < batch.num_rows() {
            let within = self.row_count % self.stride_rows;
            let left = batch.num_rows() - first;
            let piece_rows = PIECE_ROWS as u64;
            if within >= piece_rows {
                let skipped = usize::try_from(self.stride_rows - within);
                let skipped = skipped.unwrap_or(usize::MAX).min(left);
                self.row_count += skipped as u64;
                first += skipped;
                continue;
            }
            let taken = (PIECE_ROWS - within as usize).min(left);
            self.open.push(batch.slice(first, taken));
            self.row_count += taken as u64;
            first += taken;
            if within as usize + taken == PIECE_ROWS {
                self.close()?;
            }
        }
        Ok(())
    }

    /// The piece has all its rows.
    fn close(&mut self) -> datafusion::common::Result<()> {
        let Some(first) = self.open.first() else {
            return Ok(());
        };
        // A copy: slices would keep whole batches.
        let piece = datafusion::arrow::compute::concat_batches(&first.schema(), &self.open)?;
        self.open.clear();
        self.pieces.push(piece);
        if self.pieces.len() > PIECES_MAX {
            let mut number = 0;
            self.pieces.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.stride_rows *= 2;
        }
        Ok(())
    }

    /// The pieces, and whether they are all rows of the stream.
    ///
    /// # Errors
    /// As [`EvenPieces::add`].
    pub(super) fn finish(mut self) -> datafusion::common::Result<(Vec<RecordBatch>, bool)> {
        self.close()?;
        let kept: usize = self.pieces.iter().map(RecordBatch::num_rows).sum();
        let is_whole = kept as u64 == self.row_count;
        Ok((self.pieces, is_whole))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use datafusion::arrow::array::AsArray;
    use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use datafusion::arrow::datatypes::Int64Type;

    use super::{EvenPieces, PIECE_ROWS, PIECES_MAX};

    fn batch(first: i64, rows: i64) -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(first..first + rows));
        RecordBatch::try_from_iter([("n", numbers)]).unwrap()
    }

    /// Pieces of numbers from 0 to below `rows`, in batches of that many.
    fn pieces(rows: i64, batch_rows: i64) -> (Vec<RecordBatch>, bool) {
        let mut even = EvenPieces::new();
        let mut first = 0;
        while first < rows {
            let count = batch_rows.min(rows - first);
            even.add(&batch(first, count)).unwrap();
            first += count;
        }
        assert_eq!(even.row_count(), rows as u64);
        even.finish().unwrap()
    }

    #[test]
    fn short_streams_are_kept_whole() {
        for rows in [
            0,
            1,
            PIECE_ROWS as i64,
            10_000,
            (PIECE_ROWS * PIECES_MAX) as i64,
        ] {
            let (pieces, is_whole) = pieces(rows, 777);
            assert!(is_whole, "{rows}");
            let kept: usize = pieces.iter().map(RecordBatch::num_rows).sum();
            assert_eq!(kept as i64, rows);
        }
    }

    #[test]
    fn pieces_of_long_streams_are_consecutive_rows_evenly_apart() {
        for (rows, batch_rows) in [(1_000_003, 8_192), (3_000_000, 100_000), (500_000, 1)] {
            let (pieces, is_whole) = pieces(rows, batch_rows);
            assert!(!is_whole);
            assert!(
                (PIECES_MAX / 2..=PIECES_MAX).contains(&pieces.len()),
                "{}",
                pieces.len()
            );
            let mut firsts = Vec::new();
            for piece in &pieces {
                let numbers = piece.column(0).as_primitive::<Int64Type>().values();
                assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]));
                firsts.push(numbers[0]);
            }
            let strides: Vec<i64> = firsts.windows(2).map(|pair| pair[1] - pair[0]).collect();
            assert!(
                strides.iter().all(|stride| *stride == strides[0]),
                "{strides:?}"
            );
            // From the beginning to near the end.
            assert_eq!(firsts[0], 0);
            assert!(rows - firsts[firsts.len() - 1] <= 2 * strides[0]);
        }
    }
}
