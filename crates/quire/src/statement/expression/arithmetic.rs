//! Arithmetic with the results and the errors of the general path: integers and floats as [`crate::functions::CheckedArithmetic`]
//! computes them, decimals by Arrow's rules (every result has the scale that its operator gives, in 128 bits).

use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::error::ArrowError;

use super::super::scalar::Scalar;
use crate::error::Error;
use crate::functions::{decimal_out_of_range, integer_out_of_range};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::statement) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// Arithmetic on integers of one width.
#[derive(Debug, Clone)]
pub(in crate::statement) struct IntegerOperation {
    operator: Operator,
    result: DataType,
    min: i64,
    max: i64,
}

impl IntegerOperation {
    /// `None` when the type is no signed integer.
    pub(in crate::statement) fn new(operator: Operator, result: &DataType) -> Option<Self> {
        let (min, max) = integer_bounds(result)?;
        Some(Self {
            operator,
            result: result.clone(),
            min,
            max,
        })
    }

    #[inline]
    pub(super) fn apply(&self, left: i64, right: i64) -> Result<i64, Error> {
        let result = match self.operator {
            Operator::Add => left.checked_add(right),
            Operator::Subtract => left.checked_sub(right),
            Operator::Multiply => left.checked_mul(right),
            Operator::Divide | Operator::Remainder if right == 0 => return Err(division_by_zero()),
            Operator::Divide => left.checked_div(right),
            Operator::Remainder => Some(left.wrapping_rem(right)),
        };
        match result {
            Some(result) if (self.min..=self.max).contains(&result) => Ok(result),
            _ if self.operator == Operator::Divide => Err(overflow(left, "/", right)),
            _ => Err(integer_out_of_range(&self.result)),
        }
    }
}

/// Least and greatest value of a signed integer type.
pub(super) fn integer_bounds(data_type: &DataType) -> Option<(i64, i64)> {
    Some(match data_type {
        DataType::Int8 => (i8::MIN.into(), i8::MAX.into()),
        DataType::Int16 => (i16::MIN.into(), i16::MAX.into()),
        DataType::Int32 => (i32::MIN.into(), i32::MAX.into()),
        DataType::Int64 => (i64::MIN, i64::MAX),
        _ => return None,
    })
}

/// Arithmetic on floats.
#[derive(Debug, Clone, Copy)]
pub(in crate::statement) struct FloatOperator(pub(super) Operator);

impl FloatOperator {
    pub(super) fn can_fail(self) -> bool {
        self.0 == Operator::Divide
    }

    #[inline]
    pub(super) fn apply<F: Float>(self, left: F, right: F) -> Result<F, Error> {
        Ok(match self.0 {
            Operator::Add => left + right,
            Operator::Subtract => left - right,
            Operator::Multiply => left * right,
            Operator::Divide if right == F::default() => return Err(division_by_zero()),
            Operator::Divide => left / right,
            Operator::Remainder => left % right,
        })
    }
}

pub(super) trait Float:
    Copy
    + Default
    + PartialEq
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Rem<Output = Self>
{
}

impl Float for f32 {}
impl Float for f64 {}

/// Arithmetic on decimals: the operands are multiplied by powers of ten first.
#[derive(Debug, Clone, Copy)]
pub(in crate::statement) struct DecimalOperation {
    operator: Operator,
    left_factor: i128,
    right_factor: i128,
}

impl DecimalOperation {
    /// For operands of these scales; `None` when Arrow has no result type.
    pub(super) fn new(operator: Operator, left_scale: i8, right_scale: i8) -> Option<Self> {
        let (left_power, right_power) = match operator {
            Operator::Add | Operator::Subtract | Operator::Remainder => {
                let scale = left_scale.max(right_scale);
                (scale - left_scale, scale - right_scale)
            }
            Operator::Multiply if left_scale.checked_add(right_scale)? > 38 => return None,
            Operator::Multiply => (0, 0),
            Operator::Divide => {
                let scale = left_scale.checked_add(4)?.min(38);
                match scale - left_scale + right_scale {
                    power @ 0.. => (power, 0),
                    power => (0, -power),
                }
            }
        };
        let power = |power: i8| 10_i128.checked_pow(u32::try_from(power).ok()?);
        Some(Self {
            operator,
            left_factor: power(left_power)?,
            right_factor: power(right_power)?,
        })
    }

    pub(super) fn apply(&self, left: i128, right: i128) -> Result<i128, Error> {
        let scaled = |value: i128, factor: i128| {
            value
                .checked_mul(factor)
                .ok_or_else(|| overflow(value, "*", factor))
        };
        let (left, right) = (
            scaled(left, self.left_factor)?,
            scaled(right, self.right_factor)?,
        );
        let (result, sign) = match self.operator {
            Operator::Add => (left.checked_add(right), "+"),
            Operator::Subtract => (left.checked_sub(right), "-"),
            Operator::Multiply => (left.checked_mul(right), "*"),
            _ if right == 0 => return Err(division_by_zero()),
            Operator::Divide => (left.checked_div(right), "/"),
            Operator::Remainder => (left.checked_rem(right), "%"),
        };
        result.ok_or_else(|| overflow(left, sign, right))
    }
}

fn division_by_zero() -> Error {
    Error::from(ArrowError::DivideByZero)
}

#[cold]
fn overflow(left: impl std::fmt::Display, sign: &str, right: impl std::fmt::Display) -> Error {
    let text = format!("Overflow happened on: {left} {sign} {right}");
    Error::from(ArrowError::ArithmeticOverflow(text))
}

/// The decimal, if it has at most 38 digits.
pub(super) fn checked_digits(value: Scalar<'_>) -> Result<Scalar<'_>, Error> {
    match value {
        Scalar::Decimal(decimal) if decimal.unsigned_abs() >= 10_u128.pow(38) => {
            Err(decimal_out_of_range())
        }
        value => Ok(value),
    }
}

/// Minus a float. A decimal has at most 38 digits, so its negative fits.
pub(super) fn negated(value: Scalar<'_>) -> Scalar<'_> {
    match value {
        Scalar::Decimal(value) => Scalar::Decimal(value.wrapping_neg()),
        Scalar::Real(value) => Scalar::Real(-value),
        Scalar::Double(value) => Scalar::Double(-value),
        _ => Scalar::Null,
    }
}
