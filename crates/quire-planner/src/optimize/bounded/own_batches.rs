//! Rows in batches of their own: texts refer to no other rows, or have another form, and no batch has more rows than the plan's batches.
//! Windows read and write such rows, which are counted where a window keeps them, and the sorts below a merge join read them.

use std::fmt::{self, Formatter};
use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{AsArray, RecordBatch, RecordBatchOptions, UInt64Array};
use datafusion::arrow::compute::{cast, take_arrays};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::Result;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, PlanProperties};
use futures::{StreamExt, stream};

use crate::optimize::passed_rows::{PassedRows, RowPassing};

/// What the pool calls the rows that a window keeps.
pub const WINDOW_ROWS: &str = "WindowRows";

/// The rows of an input in batches of their own.
pub(in crate::optimize) type OwnBatches = PassedRows<BatchCopying>;

/// Rows in columns of `schema`.
#[derive(Debug, Clone)]
pub(in crate::optimize) struct BatchCopying {
    schema: SchemaRef,
    is_counted: bool,
}

/// [`OwnBatches`] with the rows of `input`, in columns of `schema`.
pub(super) fn own_batches(
    input: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
    is_counted: bool,
) -> Result<Arc<dyn ExecutionPlan>> {
    BatchCopying { schema, is_counted }.over(input)
}

/// What is known of rows is known of them in another form: texts compare alike in all forms. A window may rely on two columns being
/// equal, where the rows are sorted by one of them and its key is the other.
fn with_schema(known: &EquivalenceProperties, schema: &SchemaRef) -> Result<EquivalenceProperties> {
    if known.schema() == schema {
        return Ok(known.clone());
    }
    let orderings = known.oeq_class().clone();
    let mut same = EquivalenceProperties::new_with_orderings(Arc::clone(schema), orderings);
    same.add_equivalence_group(known.eq_group().clone())?;
    Ok(same)
}

impl RowPassing for BatchCopying {
    const NAME: &'static str = "OwnBatches";
    const KEEPS_ORDER: bool = true;
    const KEEPS_STATISTICS: bool = false;

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        let known = with_schema(input.equivalence_properties(), &self.schema)?;
        let properties = PlanProperties::clone(input.properties()).with_eq_properties(known);
        let copied = PassedRows::new(input, self.clone(), Arc::new(properties));
        Ok(Arc::new(copied))
    }

    fn describe(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: is_counted={}", Self::NAME, self.is_counted)
    }

    fn pass(
        &self,
        rows: SendableRecordBatchStream,
        partition: usize,
        context: &TaskContext,
    ) -> SendableRecordBatchStream {
        let consumer = MemoryConsumer::new(format!("{WINDOW_ROWS}[{partition}]"));
        let kept = consumer.register(context.memory_pool());
        let (schema, is_counted) = (Arc::clone(&self.schema), self.is_counted);
        let batch_rows = context.session_config().batch_size();
        let parts = rows.flat_map(move |batch| stream::iter(parts_of(batch, batch_rows)));
        // The stream ends with the window, and what it has kept with the stream.
        let rows = parts.map(move |part| {
            let batch = in_form(&part?, &schema)?;
            if is_counted {
                kept.try_grow(batch.get_array_memory_size())?;
            }
            Ok(batch)
        });
        let schema = Arc::clone(&self.schema);
        Box::pin(RecordBatchStreamAdapter::new(schema, rows))
    }
}

/// The rows in batches of at most `batch_rows`. A scan gives whole row groups, and a sort that reads back what it has spilled needs memory for a
/// batch of each file.
fn parts_of(batch: Result<RecordBatch>, batch_rows: usize) -> Vec<Result<RecordBatch>> {
    let batch = match batch {
        Ok(batch) if batch.num_rows() > batch_rows => batch,
        whole => return vec![whole],
    };
    let starts = (0..batch.num_rows()).step_by(batch_rows.max(1));
    let parts = starts.map(|start| {
        let end = batch.num_rows().min(start + batch_rows);
        copied_rows(&batch, start..end)
    });
    parts.collect()
}

/// Some rows, in arrays of their own but for texts. Not a slice, which would refer to all rows of the batch.
fn copied_rows(batch: &RecordBatch, rows: Range<usize>) -> Result<RecordBatch> {
    // `take_record_batch` fails for batches without columns, as of `count(*)`.
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    let rows = UInt64Array::from_iter_values(rows.start as u64..rows.end as u64);
    let columns = take_arrays(batch.columns(), &rows, None)?;
    Ok(RecordBatch::try_new_with_options(
        batch.schema(),
        columns,
        &options,
    )?)
}

/// Some rows, in arrays of their own.
pub(in crate::optimize) fn own_rows(
    batch: &RecordBatch,
    rows: Range<usize>,
) -> Result<RecordBatch> {
    in_form(&copied_rows(batch, rows)?, &batch.schema())
}

/// The rows with the types of `schema`. Texts that stay as they are get buffers of their own.
fn in_form(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| match field.data_type() {
        DataType::Utf8View if *column.data_type() == DataType::Utf8View => {
            Ok(Arc::new(column.as_string_view().gc()) as _)
        }
        wanted if wanted != column.data_type() => cast(column, wanted),
        _ => Ok(Arc::clone(column)),
    });
    let columns = columns.collect::<std::result::Result<Vec<_>, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let batch = RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?;
    Ok(batch)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use datafusion::arrow::array::{ArrayRef, Int64Array, StringViewArray};
    use datafusion::common::internal_err;

    use super::*;

    #[test]
    fn parts_have_memory_of_their_own() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
        let texts = (0..1000).map(|number| format!("a text that is not inline {number}"));
        let texts: ArrayRef = Arc::new(StringViewArray::from_iter_values(texts));
        let whole = RecordBatch::try_from_iter([("n", numbers), ("t", texts)]).unwrap();
        let parts = parts_of(Ok(whole.clone()), 300).into_iter();
        let parts: Vec<_> = parts
            .map(|part| in_form(&part.unwrap(), &whole.schema()).unwrap())
            .collect();
        let rows: Vec<_> = parts.iter().map(RecordBatch::num_rows).collect();
        assert_eq!(rows, [300, 300, 300, 100]);
        let bytes = parts.iter().map(RecordBatch::get_array_memory_size);
        assert!(bytes.sum::<usize>() < whole.get_array_memory_size() * 5 / 4);
        let joined = datafusion::arrow::compute::concat_batches(&whole.schema(), &parts).unwrap();
        assert_eq!(joined, whole);
    }

    #[test]
    fn rows_without_columns_have_parts() {
        let options = RecordBatchOptions::new().with_row_count(Some(7));
        let schema = Arc::new(datafusion::arrow::datatypes::Schema::empty());
        let whole = RecordBatch::try_new_with_options(schema, Vec::new(), &options).unwrap();
        let parts = parts_of(Ok(whole), 3).into_iter();
        let rows: Vec<_> = parts.map(|part| part.unwrap().num_rows()).collect();
        assert_eq!(rows, [3, 3, 1]);
    }

    #[test]
    fn a_small_batch_stays_whole_and_an_error_an_error() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..3));
        let small = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
        assert_eq!(parts_of(Ok(small), 3).len(), 1);
        let failed = parts_of(internal_err!("of the input"), 3);
        assert!(matches!(failed.as_slice(), [Err(_)]));
    }
}
