//! `generate_series` over points in time, step by step on the calendar.

use std::sync::Arc;

use datafusion::arrow::array::builder::{ListBuilder, PrimitiveBuilder};
use datafusion::arrow::datatypes::{DataType, Field, TimestampMicrosecondType};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use quire_text::temporal::{Interval, TimeZoneRules};

use super::super::array_results::result_of;
use super::call::{arrays_of, zone_of};
use super::value::{TimeArgument, TimeKind, TimeValue};
use super::{error, out_of_range, wrong_arguments};

/// The function; statements call it `generate_series`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct TimeSeries {
    signature: Signature,
}

impl TimeSeries {
    pub(super) fn new() -> Self {
        Self {
            signature: Signature::user_defined(Volatility::Immutable),
        }
    }
}

/// The kind of the values: local timestamps if both ends are such, and otherwise instants.
fn kind_of(types: &[DataType]) -> Result<TimeKind> {
    match types {
        [first, last, _] => {
            let is_local = |end| TimeKind::of(end) == Some(TimeKind::Timestamp);
            Ok(if is_local(first) && is_local(last) {
                TimeKind::Timestamp
            } else {
                TimeKind::Instant
            })
        }
        _ => wrong_arguments("generate_series", types),
    }
}

impl ScalarUDFImpl for TimeSeries {
    fn name(&self) -> &str {
        "time_series"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let end = kind_of(types)?.data_type();
        Ok(vec![end.clone(), end, TimeKind::Interval.data_type()])
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        let item = Field::new_list_field(kind_of(types)?.data_type(), true);
        Ok(DataType::List(Arc::new(item)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let types: Vec<DataType> = args.args.iter().map(ColumnarValue::data_type).collect();
        let kind = kind_of(&types)?;
        let zone = match kind {
            TimeKind::Instant => zone_of(&args.config_options),
            _ => TimeZoneRules::default(),
        };
        let arrays = arrays_of(&args.args, &self.coerce_types(&types)?)?;
        let is_constant = |argument: &ColumnarValue| matches!(argument, ColumnarValue::Scalar(_));
        let is_single = args.args.iter().all(is_constant);
        let rows = if is_single { 1 } else { args.number_rows };
        let pairs = arrays.iter().zip(&args.args);
        let arguments: Vec<_> = pairs
            .map(|(array, argument)| TimeArgument::new(array, is_constant(argument)))
            .collect();
        let items = PrimitiveBuilder::<TimestampMicrosecondType>::new();
        let mut lists = ListBuilder::new(items.with_data_type(kind.data_type()));
        for row in 0..rows {
            let values = arguments.iter().map(|argument| argument.at(row));
            let values = values.collect::<Result<Vec<_>>>()?;
            add_series(&mut lists, &values, &zone)?;
        }
        result_of(Arc::new(lists.finish()), is_single)
    }
}

/// A list for one row; without rows where an argument is NULL.
fn add_series(
    lists: &mut ListBuilder<PrimitiveBuilder<TimestampMicrosecondType>>,
    values: &[Option<TimeValue<'_>>],
    zone: &TimeZoneRules,
) -> Result<()> {
    let (first, last, step) = match values {
        [
            Some(TimeValue::Integer(first)),
            Some(TimeValue::Integer(last)),
            Some(TimeValue::Interval(step)),
        ] => (*first, *last, *step),
        [_, _, _] => {
            lists.append(true);
            return Ok(());
        }
        _ => return internal_err!("a series has two ends and a step"),
    };
    let sign = step.compare(Interval::default());
    if sign.is_eq() {
        return Err(error("22023", "step size cannot equal zero"));
    }
    let is_within = |moment: i64| {
        if sign.is_gt() {
            moment <= last
        } else {
            moment >= last
        }
    };
    let mut moment = first;
    while is_within(moment) {
        lists.values().append_value(moment);
        let next = step.after_instant(moment, zone);
        moment = next.ok_or_else(|| out_of_range(TimeKind::Timestamp))?;
    }
    lists.append(true);
    Ok(())
}
