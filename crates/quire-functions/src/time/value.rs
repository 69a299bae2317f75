//! Values that functions of time take and give, one at a time, whatever arrays they stand in.

use std::sync::Arc;

use datafusion::arrow::array::builder::{PrimitiveBuilder, StringViewBuilder};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float64Type, Int32Type, Int64Type, IntervalMonthDayNano,
    IntervalMonthDayNanoType, IntervalUnit, Time64MicrosecondType, TimeUnit,
    TimestampMicrosecondType,
};
use datafusion::common::{Result, exec_err};
use quire_text::calendar::{DATES, FIRST_MOMENT};
use quire_text::temporal::{Interval, ScaledFieldValue};

use crate::time::out_of_range;

/// How TIMESTAMPTZ is marked in a type.
pub(crate) const INSTANT_ZONE: &str = "+00:00";

/// What kind of values a type of time has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeKind {
    Date,
    Timestamp,
    /// TIMESTAMPTZ.
    Instant,
    Time,
    Interval,
}

impl TimeKind {
    pub fn of(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Date32 => Self::Date,
            DataType::Timestamp(_, None) => Self::Timestamp,
            DataType::Timestamp(_, Some(_)) => Self::Instant,
            DataType::Time32(_) | DataType::Time64(_) => Self::Time,
            DataType::Interval(_) | DataType::Duration(_) => Self::Interval,
            _ => return None,
        })
    }

    /// The type that values of the kind have.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Date => DataType::Date32,
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            Self::Instant => DataType::Timestamp(TimeUnit::Microsecond, Some(INSTANT_ZONE.into())),
            Self::Time => DataType::Time64(TimeUnit::Microsecond),
            Self::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
        }
    }

    pub(crate) fn sql_name(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Timestamp => "timestamp",
            Self::Instant => "timestamp with time zone",
            Self::Time => "time",
            Self::Interval => "interval",
        }
    }
}

/// A value that is not NULL.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TimeValue<'a> {
    /// Days, microseconds, or a number.
    Integer(i64),
    Double(f64),
    Decimal(i128),
    Interval(Interval),
    Text(&'a str),
    /// Text that was made.
    Made(String),
    /// A field, for a column of any numbers.
    Part(ScaledFieldValue),
}

/// The values of an argument.
pub(super) struct TimeArgument<'a> {
    array: &'a ArrayRef,
    /// A single value that stands for all rows.
    is_constant: bool,
}

impl<'a> TimeArgument<'a> {
    pub(super) fn new(array: &'a ArrayRef, is_constant: bool) -> Self {
        Self { array, is_constant }
    }

    /// The value of a row; `None` for NULL.
    pub(super) fn at(&self, row: usize) -> Result<Option<TimeValue<'a>>> {
        let row = if self.is_constant { 0 } else { row };
        let array = self.array;
        if array.is_null(row) {
            return Ok(None);
        }
        Ok(Some(match array.data_type() {
            DataType::Date32 => {
                TimeValue::Integer(array.as_primitive::<Date32Type>().value(row).into())
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                TimeValue::Integer(array.as_primitive::<TimestampMicrosecondType>().value(row))
            }
            DataType::Time64(TimeUnit::Microsecond) => {
                TimeValue::Integer(array.as_primitive::<Time64MicrosecondType>().value(row))
            }
            DataType::Int64 => TimeValue::Integer(array.as_primitive::<Int64Type>().value(row)),
            DataType::Float64 => TimeValue::Double(array.as_primitive::<Float64Type>().value(row)),
            DataType::Interval(IntervalUnit::MonthDayNano) => {
                let value = array.as_primitive::<IntervalMonthDayNanoType>().value(row);
                TimeValue::Interval(of_arrow(value))
            }
            DataType::Utf8 => TimeValue::Text(array.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => TimeValue::Text(array.as_string::<i64>().value(row)),
            DataType::Utf8View => TimeValue::Text(array.as_string_view().value(row)),
            DataType::Null => return Ok(None),
            other => return exec_err!("a function of time takes no {other}"),
        }))
    }
}

pub(crate) fn of_arrow(value: IntervalMonthDayNano) -> Interval {
    Interval {
        months: value.months,
        days: value.days,
        micros: value.nanoseconds.div_euclid(1_000),
    }
}

/// # Errors
/// An interval whose time has more nanoseconds than 64 bits hold.
pub(crate) fn to_arrow(value: Interval) -> Result<IntervalMonthDayNano> {
    let nanoseconds = value.micros.checked_mul(1_000);
    let nanoseconds = nanoseconds.ok_or_else(|| out_of_range(TimeKind::Interval))?;
    Ok(IntervalMonthDayNano::new(
        value.months,
        value.days,
        nanoseconds,
    ))
}

/// Collects results of one type.
pub(super) enum TimeResultBuilder {
    Integer32(PrimitiveBuilder<Int32Type>),
    Integer(PrimitiveBuilder<Int64Type>),
    Double(PrimitiveBuilder<Float64Type>),
    Decimal(PrimitiveBuilder<Decimal128Type>),
    Date(PrimitiveBuilder<Date32Type>),
    Timestamp(PrimitiveBuilder<TimestampMicrosecondType>),
    Time(PrimitiveBuilder<Time64MicrosecondType>),
    Interval(PrimitiveBuilder<IntervalMonthDayNanoType>),
    Text(StringViewBuilder),
}

impl TimeResultBuilder {
    pub(super) fn new(data_type: &DataType, rows: usize) -> Result<Self> {
        Ok(match data_type {
            DataType::Int32 => Self::Integer32(PrimitiveBuilder::with_capacity(rows)),
            DataType::Int64 => Self::Integer(PrimitiveBuilder::with_capacity(rows)),
            DataType::Float64 => Self::Double(PrimitiveBuilder::with_capacity(rows)),
            DataType::Decimal128(..) => Self::Decimal(
                PrimitiveBuilder::with_capacity(rows).with_data_type(data_type.clone()),
            ),
            DataType::Date32 => Self::Date(PrimitiveBuilder::with_capacity(rows)),
            DataType::Timestamp(TimeUnit::Microsecond, _) => Self::Timestamp(
                PrimitiveBuilder::with_capacity(rows).with_data_type(data_type.clone()),
            ),
            DataType::Time64(TimeUnit::Microsecond) => {
                Self::Time(PrimitiveBuilder::with_capacity(rows))
            }
            DataType::Interval(IntervalUnit::MonthDayNano) => {
                Self::Interval(PrimitiveBuilder::with_capacity(rows))
            }
            DataType::Utf8View => Self::Text(StringViewBuilder::with_capacity(rows)),
            other => return exec_err!("a function of time gives no {other}"),
        })
    }

    pub(super) fn add(&mut self, value: Option<TimeValue<'_>>) -> Result<()> {
        match (self, value) {
            (Self::Integer32(builder), Some(TimeValue::Integer(value))) => {
                builder.append_value(value as i32);
            }
            (Self::Integer(builder), Some(TimeValue::Integer(value))) => {
                builder.append_value(value)
            }
            (Self::Double(builder), Some(TimeValue::Double(value))) => builder.append_value(value),
            (Self::Decimal(builder), Some(TimeValue::Decimal(value))) => {
                builder.append_value(value)
            }
            (Self::Date(builder), Some(TimeValue::Integer(days))) => {
                let days = i32::try_from(days).ok().filter(|days| DATES.contains(days));
                builder.append_value(days.ok_or_else(|| out_of_range(TimeKind::Date))?);
            }
            (Self::Timestamp(builder), Some(TimeValue::Integer(micros))) => {
                if micros < FIRST_MOMENT {
                    return Err(out_of_range(TimeKind::Timestamp));
                }
                builder.append_value(micros);
            }
            (Self::Time(builder), Some(TimeValue::Integer(micros))) => builder.append_value(micros),
            (Self::Interval(builder), Some(TimeValue::Interval(value))) => {
                builder.append_value(to_arrow(value)?);
            }
            (Self::Text(builder), Some(TimeValue::Text(text))) => builder.append_value(text),
            (Self::Text(builder), Some(TimeValue::Made(text))) => builder.append_value(text),
            (collector, Some(TimeValue::Part(part))) => collector.add_part(part)?,
            (Self::Integer32(builder), None) => builder.append_null(),
            (Self::Integer(builder), None) => builder.append_null(),
            (Self::Double(builder), None) => builder.append_null(),
            (Self::Decimal(builder), None) => builder.append_null(),
            (Self::Date(builder), None) => builder.append_null(),
            (Self::Timestamp(builder), None) => builder.append_null(),
            (Self::Time(builder), None) => builder.append_null(),
            (Self::Interval(builder), None) => builder.append_null(),
            (Self::Text(builder), None) => builder.append_null(),
            (_, Some(value)) => return exec_err!("a function of time gave {value:?}"),
        }
        Ok(())
    }

    fn add_part(&mut self, part: ScaledFieldValue) -> Result<()> {
        let whole = || i64::try_from(part.units).map_err(|_| out_of_range(TimeKind::Interval));
        match self {
            Self::Integer32(builder) => builder.append_value(whole()? as i32),
            Self::Integer(builder) => builder.append_value(whole()?),
            Self::Decimal(builder) => builder.append_value(part.units),
            Self::Double(builder) => {
                let power = 10_f64.powi(i32::from(part.scale));
                builder.append_value(part.units as f64 / power);
            }
            _ => return exec_err!("a field of a time is a number"),
        }
        Ok(())
    }

    pub(super) fn finish(self) -> ArrayRef {
        match self {
            Self::Integer32(mut builder) => Arc::new(builder.finish()),
            Self::Integer(mut builder) => Arc::new(builder.finish()),
            Self::Double(mut builder) => Arc::new(builder.finish()),
            Self::Decimal(mut builder) => Arc::new(builder.finish()),
            Self::Date(mut builder) => Arc::new(builder.finish()),
            Self::Timestamp(mut builder) => Arc::new(builder.finish()),
            Self::Time(mut builder) => Arc::new(builder.finish()),
            Self::Interval(mut builder) => Arc::new(builder.finish()),
            Self::Text(mut builder) => Arc::new(builder.finish()),
        }
    }
}
