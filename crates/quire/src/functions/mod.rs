//! SQL functions of our own: those that check what DataFusion's let wrap around, and those that
//! show what is stored.

mod array_cast;
mod array_changes;
mod array_slices;
mod array_text;
mod average;
mod bytes;
mod characters;
mod checked_arithmetic;
mod collected_rows;
mod costs;
mod decimal_casts;
mod decimal_digits;
mod encodings;
mod file;
mod float_aggregates;
mod float_casts;
mod float_domains;
mod float_key;
mod float_totals;
mod frames;
mod joined_bytes;
mod large_text;
mod lossy_cast;
mod nested_text;
mod ordered_doubles;
mod ordered_texts;
mod outer_aggregate;
mod own_name;
mod ranks;
mod round_floats;
mod rounding;
mod sequences;
mod single_value;
mod storage;
mod sum;
mod text;
mod time;
mod waits;
mod whole_decimals;

pub(crate) use array_cast::ArrayCast;
pub(crate) use array_slices::ARRAY_SLICES;
pub(crate) use array_text::{ArrayElement, elements_of, parse_array};
use average::ExactAverage;
pub(crate) use bytes::{BytesToText, OctetLength, TextToBytes};
pub(crate) use checked_arithmetic::{CheckedArithmetic, CheckedOperator, integer_out_of_range};
pub(crate) use collected_rows::CollectedRows;
pub(crate) use costs::CostsFunction;
pub(crate) use decimal_casts::{DecimalToFloat, TextToDecimal};
pub(crate) use decimal_digits::{DecimalDigits, decimal_out_of_range};
pub(crate) use file::FileFunction;
pub(crate) use float_aggregates::STATISTICS;
pub(crate) use float_casts::FloatCast;
pub(crate) use float_key::FloatKey;
pub(crate) use joined_bytes::JoinedBytes;
pub(crate) use large_text::LargeText;
pub(crate) use lossy_cast::LossyCast;
pub(crate) use nested_text::NestedText;
pub(crate) use ordered_doubles::{OrderedDoubles, in_order};
pub(crate) use outer_aggregate::OuterAggregate;
pub(crate) use own_name::OwnName;
pub(crate) use rounding::RoundToInteger;
pub(crate) use sequences::{NEXT_BY_ID, SequenceValues};
pub(crate) use single_value::{PackedValue, SingleValue, more_than_one_row};
pub(crate) use storage::{EngineFunction, PoolFunction, StorageFunction, TablesFunction};
pub(crate) use sum::CheckedSum;
pub(crate) use text::{Concatenation, TextIsLike, value_too_large};
pub(crate) use time::{
    IntervalAggregate, Kind, StatementClock, as_planner_part, chosen_interval, interval_length,
    interval_negative, invalid_text, micros_now, seconds_to_instant, time_cast, time_operator,
    zone_of,
};
pub(crate) use waits::WaitsFunction;

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use quire_tables::Snapshot;

use crate::optimize::TimePlanner;

/// The functions that depend on the connection, or on what a statement sees.
pub(crate) fn register(
    state: &mut SessionState,
    snapshot: &Snapshot,
    values: &Arc<SequenceValues>,
    clock: StatementClock,
) -> Result<()> {
    clock.register(state)?;
    sequences::register(state, snapshot, values)
}

/// Replaces functions that fall short, and aggregate functions that can overflow unnoticed or lose digits. This is done once for all statements under the same settings.
pub(crate) fn register_pure(state: &mut SessionState) -> Result<()> {
    state.register_expr_planner(Arc::new(TimePlanner))?;
    time::register(state)?;
    state.register_udf(ScalarUDF::from(bytes::OctetLength::new()).into())?;
    state.register_udf(ScalarUDF::from(round_floats::RoundFloats::new()).into())?;
    whole_decimals::register(state)?;
    state.register_udf(ScalarUDF::from(OwnName::new()).into())?;
    state.register_udaf(AggregateUDF::from(CheckedSum::wide()).into())?;
    state.register_udf(ScalarUDF::from(characters::Chr::new()).into())?;
    text::register(state)?;
    array_changes::register(state)?;
    array_slices::register(state)?;
    encodings::register(state)?;
    float_domains::register(state)?;
    state.register_udaf(AggregateUDF::from(ExactAverage::new()).into())?;
    state.register_udaf(AggregateUDF::from(ordered_texts::OrderedTexts::new()).into())?;
    float_aggregates::register(state)?;
    ranks::register(state)?;
    outer_aggregate::register(state)?;
    Ok(())
}
