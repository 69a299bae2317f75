//! Casts to floats and from them, with the bounds that floats have.
//!
//! Arrow makes an infinity or 0 of a number that is too large or too small, and takes all digits of a float for those of a decimal.
//! PostgreSQL refuses the one, and takes as many digits as any decimal keeps in a float: 6 of a REAL, 15 of a DOUBLE PRECISION.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, Float32Array, Float64Array,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use quire_text::number_in::{NumberInError, parse_decimal};

use super::array_results::map_array;
use quire_error::Error;

/// Digits of a REAL and of a DOUBLE PRECISION that every decimal of so many keeps.
const REAL_DIGITS: usize = 6;
const DOUBLE_DIGITS: usize = 15;

/// A cast that is checked.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct FloatCast {
    kind: FloatCastKind,
    to: DataType,
    signature: Signature,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum FloatCastKind {
    FromText,
    DoubleToReal,
    ToDecimal,
}

impl FloatCast {
    /// The function that casts values of `from` to `to`; `None` where Arrow's cast does.
    pub fn needed_for(from: &DataType, to: &DataType) -> Option<Self> {
        use DataType::{Decimal128, Float32, Float64};
        let kind = match (from, to) {
            (from, Float32 | Float64) if from.is_string() => FloatCastKind::FromText,
            (Float64, Float32) => FloatCastKind::DoubleToReal,
            (Float32 | Float64, Decimal128(_, scale)) if *scale >= 0 => FloatCastKind::ToDecimal,
            _ => return None,
        };
        Some(Self {
            kind,
            to: to.clone(),
            signature: Signature::any(1, Volatility::Immutable),
        })
    }

    fn cast(&self, array: &ArrayRef) -> Result<ArrayRef> {
        match (self.kind, &self.to) {
            (FloatCastKind::FromText, DataType::Float32) => {
                let texts = cast(array, &DataType::Utf8View)?;
                let reals = texts.as_string_view().iter();
                let reals = reals.map(|text| text.map(|text| read(text, "real")).transpose());
                Ok(Arc::new(reals.collect::<Result<Float32Array>>()?))
            }
            (FloatCastKind::FromText, _) => {
                let texts = cast(array, &DataType::Utf8View)?;
                let doubles = texts.as_string_view().iter();
                let read = |text| read(text, "double precision");
                let doubles = doubles.map(|text| text.map(read).transpose());
                Ok(Arc::new(doubles.collect::<Result<Float64Array>>()?))
            }
            (FloatCastKind::DoubleToReal, _) => {
                let doubles = array.as_primitive::<Float64Type>().iter();
                let reals = doubles.map(|double| double.map(to_real).transpose());
                Ok(Arc::new(reals.collect::<Result<Float32Array>>()?))
            }
            (FloatCastKind::ToDecimal, DataType::Decimal128(precision, scale)) => {
                to_decimals(array, *precision, *scale)
            }
            _ => internal_err!("a cast of floats to {}", self.to),
        }
    }
}

impl ScalarUDFImpl for FloatCast {
    fn name(&self) -> &str {
        match self.kind {
            FloatCastKind::FromText => "text_to_float",
            FloatCastKind::DoubleToReal => "double_to_real",
            FloatCastKind::ToDecimal => "float_to_decimal",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.to.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        map_array(&args.args, |array| self.cast(array))
    }
}

fn error(sqlstate: &'static str, text: String) -> DataFusionError {
    Error::new(sqlstate, text).into()
}

/// What reading a float asks of its type.
trait FloatCastTarget: std::str::FromStr {
    fn is_infinite(&self) -> bool;
    fn is_zero(&self) -> bool;
}

impl FloatCastTarget for f32 {
    fn is_infinite(&self) -> bool {
        f32::is_infinite(*self)
    }

    fn is_zero(&self) -> bool {
        *self == 0.0
    }
}

impl FloatCastTarget for f64 {
    fn is_infinite(&self) -> bool {
        f64::is_infinite(*self)
    }

    fn is_zero(&self) -> bool {
        *self == 0.0
    }
}

fn read<T: FloatCastTarget>(text: &str, type_name: &str) -> Result<T> {
    let digits = text.trim_matches(|letter: char| letter.is_ascii_whitespace());
    let value: T = digits.parse().map_err(|_| {
        let text = format!("invalid input syntax for type {type_name}: \"{text}\"");
        error("22P02", text)
    })?;
    // Infinities are written in letters, and 0 without other digits.
    let (mantissa, _) = digits.split_once(['e', 'E']).unwrap_or((digits, ""));
    let is_number = mantissa.contains(|letter: char| letter.is_ascii_digit());
    let is_other = mantissa.contains(|letter: char| ('1'..='9').contains(&letter));
    if is_number && value.is_infinite() || is_other && value.is_zero() {
        Err(error(
            "22003",
            format!("\"{digits}\" is out of range for type {type_name}"),
        ))
    } else {
        Ok(value)
    }
}

fn to_real(double: f64) -> Result<f32> {
    let real = double as f32;
    let what = match real {
        real if real.is_infinite() && double.is_finite() => "overflow",
        0.0 if double != 0.0 => "underflow",
        real => return Ok(real),
    };
    Err(error("22003", format!("value out of range: {what}")))
}

fn to_decimals(array: &ArrayRef, precision: u8, scale: i8) -> Result<ArrayRef> {
    let digits = match array.data_type() {
        DataType::Float32 => REAL_DIGITS,
        _ => DOUBLE_DIGITS,
    };
    let doubles = cast(array, &DataType::Float64)?;
    let decimals = doubles.as_primitive::<Float64Type>().iter();
    let decimals = decimals.map(|value| {
        let value = value.map(|value| to_decimal(value, digits, precision, scale));
        value.transpose()
    });
    let decimals = decimals.collect::<Result<Decimal128Array>>()?;
    Ok(Arc::new(
        decimals.with_precision_and_scale(precision, scale)?,
    ))
}

fn to_decimal(value: f64, digits: usize, precision: u8, scale: i8) -> Result<i128> {
    let text = format!("{value:.*e}", digits - 1);
    let read = if value.is_finite() {
        parse_decimal(text.as_bytes(), precision, scale.unsigned_abs())
    } else {
        Err(NumberInError::OutOfRange)
    };
    read.map_err(|_| {
        let text =
            format!("numeric field overflow: {value} does not fit DECIMAL({precision},{scale})");
        error("22003", text)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn numbers_beyond_the_type_are_refused() {
        for text in ["1e400", "-1e400", "1e-400", "0.001e-330"] {
            assert!(read::<f64>(text, "double precision").is_err(), "{text}");
        }
        for text in ["1e39", "1e-46"] {
            assert!(read::<f32>(text, "real").is_err(), "{text}");
        }
        assert_eq!(read::<f64>(" 0e-400 ", "double precision").unwrap(), 0.0);
        let infinite = read::<f64>("-Infinity", "double precision").unwrap();
        assert_eq!(infinite, f64::NEG_INFINITY);
        assert!(read::<f64>("1x", "double precision").is_err());
    }

    // As PostgreSQL 15 gives them.
    #[test]
    fn decimals_have_the_digits_that_a_float_keeps() {
        assert_eq!(
            to_decimal(f64::from(1.1_f32), 6, 38, 10).unwrap(),
            11_000_000_000
        );
        assert_eq!(
            to_decimal(0.1 + 0.2, 15, 38, 18).unwrap(),
            300_000_000_000_000_000
        );
        assert!(to_decimal(1e40, 15, 38, 10).is_err());
    }
}
