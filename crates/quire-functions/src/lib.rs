//! SQL functions of our own: those that check what DataFusion's let wrap around, and those that
//! show what is stored.
#![forbid(unsafe_code)]

mod array_cast;
mod array_changes;
mod array_of_rows;
mod array_results;
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
mod group_states;
mod joined_bytes;
mod large_text;
mod lossy_cast;
mod nested_text;
mod ordered_doubles;
mod ordered_texts;
mod outer_aggregate;
mod own_name;
mod percentiles;
mod planner_options;
mod prefix_aggregates;
mod prefixes;
mod ranks;
mod replaced_function;
mod round_floats;
mod rounding;
mod scans;
mod sequences;
mod single_value;
mod storage;
mod sum;
mod text;
mod time;
mod whole_decimals;

pub use array_cast::ArrayCast;
pub use array_of_rows::ARRAY_OF_ROWS;
pub use array_slices::ARRAY_SLICES;
pub use array_text::{ArrayElement, elements_of, parse_array};
use average::ExactAverage;
pub use average::MergedAverage;
pub use bytes::{BytesToText, OctetLength, TextToBytes};
pub use checked_arithmetic::{CheckedArithmetic, CheckedOperator};
pub use collected_rows::CollectedRows;
pub use costs::CostsFunction;
pub use decimal_casts::{DecimalToFloat, TextToDecimal};
pub use decimal_digits::DecimalDigits;
pub use file::FileFunction;
pub use float_aggregates::{STATISTICS, greatest_udaf, least_udaf};
pub use float_casts::FloatCast;
pub use float_key::FloatKey;
pub use joined_bytes::JoinedBytes;
pub use large_text::LargeText;
pub use lossy_cast::LossyCast;
pub use nested_text::NestedText;
pub use ordered_doubles::{OrderedDoubles, in_order};
pub use outer_aggregate::OuterAggregate;
pub use own_name::{OwnName, SUFFIX_MARK};
pub use planner_options::{ExecutorChoice, PlannerCosts, QuireOptions};
pub use prefix_aggregates::prefix_aggregate;
pub use prefixes::{PrefixAggregate, PrefixResults, PrefixSegment};
pub use rounding::RoundToInteger;
pub use scans::ScansFunction;
pub use sequences::{NEXT_BY_ID, SequenceValues};
pub use single_value::{PackedValue, SingleValue};
pub use storage::{EngineFunction, PoolFunction, StorageFunction, TablesFunction, table_of};
pub use sum::CheckedSum;
pub use text::{Concatenation, TextIsLike};
pub use time::{
    IntervalAggregate, StatementClock, TimeKind, as_planner_part, chosen_interval, interval_length,
    interval_negative, invalid_text, micros_now, seconds_to_instant, time_cast, time_operator,
    zone_of,
};

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use quire_tables::Snapshot;

/// The functions that depend on the connection, or on what a statement sees.
pub fn register(
    state: &mut SessionState,
    snapshot: &Snapshot,
    values: &Arc<SequenceValues>,
    clock: StatementClock,
) -> Result<()> {
    clock.register(state)?;
    sequences::register(state, snapshot, values)
}

/// Replaces functions that fall short, and aggregate functions that can overflow unnoticed or lose digits. This is done once for all statements under the same settings.
pub fn register_pure(state: &mut SessionState) -> Result<()> {
    time::register(state)?;
    state.register_udf(ScalarUDF::from(bytes::OctetLength::default()).into())?;
    state.register_udf(ScalarUDF::from(round_floats::RoundFloats::new()).into())?;
    whole_decimals::register(state)?;
    state.register_udf(ScalarUDF::from(OwnName::new()).into())?;
    state.register_udaf(AggregateUDF::from(CheckedSum::wide()).into())?;
    state.register_udf(ScalarUDF::from(characters::Chr::new()).into())?;
    text::register(state)?;
    array_changes::register(state)?;
    array_of_rows::register(state)?;
    array_slices::register(state)?;
    encodings::register(state)?;
    float_domains::register(state)?;
    state.register_udaf(AggregateUDF::from(ExactAverage::new()).into())?;
    state.register_udaf(AggregateUDF::from(ordered_texts::OrderedTexts::new()).into())?;
    float_aggregates::register(state)?;
    percentiles::register(state)?;
    ranks::register(state)?;
    outer_aggregate::register(state)?;
    Ok(())
}
