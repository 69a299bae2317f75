//! Functions and operators of dates, times and intervals, in microseconds and by the session's time zone.
//!
//! DataFusion's count in nanoseconds, which end in 2262, and know no session; none of them is left where these are.

mod arithmetic;
mod calendar;
mod call;
mod cast;
mod choice;
mod clock;
mod make;
mod parts;
mod patterns;
mod planner_part;
mod series;
mod sums;
mod value;

pub use arithmetic::{interval_length, interval_negative, time_operator};
pub use calendar::seconds_to_instant;
pub use call::zone_of;
pub use cast::time_cast;
pub use choice::chosen_interval;
pub use clock::{StatementClock, micros_now};
pub use parts::as_planner_part;
pub use sums::IntervalAggregate;
pub use value::TimeKind;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::ScalarUDF;

use quire_error::Error;
use quire_text::number_in::NumberInError;

/// Replaces the planner's functions of time.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    let functions = calendar::functions().into_iter();
    let functions = functions.chain(make::functions()).chain(parts::functions());
    let functions = functions.chain(patterns::functions());
    for function in functions {
        state.register_udf(ScalarUDF::from(function).into())?;
    }
    state.register_udf(ScalarUDF::from(series::TimeSeries::new()).into())?;
    clock::register(state)
}

fn error(sqlstate: &'static str, message: impl Into<String>) -> DataFusionError {
    Error::new(sqlstate, message).into()
}

/// `22008`: a value that its type does not hold.
fn out_of_range(kind: TimeKind) -> DataFusionError {
    let what = match kind {
        TimeKind::Timestamp | TimeKind::Instant => "timestamp",
        other => other.sql_name(),
    };
    error("22008", format!("{what} out of range"))
}

/// A text that is no value of a type.
pub fn invalid_text(reason: NumberInError, kind: TimeKind, text: &str) -> Error {
    match (reason, kind) {
        (NumberInError::Invalid, _) => Error::new(
            "22007",
            format!(
                "invalid input syntax for type {}: \"{text}\"",
                kind.sql_name()
            ),
        ),
        (NumberInError::OutOfRange, TimeKind::Interval) => Error::new(
            "22015",
            format!("interval field value out of range: \"{text}\""),
        ),
        (NumberInError::OutOfRange, _) => Error::new(
            "22008",
            format!("date/time field value out of range: \"{text}\""),
        ),
    }
}

/// No overload takes arguments of these types.
fn wrong_arguments<T>(name: &str, types: &[DataType]) -> Result<T> {
    let types: Vec<String> = types.iter().map(ToString::to_string).collect();
    plan_err!(
        "No function matches the given name and argument types '{name}({})'",
        types.join(", ")
    )
}
