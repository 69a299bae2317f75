//! Rows from several places of a table.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use crate::definition::SourceRowCount;

/// Consecutive rows from evenly spread places of a table.
#[derive(Debug, Clone)]
pub struct SourceSample {
    /// Columns in the types of the pieces.
    pub schema: SchemaRef,
    /// The pieces in the order of the table. A piece may have fewer rows than were asked for, and none twice.
    pub pieces: Vec<RecordBatch>,
    /// Rows of the whole table.
    pub row_count: SourceRowCount,
}
