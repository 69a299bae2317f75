//! Rounding before a cast to an integer.
//!
//! Arrow's cast cuts the fraction off; SQL's rounds. As in PostgreSQL, floats round half to even
//! and decimals round half away from zero. `quire_planner::optimize::checked_operators` puts this function
//! between a cast to an integer and its argument.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, Decimal128Array};
use datafusion::arrow::datatypes::{DataType, Decimal128Type, Float32Type, Float64Type};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

use super::array_results::map_array;

/// The function; its result has the argument's type and no fraction.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct RoundToInteger {
    signature: Signature,
}

impl Default for RoundToInteger {
    fn default() -> Self {
        Self {
            signature: Signature::any(1, Volatility::Immutable),
        }
    }
}

impl RoundToInteger {
    /// Whether values of `from` must be rounded before they become integers.
    pub fn is_needed_for(from: &DataType) -> bool {
        matches!(from, DataType::Float32 | DataType::Float64)
            || matches!(from, DataType::Decimal128(_, scale) if *scale > 0)
    }
}

impl ScalarUDFImpl for RoundToInteger {
    fn name(&self) -> &str {
        "round_to_integer"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        Ok(arg_types[0].clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        map_array(&args.args, round)
    }
}

fn round(array: &ArrayRef) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::Float64 => Ok(Arc::new(
            array
                .as_primitive::<Float64Type>()
                .unary::<_, Float64Type>(f64::round_ties_even),
        )),
        DataType::Float32 => Ok(Arc::new(
            array
                .as_primitive::<Float32Type>()
                .unary::<_, Float32Type>(f32::round_ties_even),
        )),
        DataType::Decimal128(precision, scale) if *scale > 0 => {
            let unit = 10_i128.pow(u32::from(scale.unsigned_abs()));
            let decimals = array.as_primitive::<Decimal128Type>();
            let rounded: Decimal128Array = decimals.unary(|value| round_half_away(value, unit));
            Ok(Arc::new(
                rounded.with_precision_and_scale(*precision, *scale)?,
            ))
        }
        other => internal_err!("round_to_integer does not round {other}"),
    }
}

/// The multiple of `unit` nearest to `value`. A decimal has at most 38 digits, so that the result
/// is less than 1.1e38 and fits.
fn round_half_away(value: i128, unit: i128) -> i128 {
    let rest = value % unit;
    let down = value - rest;
    if rest.abs() >= unit - rest.abs() {
        // What stands in place of a NULL is any number.
        down.wrapping_add(unit * value.signum())
    } else {
        down
    }
}

#[cfg(test)]
mod tests {
    use super::round_half_away;

    #[test]
    fn halves_go_away_from_zero() {
        let rounded = |value| round_half_away(value, 100) / 100;
        let pairs = [
            (149, 1),
            (150, 2),
            (-149, -1),
            (-150, -2),
            (49, 0),
            (-49, 0),
            (50, 1),
            (-50, -1),
        ];
        for (value, expected) in pairs {
            assert_eq!(rounded(value), expected, "{value}");
        }
    }
}
