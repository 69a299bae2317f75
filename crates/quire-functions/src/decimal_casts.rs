//! Casts of text to decimals and of decimals to floats, each rounded once.
//!
//! Arrow's cast of text knows no exponent, and its cast to a float divides the digits, rounded to a double, by a power of ten: two
//! roundings. `quire_planner::optimize::checked_operators` puts these functions in the place of the casts.

use std::sync::Arc;

use datafusion::arrow::array::{AsArray, Decimal128Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DataType, Decimal128Type, DecimalType, Float32Type, Float64Type,
};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use quire_exec::plan::nearest_double;
use quire_text::number_in::{NumberInError, parse_decimal};

use super::array_results::map_array;
use quire_error::Error;

/// Text as a decimal: digits with a point, an exponent, and underscores between digits. More digits behind the point than the type
/// has are rounded half away from zero.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct TextToDecimal {
    precision: u8,
    scale: i8,
    signature: Signature,
}

impl TextToDecimal {
    pub fn new(precision: u8, scale: i8) -> Self {
        Self {
            precision,
            scale,
            signature: Signature::any(1, Volatility::Immutable),
        }
    }

    fn parse(&self, text: &str) -> Result<i128> {
        let scale = self.scale.unsigned_abs();
        let parsed = match without_underscores(text) {
            Some(digits) => parse_decimal(digits.as_bytes(), self.precision, scale),
            None => Err(NumberInError::Invalid),
        };
        parsed.map_err(|reason| {
            let error = match reason {
                NumberInError::Invalid => {
                    let text = format!("invalid input syntax for type numeric: \"{text}\"");
                    Error::new("22P02", text)
                }
                NumberInError::OutOfRange => {
                    let (precision, scale) = (self.precision, self.scale);
                    let text = format!(
                        "numeric field overflow: \"{text}\" does not fit DECIMAL({precision},{scale})"
                    );
                    Error::new("22003", text)
                }
            };
            error.into()
        })
    }
}

/// `None` where an underscore is not between two digits.
fn without_underscores(text: &str) -> Option<std::borrow::Cow<'_, str>> {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| {
        let byte = at.and_then(|at| bytes.get(at));
        byte.is_some_and(u8::is_ascii_digit)
    };
    let mut underscores = (0..bytes.len()).filter(|at| bytes[*at] == b'_').peekable();
    if underscores.peek().is_none() {
        return Some(text.into());
    }
    let are_inside = underscores.all(|at| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)));
    are_inside.then(|| text.replace('_', "").into())
}

impl ScalarUDFImpl for TextToDecimal {
    fn name(&self) -> &str {
        "text_to_decimal"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Decimal128(self.precision, self.scale))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        map_array(&args.args, |array| {
            let text = cast(array, &DataType::Utf8View)?;
            let decimals = text.as_string_view().iter();
            let decimals = decimals.map(|text| text.map(|text| self.parse(text)).transpose());
            let decimals = decimals.collect::<Result<Decimal128Array>>()?;
            let decimals = decimals.with_precision_and_scale(self.precision, self.scale)?;
            Ok(Arc::new(decimals))
        })
    }
}

/// A decimal as the nearest float.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct DecimalToFloat {
    is_double: bool,
    signature: Signature,
}

impl DecimalToFloat {
    /// The function that casts values of `from` to `to`; `None` where Arrow's cast does.
    pub fn needed_for(from: &DataType, to: &DataType) -> Option<Self> {
        let is_double = match to {
            DataType::Float64 => true,
            DataType::Float32 => false,
            _ => return None,
        };
        let is_decimal = matches!(from, DataType::Decimal128(_, scale) if *scale >= 0);
        is_decimal.then(|| Self {
            is_double,
            signature: Signature::any(1, Volatility::Immutable),
        })
    }
}

impl ScalarUDFImpl for DecimalToFloat {
    fn name(&self) -> &str {
        if self.is_double {
            "decimal_to_double"
        } else {
            "decimal_to_real"
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(if self.is_double {
            DataType::Float64
        } else {
            DataType::Float32
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        map_array(&args.args, |array| {
            let DataType::Decimal128(_, scale) = array.data_type() else {
                return internal_err!("{} takes decimals", self.name());
            };
            let unit = 10_u128.pow(u32::from(scale.unsigned_abs()));
            let decimals = array.as_primitive::<Decimal128Type>();
            Ok(if self.is_double {
                Arc::new(decimals.unary::<_, Float64Type>(|digits| nearest_double(digits, unit)))
            } else {
                let nearest = |digits| nearest_real(digits, *scale, unit);
                Arc::new(decimals.unary::<_, Float32Type>(nearest))
            })
        })
    }
}

/// Bits of a double that a real does not have, where it lies in the middle between two reals.
const TIE: u64 = 1 << 28;

/// Rounded once: a double that a real's digits end in the middle of may be a rounded one, so there the digits decide.
fn nearest_real(digits: i128, scale: i8, unit: u128) -> f32 {
    let double = nearest_double(digits, unit);
    let rest = double.to_bits() & (2 * TIE - 1);
    if rest != TIE {
        return double as f32;
    }
    let text = Decimal128Type::format_decimal(digits, 38, scale);
    text.parse().unwrap_or(double as f32)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn underscores_are_between_digits() {
        for (text, digits) in [("1_000.5", Some("1000.5")), ("1", Some("1"))] {
            assert_eq!(without_underscores(text).as_deref(), digits);
        }
        for text in ["_1", "1_", "1__0", "1_.5", "1._5", "1_e3"] {
            assert_eq!(without_underscores(text), None, "{text}");
        }
    }

    #[test]
    fn reals_are_rounded_once() {
        // 1 + 2^-24 is a tie, which goes to 1; what is above by less than a double shows goes up.
        for (text, real) in [
            ("1.000000059604644775390625", 1.0),
            ("1.000000059604644775390626", 1.000_000_1),
            ("0.1", 0.1),
        ] {
            let scale = text.len() as i8 - 2;
            let digits: i128 = text.replace('.', "").parse().unwrap();
            let unit = 10_u128.pow(scale.unsigned_abs().into());
            assert_eq!(nearest_real(digits, scale, unit), real as f32, "{text}");
        }
    }
}
