//! The rows of a batch so far.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::error::ArrowError;

use quire_files::TypedArrayBuilder;

/// Rows of a full batch.
pub(crate) const BATCH_ROWS: usize = 8_192;
/// Bytes of texts and byte strings with which a batch is full, whatever its rows.
pub(crate) const BATCH_BYTES: usize = 16 << 20;
/// Values that are made room for before the first row.
const VALUES_EXPECTED_MAX: usize = 1 << 18;

/// Builders of all columns, and how much is in them.
pub(crate) struct SourceBatchBuilder {
    schema: SchemaRef,
    pub(crate) columns: Vec<TypedArrayBuilder>,
    row_count: usize,
    /// Of texts and byte strings; who appends them counts them.
    pub(crate) text_bytes: usize,
}

impl SourceBatchBuilder {
    /// No rows; `None` if a type of `schema` is none of Quire's.
    pub(crate) fn new(schema: &SchemaRef) -> Option<Self> {
        let capacity = BATCH_ROWS.min(VALUES_EXPECTED_MAX / schema.fields().len().max(1));
        let types = schema.fields().iter().map(|field| field.data_type());
        let columns = types.map(|data_type: &DataType| TypedArrayBuilder::of(data_type, capacity));
        Some(Self {
            schema: Arc::clone(schema),
            columns: columns.collect::<Option<_>>()?,
            row_count: 0,
            text_bytes: 0,
        })
    }

    /// Every column has one value more.
    pub(crate) fn end_row(&mut self) {
        self.row_count += 1;
    }

    pub(crate) fn row_count(&self) -> usize {
        self.row_count
    }

    /// Whether a batch of at most `row_count_max` rows takes no more.
    pub(crate) fn is_full(&self, row_count_max: usize) -> bool {
        self.row_count >= row_count_max || self.text_bytes >= BATCH_BYTES
    }

    /// The rows as a batch; the builder starts again.
    pub(crate) fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let arrays = self.columns.iter_mut().map(TypedArrayBuilder::finish);
        let options = RecordBatchOptions::new().with_row_count(Some(self.row_count));
        let batch =
            RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays.collect(), &options);
        self.row_count = 0;
        self.text_bytes = 0;
        batch
    }
}

/// Appends NULL to a column.
pub(crate) fn append_null(column: &mut TypedArrayBuilder) {
    match column {
        TypedArrayBuilder::Boolean(builder) => builder.append_null(),
        TypedArrayBuilder::Int16(builder) => builder.append_null(),
        TypedArrayBuilder::Int32(builder) => builder.append_null(),
        TypedArrayBuilder::Int64(builder) => builder.append_null(),
        TypedArrayBuilder::Float32(builder) => builder.append_null(),
        TypedArrayBuilder::Float64(builder) => builder.append_null(),
        TypedArrayBuilder::Decimal(builder, ..) => builder.append_null(),
        TypedArrayBuilder::Date(builder) => builder.append_null(),
        TypedArrayBuilder::Timestamp(builder) => builder.append_null(),
        TypedArrayBuilder::Text(builder) => builder.append_null(),
        TypedArrayBuilder::Bytes(builder) => builder.append_null(),
    }
}
