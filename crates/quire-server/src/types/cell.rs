//! One value of a result.

use quire::arrow::array::cast::AsArray;
use quire::arrow::array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int64Type, IntervalMonthDayNanoType,
    TimestampMicrosecondType,
};
use quire::arrow::array::{
    Array, ArrayRef, BinaryViewArray, BooleanArray, PrimitiveArray, StringViewArray, StructArray,
    Time64MicrosecondArray,
};
use quire::arrow::compute::cast;
use quire::arrow::datatypes::{DataType, IntervalUnit, TimeUnit};
use quire::arrow::error::ArrowError;
use quire::arrow::util::display::array_value_to_string;
use quire::{Decimal, Value};

use super::PgType;

/// A value that is there for a moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum WireCell<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    Decimal {
        units: i128,
        scale: i8,
    },
    Real(f32),
    Double(f64),
    Text(&'a str),
    /// Text that was made for the moment.
    Shown(String),
    Bytes(&'a [u8]),
    /// Days since 1970.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds since 1970.
    Timestamp(i64),
    /// The same, as an instant.
    TimestampTz(i64),
    Interval {
        months: i32,
        days: i32,
        microseconds: i64,
    },
    /// The elements of an array.
    Array(ArrayRef),
    /// The fields of a row.
    Row(Vec<ArrayRef>),
}

impl<'a> WireCell<'a> {
    /// A value as a compiled statement gives it, of a column of this type.
    pub(crate) fn of_value(value: &'a Value, pg_type: &PgType) -> Self {
        match (value, pg_type) {
            (Value::Null, _) => Self::Null,
            (Value::Boolean(value), _) => Self::Boolean(*value),
            (Value::Integer(days), PgType::Date) => {
                i32::try_from(*days).map_or(Self::Null, Self::Date)
            }
            (Value::Integer(value), PgType::Timestamp) => Self::Timestamp(*value),
            (Value::Integer(value), PgType::TimestampTz) => Self::TimestampTz(*value),
            (Value::Integer(value), _) => Self::Integer(*value),
            (Value::Decimal(units), PgType::Numeric { scale, .. }) => Self::decimal(*units, *scale),
            (Value::Decimal(units), _) => Self::decimal(*units, 0),
            (Value::Real(value), _) => Self::Real(*value),
            (Value::Double(value), _) => Self::Double(*value),
            (Value::Text(text), _) => Self::Text(text),
            (Value::Bytes(bytes), _) => Self::Bytes(bytes),
        }
    }

    /// Bytes that a value of any length takes at most; 0 for those of few bytes.
    pub(crate) fn long_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Shown(text) => text.len(),
            // Two digits each.
            Self::Bytes(bytes) => bytes.len().saturating_mul(2),
            _ => 0,
        }
    }

    fn decimal(units: Decimal, scale: i8) -> Self {
        Self::Decimal {
            units: units.into(),
            scale,
        }
    }
}

/// A column of a batch, with its type found once for all rows.
pub(crate) enum WireColumn {
    Boolean(BooleanArray),
    Integer(PrimitiveArray<Int64Type>),
    Decimal(PrimitiveArray<Decimal128Type>, i8),
    Real(PrimitiveArray<Float32Type>),
    Double(PrimitiveArray<Float64Type>),
    Text(StringViewArray),
    Bytes(BinaryViewArray),
    Date(PrimitiveArray<Date32Type>),
    Time(Time64MicrosecondArray),
    Timestamp(PrimitiveArray<TimestampMicrosecondType>),
    TimestampTz(PrimitiveArray<TimestampMicrosecondType>),
    Interval(PrimitiveArray<IntervalMonthDayNanoType>),
    Array(ArrayRef),
    Row(StructArray),
    /// Shown as Arrow shows it.
    Other(ArrayRef),
}

impl WireColumn {
    /// # Errors
    /// When values do not fit the type that clients see, such as timestamps of a coarser unit.
    pub(crate) fn new(array: &ArrayRef) -> Result<Self, ArrowError> {
        let as_type = |data_type: &DataType| cast(array, data_type);
        Ok(match array.data_type() {
            DataType::Boolean => Self::Boolean(array.as_boolean().clone()),
            data_type if data_type.is_integer() && *data_type != DataType::UInt64 => {
                Self::Integer(as_type(&DataType::Int64)?.as_primitive().clone())
            }
            DataType::UInt64 => {
                let wide = as_type(&DataType::Decimal128(20, 0))?;
                Self::Decimal(wide.as_primitive().clone(), 0)
            }
            DataType::Decimal32(_, scale)
            | DataType::Decimal64(_, scale)
            | DataType::Decimal128(_, scale) => {
                let wide = as_type(&DataType::Decimal128(38, *scale))?;
                Self::Decimal(wide.as_primitive().clone(), *scale)
            }
            DataType::Float16 | DataType::Float32 => {
                Self::Real(as_type(&DataType::Float32)?.as_primitive().clone())
            }
            DataType::Float64 => Self::Double(array.as_primitive().clone()),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                Self::Text(as_type(&DataType::Utf8View)?.as_string_view().clone())
            }
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => {
                Self::Bytes(as_type(&DataType::BinaryView)?.as_binary_view().clone())
            }
            DataType::Dictionary(_, values) => return Self::new(&as_type(values)?),
            DataType::Date32 => Self::Date(array.as_primitive().clone()),
            DataType::Time32(_) | DataType::Time64(_) => {
                let micros = as_type(&DataType::Time64(TimeUnit::Microsecond))?;
                Self::Time(micros.as_primitive().clone())
            }
            DataType::Date64 | DataType::Timestamp(_, None) => {
                let micros = as_type(&DataType::Timestamp(TimeUnit::Microsecond, None))?;
                Self::Timestamp(micros.as_primitive().clone())
            }
            DataType::Timestamp(_, zone @ Some(_)) => {
                let micros = as_type(&DataType::Timestamp(TimeUnit::Microsecond, zone.clone()))?;
                Self::TimestampTz(micros.as_primitive().clone())
            }
            DataType::Interval(_) => {
                let wide = as_type(&DataType::Interval(IntervalUnit::MonthDayNano))?;
                Self::Interval(wide.as_primitive().clone())
            }
            DataType::Duration(_) => {
                let wide = as_type(&DataType::Interval(IntervalUnit::MonthDayNano))?;
                Self::Interval(wide.as_primitive().clone())
            }
            DataType::List(_) | DataType::LargeList(_) => Self::Array(ArrayRef::clone(array)),
            DataType::Struct(_) => Self::Row(array.as_struct().clone()),
            _ => Self::Other(ArrayRef::clone(array)),
        })
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Boolean(array) => array.is_null(row),
            Self::Integer(array) => array.is_null(row),
            Self::Decimal(array, _) => array.is_null(row),
            Self::Real(array) => array.is_null(row),
            Self::Double(array) => array.is_null(row),
            Self::Text(array) => array.is_null(row),
            Self::Bytes(array) => array.is_null(row),
            Self::Date(array) => array.is_null(row),
            Self::Time(array) => array.is_null(row),
            Self::Timestamp(array) | Self::TimestampTz(array) => array.is_null(row),
            Self::Interval(array) => array.is_null(row),
            Self::Array(array) => array.is_null(row),
            Self::Row(array) => array.is_null(row),
            Self::Other(array) => array
                .logical_nulls()
                .is_some_and(|nulls| nulls.is_null(row)),
        }
    }

    /// The value of a row of the batch.
    pub(crate) fn cell(&self, row: usize) -> WireCell<'_> {
        if self.is_null(row) {
            return WireCell::Null;
        }
        match self {
            Self::Boolean(array) => WireCell::Boolean(array.value(row)),
            Self::Integer(array) => WireCell::Integer(array.value(row)),
            Self::Decimal(array, scale) => WireCell::Decimal {
                units: array.value(row),
                scale: *scale,
            },
            Self::Real(array) => WireCell::Real(array.value(row)),
            Self::Double(array) => WireCell::Double(array.value(row)),
            Self::Text(array) => WireCell::Text(array.value(row)),
            Self::Bytes(array) => WireCell::Bytes(array.value(row)),
            Self::Date(array) => WireCell::Date(array.value(row)),
            Self::Time(array) => WireCell::Time(array.value(row)),
            Self::Timestamp(array) => WireCell::Timestamp(array.value(row)),
            Self::TimestampTz(array) => WireCell::TimestampTz(array.value(row)),
            Self::Interval(array) => {
                let value = array.value(row);
                WireCell::Interval {
                    months: value.months,
                    days: value.days,
                    microseconds: value.nanoseconds / 1000,
                }
            }
            Self::Array(array) => match array.as_list_opt::<i32>() {
                Some(list) => WireCell::Array(list.value(row)),
                None => match array.as_list_opt::<i64>() {
                    Some(list) => WireCell::Array(list.value(row)),
                    None => WireCell::Null,
                },
            },
            Self::Row(array) => {
                let fields = array.columns().iter();
                WireCell::Row(fields.map(|field| field.slice(row, 1)).collect())
            }
            Self::Other(array) => match array_value_to_string(array, row) {
                Ok(text) => WireCell::Shown(text),
                Err(_) => WireCell::Null,
            },
        }
    }
}
