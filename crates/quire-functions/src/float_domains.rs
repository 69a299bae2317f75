//! Functions of floats that have no value everywhere: an error, where DataFusion's give NaN or an infinity.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, Float64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::common::Result;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF};

use super::replaced_function::{OwnCalculation, replace};
use quire_error::Error;

const FUNCTIONS: [(&str, FloatDomain); 14] = [
    ("acos", FloatDomain::Cosine),
    ("acosh", FloatDomain::HyperbolicCosine),
    ("asin", FloatDomain::Cosine),
    ("atanh", FloatDomain::Cosine),
    ("cos", FloatDomain::Angle),
    ("cot", FloatDomain::Angle),
    ("exp", FloatDomain::Exponential),
    ("ln", FloatDomain::Logarithm),
    ("log", FloatDomain::Logarithm),
    ("log10", FloatDomain::Logarithm),
    ("power", FloatDomain::Power),
    ("sin", FloatDomain::Angle),
    ("sqrt", FloatDomain::Root),
    ("tan", FloatDomain::Angle),
];

/// Puts the check before DataFusion's functions.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    for (name, domain) in FUNCTIONS {
        replace(state, name, domain)?;
    }
    Ok(())
}

/// Where a function has values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum FloatDomain {
    /// Finite numbers.
    Angle,
    /// From -1 to 1.
    Cosine,
    /// From 1 on.
    HyperbolicCosine,
    /// Above 0.
    Logarithm,
    /// From 0 on.
    Root,
    /// Where the result is a double.
    Exponential,
    Power,
}

type Refusal = (&'static str, &'static str);

const OVERFLOW: Refusal = ("22003", "value out of range: overflow");
const UNDERFLOW: Refusal = ("22003", "value out of range: underflow");

impl FloatDomain {
    /// Why there is no value for these arguments, none of which is NaN.
    fn refusal(self, arguments: &[f64]) -> Option<Refusal> {
        let first = arguments.first().copied().unwrap_or_default();
        let is_outside = match self {
            Self::Angle => first.is_infinite(),
            Self::Cosine => first.abs() > 1.0,
            Self::HyperbolicCosine => first < 1.0,
            Self::Logarithm => return of_logarithm(arguments),
            Self::Root if first < 0.0 => {
                return Some(("2201F", "cannot take square root of a negative number"));
            }
            Self::Root => false,
            Self::Exponential => return of_result(first.exp(), arguments),
            Self::Power => {
                let exponent = arguments.get(1).copied().unwrap_or_default();
                return of_power(first, exponent);
            }
        };
        is_outside.then_some(("22003", "input is out of range"))
    }
}

fn of_logarithm(arguments: &[f64]) -> Option<Refusal> {
    match arguments {
        _ if arguments.contains(&0.0) => Some(("2201E", "cannot take logarithm of zero")),
        _ if arguments.iter().any(|number| *number < 0.0) => {
            Some(("2201E", "cannot take logarithm of a negative number"))
        }
        [1.0, _] => Some(("22012", "division by zero")),
        _ => None,
    }
}

fn of_power(base: f64, exponent: f64) -> Option<Refusal> {
    if base == 0.0 && exponent < 0.0 {
        let text = "zero raised to a negative power is undefined";
        return Some(("2201F", text));
    }
    if base < 0.0 && exponent.is_finite() && exponent.fract() != 0.0 {
        let text = "a negative number raised to a non-integer power yields a complex result";
        return Some(("2201F", text));
    }
    let result = base.powf(exponent);
    of_result(result, &[base, exponent]).filter(|_| base != 0.0)
}

/// A result of finite arguments that no double holds.
fn of_result(result: f64, arguments: &[f64]) -> Option<Refusal> {
    let are_finite = arguments.iter().all(|argument| argument.is_finite());
    match result {
        _ if !are_finite => None,
        0.0 => Some(UNDERFLOW),
        result if result.is_infinite() => Some(OVERFLOW),
        _ => None,
    }
}

impl OwnCalculation for FloatDomain {
    fn calculate(&self, inner: &ScalarUDF, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        check(*self, &args.args)?;
        inner.invoke_with_args(args)
    }
}

fn check(domain: FloatDomain, arguments: &[ColumnarValue]) -> Result<()> {
    let mut columns = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let (array, is_fixed) = match argument {
            ColumnarValue::Array(array) => (Arc::clone(array), false),
            ColumnarValue::Scalar(value) => (value.to_array()?, true),
        };
        let doubles = cast(&array, &DataType::Float64)?;
        columns.push((doubles.as_primitive::<Float64Type>().clone(), is_fixed));
    }
    let rows = columns.iter().filter(|(_, is_fixed)| !is_fixed);
    let rows = rows.map(|(array, _)| array.len()).max().unwrap_or(1);
    let mut values = Vec::with_capacity(columns.len());
    for row in 0..rows {
        values.clear();
        let at = |(array, is_fixed): &(Float64Array, bool)| {
            let row = if *is_fixed { 0 } else { row };
            array.is_valid(row).then(|| array.value(row))
        };
        values.extend(columns.iter().filter_map(at));
        let is_whole = values.len() == columns.len() && !values.iter().any(|v| v.is_nan());
        if is_whole && let Some((sqlstate, text)) = domain.refusal(&values) {
            return Err(Error::new(sqlstate, text).into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // As PostgreSQL 15 says it.
    #[test]
    fn arguments_without_a_value_are_refused() {
        let sqlstate = |domain: FloatDomain, arguments: &[f64]| {
            domain.refusal(arguments).map(|(sqlstate, _)| sqlstate)
        };
        assert_eq!(sqlstate(FloatDomain::Logarithm, &[0.0]), Some("2201E"));
        assert_eq!(
            sqlstate(FloatDomain::Logarithm, &[10.0, -1.0]),
            Some("2201E")
        );
        assert_eq!(sqlstate(FloatDomain::Logarithm, &[1.0, 2.0]), Some("22012"));
        assert_eq!(sqlstate(FloatDomain::Logarithm, &[f64::INFINITY]), None);
        assert_eq!(sqlstate(FloatDomain::Exponential, &[1000.0]), Some("22003"));
        assert_eq!(
            sqlstate(FloatDomain::Exponential, &[-1000.0]),
            Some("22003")
        );
        assert_eq!(
            sqlstate(FloatDomain::Exponential, &[f64::NEG_INFINITY]),
            None
        );
        assert_eq!(sqlstate(FloatDomain::Power, &[-8.0, 0.5]), Some("2201F"));
        assert_eq!(sqlstate(FloatDomain::Power, &[-8.0, 3.0]), None);
        assert_eq!(sqlstate(FloatDomain::Power, &[0.0, 2.0]), None);
        assert_eq!(sqlstate(FloatDomain::Cosine, &[1.0]), None);
    }
}
