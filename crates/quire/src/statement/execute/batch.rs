//! Conversion of result rows into Arrow record batches.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BinaryViewArray, BooleanArray, Decimal128Array, Float32Array, Float64Array,
    RecordBatch, RecordBatchOptions, StringArray, StringViewArray, new_null_array,
};
use datafusion::arrow::array::{Date32Array, Int16Array, Int32Array, Int64Array};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::ScalarValue;
use quire_error::Error;
use quire_exec::plan::PlanScalar;
use quire_planner::scalar::{is_binary, is_text, to_planned};

use crate::result_rows::ResultRows;
use crate::value_ref::ValueRef;

impl ResultRows {
    /// The rows from index `start` on as a batch of `schema`; an empty batch if there are no such rows.
    ///
    /// # Errors
    /// XX000 if a value does not match the type of its column.
    pub(crate) fn to_batch(&self, schema: &SchemaRef, start: usize) -> Result<RecordBatch, Error> {
        let column_count = schema.fields().len();
        let columns = schema.fields().iter().enumerate().map(|(column, field)| {
            let rows = start..self.row_count.max(start);
            let values = rows.map(|row| self.value(row * column_count + column));
            array_of(values, field.data_type())
        });
        let columns = columns.collect::<Result<Vec<_>, Error>>()?;
        let row_count = self.row_count.saturating_sub(start);
        let options = RecordBatchOptions::new().with_row_count(Some(row_count));
        Ok(RecordBatch::try_new_with_options(
            Arc::clone(schema),
            columns,
            &options,
        )?)
    }
}

/// Builds the array of one column.
fn array_of<'v>(
    values: impl ExactSizeIterator<Item = ValueRef<'v>> + Clone,
    data_type: &DataType,
) -> Result<ArrayRef, Error> {
    // The conversions below turn a value of another kind into NULL, so the kinds are checked first.
    if !values.clone().all(|value| matches_type(value, data_type)) {
        let text = format!("internal error: a value does not have the type {data_type}");
        return Err(Error::new("XX000", text));
    }
    let integers = values.clone().map(|value| match value {
        ValueRef::Integer(value) => Some(value),
        _ => None,
    });
    let texts = values.clone().map(|value| match value {
        ValueRef::Text(text) => Some(text),
        _ => None,
    });
    Ok(match data_type {
        // Expressions check the range of their type, so `try_from` does not fail here.
        DataType::Int16 => Arc::new(Int16Array::from_iter(
            integers.map(|value| value.and_then(|value| i16::try_from(value).ok())),
        )),
        DataType::Int32 => Arc::new(Int32Array::from_iter(
            integers.map(|value| value.and_then(|value| i32::try_from(value).ok())),
        )),
        DataType::Int64 => Arc::new(Int64Array::from_iter(integers)),
        DataType::Date32 => Arc::new(Date32Array::from_iter(
            integers.map(|value| value.and_then(|value| i32::try_from(value).ok())),
        )),
        DataType::Boolean => Arc::new(BooleanArray::from_iter(values.map(|value| match value {
            ValueRef::Boolean(value) => Some(value),
            _ => None,
        }))),
        DataType::Float32 => Arc::new(Float32Array::from_iter(values.map(|value| match value {
            ValueRef::Real(value) => Some(value),
            _ => None,
        }))),
        DataType::Float64 => Arc::new(Float64Array::from_iter(values.map(|value| match value {
            ValueRef::Double(value) => Some(value),
            _ => None,
        }))),
        DataType::Decimal128(precision, scale) => {
            let decimals = values.map(|value| match value {
                ValueRef::Decimal(value) => Some(i128::from(value)),
                _ => None,
            });
            let array = Decimal128Array::from_iter(decimals);
            Arc::new(array.with_precision_and_scale(*precision, *scale)?)
        }
        DataType::Utf8View => Arc::new(StringViewArray::from_iter(texts)),
        DataType::Utf8 => Arc::new(StringArray::from_iter(texts)),
        DataType::BinaryView => Arc::new(BinaryViewArray::from_iter(values.map(
            |value| match value {
                ValueRef::Bytes(bytes) => Some(bytes),
                _ => None,
            },
        ))),
        DataType::Null => new_null_array(&DataType::Null, values.len()),
        // `iter_to_array` needs at least one value to know the type.
        _ if values.len() == 0 => new_null_array(data_type, 0),
        _ => {
            let planned = values
                .map(|value| to_planned(&PlanScalar::from(value.as_tuple_value()), data_type));
            ScalarValue::iter_to_array(planned.collect::<Result<Vec<_>, Error>>()?)?
        }
    })
}

/// Whether a value is NULL or of the kind that columns of the type have.
fn matches_type(value: ValueRef<'_>, data_type: &DataType) -> bool {
    use DataType::{Boolean, Decimal128, Float32, Float64};
    // Dates, times and timestamps are integers, too.
    let may_be_integer = !matches!(data_type, Boolean | Decimal128(..) | Float32 | Float64);
    match value {
        ValueRef::Null => true,
        ValueRef::Boolean(_) => *data_type == Boolean,
        ValueRef::Decimal(_) => matches!(data_type, Decimal128(..)),
        ValueRef::Real(_) => *data_type == Float32,
        ValueRef::Double(_) => *data_type == Float64,
        ValueRef::Text(_) => is_text(data_type),
        ValueRef::Bytes(_) => is_binary(data_type),
        ValueRef::Integer(_) => may_be_integer && !is_text(data_type) && !is_binary(data_type),
    }
}
