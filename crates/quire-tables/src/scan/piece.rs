//! What a step of a scan has found.

use arrow_array::RecordBatch;

pub(super) enum ScanPiece {
    Rows(RecordBatch),
    /// No rows, but there may be more.
    Nothing,
    End,
}
