//! Operators on dates, times and intervals, with the types that PostgreSQL gives them.
//!
//! One deviation: a date and a written interval of whole days or months give a date, so that comparisons with columns of dates stay
//! on dates.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{Cast, Expr, Operator, cast};
use quire_text::temporal::{DAY, Interval, parse_interval};

use super::call::{Overload, Run, TimeCallContext, TimeFunction};
use super::cast::{integer, is_text, start_of};
use super::value::{TimeKind, TimeValue, of_arrow};
use super::{error, out_of_range, wrong_arguments};
use crate::OwnName;

/// What a type is to an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OperatorSide {
    Time(TimeKind),
    Integer,
    /// A number that may have a fraction.
    Number,
    Text,
    Other,
}

impl OperatorSide {
    fn of(data_type: &DataType) -> Self {
        match TimeKind::of(data_type) {
            Some(kind) => Self::Time(kind),
            None if data_type.is_integer() => Self::Integer,
            None if data_type.is_numeric() => Self::Number,
            None if is_text(data_type) => Self::Text,
            None => Self::Other,
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Number)
    }
}

/// The call that an operator between these stands for, if one of them is a time; otherwise both sides again.
pub fn time_operator(
    operator: Operator,
    left: Expr,
    right: Expr,
    types: (&DataType, &DataType),
) -> std::result::Result<Expr, (Expr, Expr)> {
    match operator {
        Operator::Plus => plus(left, right, types),
        Operator::Minus => minus(left, right, types),
        Operator::Multiply => match (OperatorSide::of(types.0), OperatorSide::of(types.1)) {
            (OperatorSide::Time(TimeKind::Interval), other) if other.is_number() => {
                Ok(scaled("interval_multiply", left, right))
            }
            (other, OperatorSide::Time(TimeKind::Interval)) if other.is_number() => {
                Ok(scaled("interval_multiply", right, left))
            }
            _ => Err((left, right)),
        },
        Operator::Divide => match (OperatorSide::of(types.0), OperatorSide::of(types.1)) {
            (OperatorSide::Time(TimeKind::Interval), other) if other.is_number() => {
                Ok(scaled("interval_divide", left, right))
            }
            _ => Err((left, right)),
        },
        other if other.supports_propagation() => compared(left, right, types),
        _ => Err((left, right)),
    }
}

fn scaled(name: &'static str, interval: Expr, number: Expr) -> Expr {
    let function = match name {
        "interval_divide" => TimeFunction::new(name, |_, _| Ok(scaling(divide))),
        _ => TimeFunction::new(name, |_, _| Ok(scaling(multiply))),
    };
    function.call(vec![interval, cast(number, DataType::Float64)])
}

/// A date beside an instant is its midnight where the session is; a time of day beside an interval is what has gone by since midnight.
fn compared(
    left: Expr,
    right: Expr,
    types: (&DataType, &DataType),
) -> std::result::Result<Expr, (Expr, Expr)> {
    let instant = TimeKind::Instant.data_type();
    match (OperatorSide::of(types.0), OperatorSide::of(types.1)) {
        (OperatorSide::Time(TimeKind::Date), OperatorSide::Time(TimeKind::Instant)) => {
            Err((cast(left, instant), right))
        }
        (OperatorSide::Time(TimeKind::Instant), OperatorSide::Time(TimeKind::Date)) => {
            Err((left, cast(right, instant)))
        }
        (OperatorSide::Time(TimeKind::Time), OperatorSide::Time(TimeKind::Interval)) => {
            Err((cast(left, TimeKind::Interval.data_type()), right))
        }
        (OperatorSide::Time(TimeKind::Interval), OperatorSide::Time(TimeKind::Time)) => {
            Err((left, cast(right, TimeKind::Interval.data_type())))
        }
        _ => Err((left, right)),
    }
}

fn plus(
    left: Expr,
    right: Expr,
    types: (&DataType, &DataType),
) -> std::result::Result<Expr, (Expr, Expr)> {
    use OperatorSide::{Integer, Text, Time as Of};
    use TimeKind::{Date, Instant, Interval, Time, Timestamp};
    let add = || TimeFunction::new("time_add", |types, _| add(types));
    Ok(
        match (OperatorSide::of(types.0), OperatorSide::of(types.1)) {
            (Of(Date), Integer) | (Of(Date), Of(Time)) => add().call(vec![left, right]),
            (Integer, Of(Date)) | (Of(Time), Of(Date)) => add().call(vec![right, left]),
            (Of(_), Of(Interval)) => add().call(vec![moved(left, &right, types.0), right]),
            (Of(_), Of(_)) if types.0 == &Interval.data_type() => {
                add().call(vec![moved(right, &left, types.1), left])
            }
            // A text without a type beside a point in time is an interval.
            (Of(Timestamp | Instant | Interval), Text) if is_written(&right) => {
                add().call(vec![left, cast(right, Interval.data_type())])
            }
            (Text, Of(Timestamp | Instant | Interval)) if is_written(&left) => {
                add().call(vec![right, cast(left, Interval.data_type())])
            }
            _ => return Err((left, right)),
        },
    )
}

fn minus(
    left: Expr,
    right: Expr,
    types: (&DataType, &DataType),
) -> std::result::Result<Expr, (Expr, Expr)> {
    use OperatorSide::{Integer, Text, Time as Of};
    use TimeKind::{Date, Instant, Interval, Time, Timestamp};
    let subtract = || TimeFunction::new("time_subtract", |types, _| subtract(types));
    Ok(
        match (OperatorSide::of(types.0), OperatorSide::of(types.1)) {
            (Of(Date), Integer) => subtract().call(vec![left, right]),
            (Of(Interval), Of(Interval)) => subtract().call(vec![left, right]),
            (Of(_), Of(Interval)) => subtract().call(vec![moved(left, &right, types.0), right]),
            (Of(Time), Of(Time)) => subtract().call(vec![left, right]),
            (Of(Date | Timestamp | Instant), Of(Date | Timestamp | Instant)) => {
                subtract().call(vec![left, right])
            }
            (Of(kind @ (Timestamp | Instant | Interval | Date | Time)), Text)
                if is_written(&right) =>
            {
                subtract().call(vec![left, cast(right, kind.data_type())])
            }
            (Text, Of(kind)) if is_written(&left) => {
                subtract().call(vec![cast(left, kind.data_type()), right])
            }
            _ => return Err((left, right)),
        },
    )
}

/// A text that is written out, and so has no type of its own yet.
fn is_written(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(..))
}

/// The side that an interval moves: a date stays one for a written interval of whole days.
fn moved(point: Expr, interval: &Expr, data_type: &DataType) -> Expr {
    let is_date = *data_type == DataType::Date32;
    let is_of_days = written_interval(interval).is_some_and(|written| written.micros % DAY == 0);
    if is_date && !is_of_days {
        return cast(point, TimeKind::Timestamp.data_type());
    }
    point
}

/// The interval that an expression is, if it is written out.
fn written_interval(expr: &Expr) -> Option<Interval> {
    match expr {
        Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(value)), _) => Some(of_arrow(*value)),
        Expr::Cast(Cast { expr, field })
            if TimeKind::of(field.data_type()) == Some(TimeKind::Interval) =>
        {
            match expr.as_ref() {
                Expr::Literal(value, _) => parse_interval(value.try_as_str()??).ok(),
                _ => None,
            }
        }
        Expr::Negative(inner) => written_interval(inner)?.negative(),
        // Operators are planned while expressions still carry their own names.
        Expr::ScalarFunction(call) if call.func.inner().is::<OwnName>() => {
            written_interval(call.args.first()?)
        }
        _ => None,
    }
}

/// `-interval`
pub fn interval_negative(expr: Expr) -> Expr {
    TimeFunction::new("interval_negative", |_, _| {
        Ok(Overload {
            arguments: vec![TimeKind::Interval.data_type()],
            result: TimeKind::Interval.data_type(),
            run: |values, _| in_range(interval(values, 0).negative()),
        })
    })
    .call(vec![expr])
}

/// The length of an interval, by which it is compared.
pub fn interval_length(expr: Expr) -> Expr {
    TimeFunction::new("interval_length", |_, _| {
        Ok(Overload {
            arguments: vec![TimeKind::Interval.data_type()],
            result: DataType::Decimal128(38, 0),
            run: |values, _| Ok(TimeValue::Decimal(interval(values, 0).length())),
        })
    })
    .call(vec![expr])
}

fn overload(arguments: [DataType; 2], result: DataType, run: Run) -> Result<Overload> {
    Ok(Overload {
        arguments: arguments.into(),
        result,
        run,
    })
}

fn add(types: &[DataType]) -> Result<Overload> {
    let [left, right] = types else {
        return wrong_arguments("+", types);
    };
    let interval_type = TimeKind::Interval.data_type();
    let Some(kind) = TimeKind::of(left) else {
        return wrong_arguments("+", types);
    };
    let own = kind.data_type();
    match (kind, OperatorSide::of(right)) {
        (TimeKind::Date, OperatorSide::Integer) => {
            overload([own.clone(), DataType::Int64], own, |values, _| {
                days(integer(values).checked_add(integer(&values[1..])))
            })
        }
        (TimeKind::Date, OperatorSide::Time(TimeKind::Time)) => {
            let timestamp = TimeKind::Timestamp.data_type();
            overload([own, TimeKind::Time.data_type()], timestamp, |values, _| {
                let start = start_of(integer(values))?;
                micros(start.checked_add(integer(&values[1..])))
            })
        }
        (_, OperatorSide::Time(TimeKind::Interval)) => {
            let run: Run = match kind {
                TimeKind::Date => |values, _| move_date(integer(values), interval(values, 1)),
                TimeKind::Timestamp => {
                    |values, _| micros(interval(values, 1).after(integer(values)))
                }
                TimeKind::Instant => |values, context| {
                    let moved = interval(values, 1).after_instant(integer(values), &context.zone);
                    micros(moved)
                },
                TimeKind::Time => {
                    |values, _| Ok(move_time(integer(values), interval(values, 1).micros))
                }
                TimeKind::Interval => {
                    |values, _| in_range(interval(values, 0).plus(interval(values, 1)))
                }
            };
            overload([own.clone(), interval_type], own, run)
        }
        _ => wrong_arguments("+", types),
    }
}

fn subtract(types: &[DataType]) -> Result<Overload> {
    use TimeKind::{Date, Instant, Time, Timestamp};
    let [left, right] = types else {
        return wrong_arguments("-", types);
    };
    let interval_type = TimeKind::Interval.data_type();
    let Some(kind) = TimeKind::of(left) else {
        return wrong_arguments("-", types);
    };
    let own = kind.data_type();
    let both = |kind: TimeKind, result: DataType, run: Run| {
        overload([kind.data_type(), kind.data_type()], result, run)
    };
    match (kind, OperatorSide::of(right)) {
        (Date, OperatorSide::Integer) => {
            overload([own.clone(), DataType::Int64], own, |values, _| {
                days(integer(values).checked_sub(integer(&values[1..])))
            })
        }
        (Date, OperatorSide::Time(Date)) => both(Date, DataType::Int64, |values, _| {
            Ok(TimeValue::Integer(integer(values) - integer(&values[1..])))
        }),
        (Time, OperatorSide::Time(Time)) => both(Time, interval_type, |values, _| {
            Ok(TimeValue::Interval(Interval {
                micros: integer(values) - integer(&values[1..]),
                ..Interval::default()
            }))
        }),
        (Date | Timestamp | Instant, OperatorSide::Time(other @ (Date | Timestamp | Instant))) => {
            let common = if kind == Instant || other == Instant {
                Instant
            } else {
                Timestamp
            };
            both(common, interval_type, |values, _| {
                let distance = integer(values).checked_sub(integer(&values[1..]));
                in_range(distance.and_then(Interval::of_micros))
            })
        }
        (_, OperatorSide::Time(TimeKind::Interval)) => {
            overload([own.clone(), interval_type], own, subtract_interval(kind))
        }
        _ => wrong_arguments("-", types),
    }
}

fn subtract_interval(kind: TimeKind) -> Run {
    match kind {
        TimeKind::Date => |values, _| move_date(integer(values), negative(values)?),
        TimeKind::Timestamp => |values, _| micros(negative(values)?.after(integer(values))),
        TimeKind::Instant => |values, context| {
            let moved = negative(values)?.after_instant(integer(values), &context.zone);
            micros(moved)
        },
        TimeKind::Time => |values, _| Ok(move_time(integer(values), negative(values)?.micros)),
        TimeKind::Interval => |values, _| in_range(interval(values, 0).minus(interval(values, 1))),
    }
}

fn negative(values: &[TimeValue<'_>]) -> Result<Interval> {
    let negative = interval(values, 1).negative();
    negative.ok_or_else(|| out_of_range(TimeKind::Interval))
}

pub(super) fn interval(values: &[TimeValue<'_>], place: usize) -> Interval {
    match values.get(place) {
        Some(TimeValue::Interval(interval)) => *interval,
        _ => Interval::default(),
    }
}

fn move_date(day: i64, interval: Interval) -> Result<TimeValue<'static>> {
    let moved = interval.after(start_of(day)?);
    days(moved.map(|micros| micros.div_euclid(DAY)))
}

/// Clocks go round.
fn move_time(time: i64, by: i64) -> TimeValue<'static> {
    TimeValue::Integer((time + by % DAY).rem_euclid(DAY))
}

fn scaling(run: Run) -> Overload {
    Overload {
        arguments: vec![TimeKind::Interval.data_type(), DataType::Float64],
        result: TimeKind::Interval.data_type(),
        run,
    }
}

fn double(values: &[TimeValue<'_>]) -> f64 {
    match values {
        [_, TimeValue::Double(value)] => *value,
        _ => 0.0,
    }
}

fn multiply(values: &[TimeValue<'_>], _: &TimeCallContext) -> Result<TimeValue<'static>> {
    in_range(interval(values, 0).times(double(values)))
}

fn divide(values: &[TimeValue<'_>], _: &TimeCallContext) -> Result<TimeValue<'static>> {
    if double(values) == 0.0 {
        return Err(error("22012", "division by zero"));
    }
    in_range(interval(values, 0).divided(double(values)))
}

fn days(days: Option<i64>) -> Result<TimeValue<'static>> {
    let days = days.filter(|days| i32::try_from(*days).is_ok());
    days.map(TimeValue::Integer)
        .ok_or_else(|| out_of_range(TimeKind::Date))
}

fn micros(micros: Option<i64>) -> Result<TimeValue<'static>> {
    let micros = micros.map(TimeValue::Integer);
    micros.ok_or_else(|| out_of_range(TimeKind::Timestamp))
}

pub(super) fn in_range(interval: Option<Interval>) -> Result<TimeValue<'static>> {
    let interval = interval.map(TimeValue::Interval);
    interval.ok_or_else(|| out_of_range(TimeKind::Interval))
}
