//! The rows of a result, and their Arrow form.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BinaryViewArray, BooleanArray, Decimal128Array, Float32Array, Float64Array,
    RecordBatch, RecordBatchOptions, StringArray, StringViewArray, new_null_array,
};
use datafusion::arrow::array::{Date32Array, Int16Array, Int32Array, Int64Array};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::ScalarValue;
use quire_engine::plan::Scalar;
use quire_engine::row_table::Value;

use crate::error::Error;
use crate::statement::scalar::to_planned;

/// Rows one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ResultRows {
    pub(crate) values: Vec<Value>,
    pub(crate) row_count: usize,
}

impl ResultRows {
    /// The rows as columns of these types.
    pub(crate) fn to_batch(&self, schema: &SchemaRef) -> Result<RecordBatch, Error> {
        let width = schema.fields().len();
        let columns = schema.fields().iter().enumerate().map(|(column, field)| {
            let values = self.values.iter().skip(column).step_by(width.max(1));
            array_of(values, field.data_type())
        });
        let columns = columns.collect::<Result<Vec<_>, Error>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.row_count));
        Ok(RecordBatch::try_new_with_options(
            Arc::clone(schema),
            columns,
            &options,
        )?)
    }
}

fn array_of<'v>(
    values: impl ExactSizeIterator<Item = &'v Value> + Clone,
    data_type: &DataType,
) -> Result<ArrayRef, Error> {
    let integers = values.clone().map(|value| match value {
        Value::Integer(value) => Some(*value),
        _ => None,
    });
    let texts = values.clone().map(|value| match value {
        Value::Text(text) => Some(&**text),
        _ => None,
    });
    Ok(match data_type {
        // An integer of a column fits its type.
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
            Value::Boolean(value) => Some(*value),
            _ => None,
        }))),
        DataType::Float32 => Arc::new(Float32Array::from_iter(values.map(|value| match value {
            Value::Real(value) => Some(*value),
            _ => None,
        }))),
        DataType::Float64 => Arc::new(Float64Array::from_iter(values.map(|value| match value {
            Value::Double(value) => Some(*value),
            _ => None,
        }))),
        DataType::Decimal128(precision, scale) => {
            let decimals = values.map(|value| match value {
                Value::Decimal(value) => Some(i128::from(*value)),
                _ => None,
            });
            let array = Decimal128Array::from_iter(decimals);
            Arc::new(array.with_precision_and_scale(*precision, *scale)?)
        }
        DataType::Utf8View => Arc::new(StringViewArray::from_iter(texts)),
        DataType::Utf8 => Arc::new(StringArray::from_iter(texts)),
        DataType::BinaryView => Arc::new(BinaryViewArray::from_iter(values.map(
            |value| match value {
                Value::Bytes(bytes) => Some(&**bytes),
                _ => None,
            },
        ))),
        DataType::Null => new_null_array(&DataType::Null, values.len()),
        _ if values.len() == 0 => new_null_array(data_type, 0),
        _ => {
            let planned =
                values.map(|value| to_planned(&Scalar::from(value.as_tuple_value()), data_type));
            ScalarValue::iter_to_array(planned.collect::<Result<Vec<_>, Error>>()?)?
        }
    })
}
