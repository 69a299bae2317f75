//! Values of an Arrow array as tuples take them.

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array, BinaryViewArray, BooleanArray, PrimitiveArray, StringViewArray};
use arrow_buffer::NullBuffer;
use quire_format::tuple::TupleValue;

use crate::types::SqlType;

/// A column of a batch, to read row by row.
#[derive(Clone, Copy, Debug)]
pub struct ColumnArray<'a> {
    nulls: Option<&'a NullBuffer>,
    values: ArrowValues<'a>,
}

#[derive(Clone, Copy, Debug)]
enum ArrowValues<'a> {
    Boolean(&'a BooleanArray),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    Decimal(&'a [i128]),
    Real(&'a [f32]),
    Double(&'a [f64]),
    Text(&'a StringViewArray),
    Bytes(&'a BinaryViewArray),
}

fn primitive<T: ArrowPrimitiveType>(array: &dyn Array) -> Option<&[T::Native]> {
    let array: &PrimitiveArray<T> = array.as_any().downcast_ref()?;
    Some(array.values())
}

impl<'a> ColumnArray<'a> {
    /// `array` as a column of `sql_type`; `None` when it is in another Arrow type.
    #[must_use]
    pub fn new(sql_type: SqlType, array: &'a dyn Array) -> Option<Self> {
        if *array.data_type() != sql_type.arrow_type() {
            return None;
        }
        let values = match sql_type {
            SqlType::Boolean => ArrowValues::Boolean(array.as_any().downcast_ref()?),
            SqlType::SmallInt => ArrowValues::Int16(primitive::<Int16Type>(array)?),
            SqlType::Integer => ArrowValues::Int32(primitive::<Int32Type>(array)?),
            SqlType::Date => ArrowValues::Int32(primitive::<Date32Type>(array)?),
            SqlType::BigInt => ArrowValues::Int64(primitive::<Int64Type>(array)?),
            SqlType::Timestamp | SqlType::TimestampTz => {
                ArrowValues::Int64(primitive::<TimestampMicrosecondType>(array)?)
            }
            SqlType::Decimal { .. } => ArrowValues::Decimal(primitive::<Decimal128Type>(array)?),
            SqlType::Real => ArrowValues::Real(primitive::<Float32Type>(array)?),
            SqlType::Double => ArrowValues::Double(primitive::<Float64Type>(array)?),
            SqlType::Text | SqlType::VarChar(_) | SqlType::Char(_) => {
                ArrowValues::Text(array.as_any().downcast_ref()?)
            }
            SqlType::Bytea => ArrowValues::Bytes(array.as_any().downcast_ref()?),
        };
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        Some(Self { nulls, values })
    }

    /// The value in row `row`; NULL behind the last row.
    #[inline]
    #[must_use]
    pub fn value(&self, row: usize) -> TupleValue<'a> {
        if let Some(nulls) = self.nulls
            && (row >= nulls.len() || nulls.is_null(row))
        {
            return TupleValue::Null;
        }
        let found = match self.values {
            ArrowValues::Int16(values) => values
                .get(row)
                .map(|value| TupleValue::Integer(i64::from(*value))),
            ArrowValues::Int32(values) => values
                .get(row)
                .map(|value| TupleValue::Integer(i64::from(*value))),
            ArrowValues::Int64(values) => values.get(row).map(|value| TupleValue::Integer(*value)),
            ArrowValues::Decimal(values) => values.get(row).map(|value| TupleValue::Wide(*value)),
            ArrowValues::Real(values) => values.get(row).map(|value| TupleValue::Float32(*value)),
            ArrowValues::Double(values) => values.get(row).map(|value| TupleValue::Float64(*value)),
            ArrowValues::Boolean(array) => {
                (row < array.len()).then(|| TupleValue::Bool(array.value(row)))
            }
            ArrowValues::Text(array) => {
                (row < array.len()).then(|| TupleValue::Bytes(array.value(row).as_bytes()))
            }
            ArrowValues::Bytes(array) => {
                (row < array.len()).then(|| TupleValue::Bytes(array.value(row)))
            }
        };
        found.unwrap_or_default()
    }
}
