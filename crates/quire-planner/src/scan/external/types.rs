//! Arrow types that SQL does not have, and those in their place.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, types::TimestampNanosecondType};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, IntervalUnit, TimeUnit};

use quire_error::Error;

const NANOSECONDS_PER_MICROSECOND: i64 = 1000;

/// The type of SQL that has all values of an Arrow type; `None`, if there is none.
pub(super) fn of_sql(arrow: &DataType) -> Option<DataType> {
    let timestamp = |zone: Option<Arc<str>>| DataType::Timestamp(TimeUnit::Microsecond, zone);
    Some(match arrow {
        DataType::Boolean
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::Float32
        | DataType::Float64
        | DataType::Date32
        | DataType::Interval(_) => arrow.clone(),
        DataType::Int8 | DataType::UInt8 => DataType::Int16,
        DataType::UInt16 => DataType::Int32,
        DataType::UInt32 => DataType::Int64,
        DataType::UInt64 => DataType::Decimal128(20, 0),
        DataType::Float16 => DataType::Float32,
        DataType::Decimal32(digits, scale)
        | DataType::Decimal64(digits, scale)
        | DataType::Decimal128(digits, scale)
        | DataType::Decimal256(digits, scale) => decimal(*digits, *scale)?,
        DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            DataType::Utf8View
        }
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => DataType::BinaryView,
        DataType::Date64 | DataType::Timestamp(_, None) => timestamp(None),
        DataType::Timestamp(_, Some(_)) => timestamp(Some("+00:00".into())),
        DataType::Time32(_) | DataType::Time64(_) => DataType::Time64(TimeUnit::Nanosecond),
        DataType::Duration(_) => DataType::Interval(IntervalUnit::MonthDayNano),
        DataType::Dictionary(_, values) => of_sql(values)?,
        DataType::RunEndEncoded(_, values) => of_sql(values.data_type())?,
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::FixedSizeList(element, _) => {
            let element = of_sql(element.data_type())?;
            DataType::List(Arc::new(Field::new_list_field(element, true)))
        }
        _ => return None,
    })
}

fn decimal(digits: u8, scale: i8) -> Option<DataType> {
    // A negative scale means zeros before the point.
    let zeros = scale.min(0).unsigned_abs();
    let digits = digits.checked_add(zeros).filter(|digits| *digits <= 38)?;
    Some(DataType::Decimal128(digits, scale.max(0)))
}

pub(super) fn unknown_type(table: &str, column: &str, arrow: &DataType) -> Error {
    let text =
        format!("column \"{column}\" of \"{table}\" has the type {arrow}, which SQL does not have");
    Error::new("0A000", text).with_hint(format!(
        "Cast column \"{column}\" to one that it has, such as text, before it is read, or leave it out."
    ))
}

/// The values as those of a column of SQL.
pub(super) fn converted(values: &ArrayRef, field: &Field) -> Result<ArrayRef, Error> {
    if values.data_type() == field.data_type() {
        return Ok(Arc::clone(values));
    }
    refuse_nanoseconds(values, field)?;
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    cast_with_options(values, field.data_type(), &options).map_err(|error| {
        let text = format!(
            "a value of column \"{}\" has no counterpart in SQL",
            field.name()
        );
        Error::new("22003", text).with_detail(Error::from(error).message())
    })
}

/// Points in time have microseconds here: what lies between two of them is nobody's.
fn refuse_nanoseconds(values: &ArrayRef, field: &Field) -> Result<(), Error> {
    let DataType::Timestamp(TimeUnit::Nanosecond, _) = values.data_type() else {
        return Ok(());
    };
    let ticks = values.as_primitive::<TimestampNanosecondType>();
    let is_between = |ticks: i64| ticks % NANOSECONDS_PER_MICROSECOND != 0;
    if !ticks.iter().flatten().any(is_between) {
        return Ok(());
    }
    let name = field.name();
    let text = format!("a timestamp of column \"{name}\" has nanoseconds, SQL's have microseconds");
    Err(Error::new("22008", text).with_hint(format!(
        "Round column \"{name}\" to microseconds before it is read: dt.round('us') of pandas, dt.round('1us') of polars."
    )))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow::array::{Decimal128Array, TimestampNanosecondArray, UInt64Array};

    use super::*;

    fn field(data_type: DataType) -> Field {
        Field::new("c", data_type, true)
    }

    #[test]
    fn unsigned_integers_keep_their_values() {
        let largest: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX, 0]));
        let target = of_sql(largest.data_type()).unwrap();
        let kept = converted(&largest, &field(target)).unwrap();
        let kept = kept.as_any().downcast_ref::<Decimal128Array>().unwrap();
        assert_eq!(kept.value(0), i128::from(u64::MAX));
        assert_eq!(kept.value(1), 0);
    }

    #[test]
    fn nanoseconds_are_refused_where_they_matter() {
        let of = |ticks| -> ArrayRef { Arc::new(TimestampNanosecondArray::from(vec![ticks])) };
        let target = field(of_sql(of(0).data_type()).unwrap());
        assert!(converted(&of(1_000), &target).is_ok());
        let error = converted(&of(1_001), &target).unwrap_err();
        assert_eq!(error.sqlstate(), "22008");
        assert!(error.message().contains("\"c\""));
    }

    #[test]
    fn decimals_without_a_place_have_no_type() {
        assert_eq!(of_sql(&DataType::Decimal256(39, 0)), None);
        assert_eq!(
            of_sql(&DataType::Decimal128(3, -2)),
            Some(DataType::Decimal128(5, 0))
        );
        let structure = DataType::Struct(vec![field(DataType::Int32)].into());
        assert_eq!(of_sql(&structure), None);
    }
}
