//! Instants as clocks show them where the session is.

use std::sync::Arc;

use quire::arrow::array::types::TimestampMicrosecondType;
use quire::arrow::array::{ArrayRef, AsArray, RecordBatch};
use quire::arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use quire::arrow::error::ArrowError;

/// The batch with the zone in the types of its instants, which are what they were.
pub fn in_zone(batch: RecordBatch, zone: &str) -> RecordBatch {
    let is_instant =
        |field: &Arc<Field>| matches!(field.data_type(), DataType::Timestamp(_, Some(_)));
    if zone == "UTC" || !batch.schema_ref().fields().iter().any(is_instant) {
        return batch;
    }
    let moved = moved_to(&batch, zone);
    moved.unwrap_or(batch)
}

fn moved_to(batch: &RecordBatch, zone: &str) -> Result<RecordBatch, ArrowError> {
    let moved = |array: &ArrayRef| match array.data_type() {
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => {
            let instants = array.as_primitive::<TimestampMicrosecondType>().clone();
            Arc::new(instants.with_timezone(zone)) as ArrayRef
        }
        _ => Arc::clone(array),
    };
    let columns: Vec<ArrayRef> = batch.columns().iter().map(moved).collect();
    let fields = batch.schema_ref().fields().iter().zip(&columns);
    let fields = fields.map(|(field, array)| {
        let field: Field = field.as_ref().clone();
        field.with_data_type(array.data_type().clone())
    });
    RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns)
}
