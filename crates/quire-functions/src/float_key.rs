//! The one value that stands for all floats that are equal in SQL.
//!
//! SQL, as PostgreSQL reads it, has one NaN, which equals itself and is greater than every number, and one zero. Arrow
//! compares, sorts and hashes floats by their bits: there, NaNs with a sign come before all numbers, and -0.0 before 0.0.
//! Of the values that this function returns both have the same order and the same equality.
//! `quire_planner::optimize` puts it wherever a plan compares floats.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::array_results::map_array;

const NAME: &str = "float_key";

/// The function; takes a float of either width.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct FloatKey {
    signature: Signature,
}

impl FloatKey {
    fn new() -> Self {
        Self {
            signature: Signature::any(1, Volatility::Immutable),
        }
    }

    /// The call of an expression; a literal is replaced by its key.
    pub fn of(expr: Expr) -> Expr {
        match expr {
            Expr::Literal(ScalarValue::Float64(Some(value)), metadata) => {
                Expr::Literal(ScalarValue::Float64(Some(double_key(value))), metadata)
            }
            Expr::Literal(ScalarValue::Float32(Some(value)), metadata) => {
                Expr::Literal(ScalarValue::Float32(Some(real_key(value))), metadata)
            }
            other => ScalarUDF::from(Self::new()).call(vec![other]),
        }
    }

    /// The argument of a call of this function.
    pub fn argument_of(expr: &Expr) -> Option<&Expr> {
        match expr {
            Expr::ScalarFunction(ScalarFunction { func, args }) if func.name() == NAME => {
                args.first()
            }
            _ => None,
        }
    }

    /// Whether a physical function is this one.
    pub fn is_name(name: &str) -> bool {
        name == NAME
    }
}

impl ScalarUDFImpl for FloatKey {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        Ok(arg_types[0].clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        map_array(&args.args, keys)
    }
}

fn keys(array: &ArrayRef) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::Float64 => {
            let doubles = array.as_primitive::<Float64Type>();
            Ok(Arc::new(doubles.unary::<_, Float64Type>(double_key)))
        }
        DataType::Float32 => {
            let reals = array.as_primitive::<Float32Type>();
            Ok(Arc::new(reals.unary::<_, Float32Type>(real_key)))
        }
        other => internal_err!("{NAME} takes no {other}"),
    }
}

/// Adding zero makes -0.0 positive.
fn double_key(value: f64) -> f64 {
    if value.is_nan() {
        f64::NAN
    } else {
        value + 0.0
    }
}

fn real_key(value: f32) -> f32 {
    if value.is_nan() {
        f32::NAN
    } else {
        value + 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_floats_have_the_bits_of_one_key() {
        for (value, key) in [
            (-f64::NAN, f64::NAN),
            (f64::INFINITY - f64::INFINITY, f64::NAN),
            (-0.0, 0.0),
            (-1.5, -1.5),
            (f64::NEG_INFINITY, f64::NEG_INFINITY),
        ] {
            assert_eq!(double_key(value).to_bits(), key.to_bits(), "{value}");
            let narrow = (value as f32, key as f32);
            assert_eq!(real_key(narrow.0).to_bits(), narrow.1.to_bits(), "{value}");
        }
    }
}
