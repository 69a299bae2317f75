//! `extract` and `date_part`: numbers out of dates, times and intervals.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::{Expr, ScalarUDF};
use quire_text::temporal::{ScaledFieldValue, TemporalField};

use super::arithmetic::interval;
use super::call::{Overload, Run, TimeFunction};
use super::cast::{instant_to_local, integer, is_text, text_type};
use super::planner_part::PlannerPart;
use super::value::{TimeKind, TimeValue};
use super::{error, wrong_arguments};

/// Fields that are whole numbers, and so those of the planner's function. It knows what years mean for ranges, so filters can use them.
const PLANNERS_FIELDS: [TemporalField; 6] = [
    TemporalField::Year,
    TemporalField::Quarter,
    TemporalField::Month,
    TemporalField::Day,
    TemporalField::Hour,
    TemporalField::Minute,
];

pub(super) fn functions() -> Vec<TimeFunction> {
    vec![
        TimeFunction::new("extract", extract),
        // Under its own name the planner's function stays, which cannot fail; scans rely on that.
        TimeFunction::new("time_part", date_part)
            .with_alias("date_part")
            .with_alias("datepart"),
    ]
}

/// A call of one of the functions with these arguments as one of the planner's, where that gives the same.
pub fn as_planner_part(arguments: &[Expr], moment: &DataType) -> Option<Expr> {
    let [Expr::Literal(name, _), value] = arguments else {
        return None;
    };
    let field = TemporalField::named(name.try_as_str()??)?;
    let is_known = match moment {
        DataType::Date32 => !field.is_of_clock(),
        DataType::Timestamp(_, None) => true,
        _ => false,
    };
    let is_same = is_known && PLANNERS_FIELDS.contains(&field);
    let function = ScalarUDF::from(PlannerPart::new());
    is_same.then(|| {
        let name = format!("{field:?}").to_lowercase();
        function.call(vec![
            Expr::Literal(ScalarValue::Utf8(Some(name)), None),
            value.clone(),
        ])
    })
}

/// A number with as many decimals as the field has.
fn extract(types: &[DataType], known: &[Option<&ScalarValue>]) -> Result<Overload> {
    let field = field_of(known);
    let result = match field.map(|field| (field, field.scale())) {
        Some((TemporalField::Microseconds, _)) => DataType::Int64,
        Some((_, 0)) => DataType::Int32,
        Some((_, scale)) => DataType::Decimal128(22, scale.cast_signed()),
        None => DataType::Float64,
    };
    parts("extract", types, result)
}

fn date_part(types: &[DataType], known: &[Option<&ScalarValue>]) -> Result<Overload> {
    let result = match field_of(known).map(TemporalField::scale) {
        Some(0) if field_of(known) == Some(TemporalField::Microseconds) => DataType::Int64,
        Some(0) => DataType::Int32,
        _ => DataType::Float64,
    };
    parts("date_part", types, result)
}

fn field_of(known: &[Option<&ScalarValue>]) -> Option<TemporalField> {
    let name = known.first().copied().flatten()?;
    TemporalField::named(name.try_as_str()??)
}

fn parts(name: &str, types: &[DataType], result: DataType) -> Result<Overload> {
    let [name_type, moment] = types else {
        return wrong_arguments(name, types);
    };
    let kind = match TimeKind::of(moment) {
        Some(kind) => kind,
        None if is_text(moment) || moment.is_null() => TimeKind::Instant,
        None => return wrong_arguments(name, types),
    };
    let run: Run = match kind {
        TimeKind::Date => |values, _| {
            let day = integer(&values[1..]);
            let part = field(values, TimeKind::Date)?;
            let is_of_day = !part.is_of_clock() && !part.is_of_zone();
            found(
                part.of_day(day).filter(|_| is_of_day),
                values,
                TimeKind::Date,
            )
        },
        TimeKind::Timestamp => |values, _| {
            let part = field(values, TimeKind::Timestamp)?;
            found(
                part.of_timestamp(integer(&values[1..])),
                values,
                TimeKind::Timestamp,
            )
        },
        TimeKind::Instant => |values, context| {
            let (part, instant) = (field(values, TimeKind::Instant)?, integer(&values[1..]));
            let part = match part {
                TemporalField::Epoch => part.of_timestamp(instant),
                part if part.is_of_zone() => part.of_offset(context.zone.offset_at(instant)),
                part => part.of_timestamp(instant_to_local(instant, context)?),
            };
            found(part, values, TimeKind::Instant)
        },
        TimeKind::Time => |values, _| {
            let part = field(values, TimeKind::Time)?;
            found(part.of_time(integer(&values[1..])), values, TimeKind::Time)
        },
        TimeKind::Interval => |values, _| {
            let part = field(values, TimeKind::Interval)?;
            found(
                part.of_interval(interval(values, 1)),
                values,
                TimeKind::Interval,
            )
        },
    };
    Ok(Overload {
        arguments: vec![text_type(name_type), kind.data_type()],
        result,
        run,
    })
}

fn name_of<'v>(values: &'v [TimeValue<'_>]) -> &'v str {
    match values {
        [TimeValue::Text(name), _] => name,
        _ => "",
    }
}

fn field(values: &[TimeValue<'_>], kind: TimeKind) -> Result<TemporalField> {
    let name = name_of(values);
    TemporalField::named(name).ok_or_else(|| refusal(name, "recognized", kind))
}

fn found(
    part: Option<ScaledFieldValue>,
    values: &[TimeValue<'_>],
    kind: TimeKind,
) -> Result<TimeValue<'static>> {
    let part = part.map(TimeValue::Part);
    part.ok_or_else(|| refusal(name_of(values), "supported", kind))
}

fn refusal(name: &str, what: &str, kind: TimeKind) -> DataFusionError {
    let sqlstate = match what {
        "supported" => "0A000",
        _ => "22023",
    };
    let (name, kind) = (name.to_lowercase(), kind.sql_name());
    error(
        sqlstate,
        format!("unit \"{name}\" not {what} for type {kind}"),
    )
}
