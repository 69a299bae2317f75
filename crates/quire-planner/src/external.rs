//! Tables that are not in the file: what a program has in its memory, under names that it knows.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatchReader;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;

/// Rows of an [`ExternalTable`], in batches of any size.
pub type ExternalRows = Box<dyn RecordBatchReader + Send>;

/// A table that statements read although it is not in the file, such as a data frame of the program that embeds the database.
///
/// Its columns may have every Arrow type whose values are values of a SQL type: unsigned integers become the next larger ones,
/// texts of all kinds TEXT, dictionaries what they stand for, points in time microseconds. What cannot be converted without
/// loss is an error that names the column.
pub trait ExternalTable: Send + Sync + fmt::Debug {
    /// Names and types of the columns.
    fn schema(&self) -> SchemaRef;

    /// The number of rows, where it is known.
    fn row_count(&self) -> Option<usize> {
        None
    }

    /// All rows, from the first; a statement that names the table twice reads it twice. Called on a thread of the database,
    /// which may be kept waiting.
    ///
    /// # Errors
    /// When the rows cannot be read, or not again.
    fn read(&self) -> Result<ExternalRows, ArrowError>;
}

/// Finds the external table of a name; `None`, if there is none. Names that are not quoted in the statement come in lower case.
pub type ExternalTables =
    Arc<dyn Fn(&str) -> Result<Option<Arc<dyn ExternalTable>>, ArrowError> + Send + Sync>;
