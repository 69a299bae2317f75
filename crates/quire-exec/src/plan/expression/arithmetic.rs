//! Arithmetic. Integers and decimals report what does not fit; floats overflow to infinity, and report division by zero.
//! The scale of a decimal result is the one that its operator gives: that of the finer side for sums, both together for
//! products, four digits more than the dividend for quotients.

use super::operator::Operator;
use crate::plan::{EvaluationError, IntegerWidth, PlanScalar};

/// Arithmetic on integers of one width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IntegerOperation {
    operator: Operator,
    width: IntegerWidth,
    min: i64,
    max: i64,
}

impl IntegerOperation {
    /// An operator whose result must be of a width.
    #[must_use]
    pub const fn new(operator: Operator, width: IntegerWidth) -> Self {
        let (min, max) = width.bounds();
        Self {
            operator,
            width,
            min,
            max,
        }
    }

    /// The operator.
    #[must_use]
    pub(crate) const fn operator(&self) -> Operator {
        self.operator
    }

    /// The width of the result.
    #[must_use]
    pub(crate) const fn width(&self) -> IntegerWidth {
        self.width
    }

    /// The result.
    ///
    /// # Errors
    /// Division by zero; a result that is not of the width.
    #[inline]
    pub fn apply(&self, left: i64, right: i64) -> Result<i64, EvaluationError> {
        let result = match self.operator {
            Operator::Add => left.checked_add(right),
            Operator::Subtract => left.checked_sub(right),
            Operator::Multiply => left.checked_mul(right),
            Operator::Divide | Operator::Remainder if right == 0 => {
                return Err(EvaluationError::DivisionByZero);
            }
            Operator::Divide => left.checked_div(right),
            Operator::Remainder => Some(left.wrapping_rem(right)),
        };
        match result {
            Some(result) if (self.min..=self.max).contains(&result) => Ok(result),
            _ => Err(self.out_of_range(left, right)),
        }
    }

    #[cold]
    fn out_of_range(&self, left: i64, right: i64) -> EvaluationError {
        match self.operator {
            Operator::Divide => EvaluationError::overflow(self.operator, left.into(), right.into()),
            _ => EvaluationError::IntegerOutOfRange(self.width),
        }
    }
}

/// Arithmetic on floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FloatOperator(pub Operator);

impl FloatOperator {
    pub(super) fn can_fail(self) -> bool {
        self.0 == Operator::Divide
    }

    #[inline]
    pub(crate) fn apply<F: FloatArithmetic>(self, left: F, right: F) -> Result<F, EvaluationError> {
        Ok(match self.0 {
            Operator::Add => left + right,
            Operator::Subtract => left - right,
            Operator::Multiply => left * right,
            Operator::Divide if right == F::default() => {
                return Err(EvaluationError::DivisionByZero);
            }
            Operator::Divide => left / right,
            Operator::Remainder => left % right,
        })
    }
}

pub(crate) trait FloatArithmetic:
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

impl FloatArithmetic for f32 {}
impl FloatArithmetic for f64 {}

/// Arithmetic on decimals: the operands are multiplied by powers of ten first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DecimalOperation {
    operator: Operator,
    left_factor: i128,
    right_factor: i128,
}

impl DecimalOperation {
    /// For operands of these scales; `None` when the result would have no scale of at most 38.
    #[must_use]
    pub fn new(operator: Operator, left_scale: i8, right_scale: i8) -> Option<Self> {
        let (left_power, right_power) = match operator {
            Operator::Add | Operator::Subtract | Operator::Remainder => {
                let scale = left_scale.max(right_scale);
                (
                    scale.checked_sub(left_scale)?,
                    scale.checked_sub(right_scale)?,
                )
            }
            Operator::Multiply if left_scale.checked_add(right_scale)? > 38 => return None,
            Operator::Multiply => (0, 0),
            Operator::Divide => {
                let scale = left_scale.checked_add(4)?.min(38);
                match scale.checked_sub(left_scale)?.checked_add(right_scale)? {
                    power @ 0.. => (power, 0),
                    power => (0, power.checked_neg()?),
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

    /// The operator.
    #[must_use]
    pub(crate) const fn operator(&self) -> Operator {
        self.operator
    }

    /// What the sides are multiplied by first.
    #[must_use]
    pub(crate) const fn factors(&self) -> (i128, i128) {
        (self.left_factor, self.right_factor)
    }

    /// The result, without its point.
    ///
    /// # Errors
    /// Division by zero; a result, or an operand after its multiplication, of more than 128 bits.
    pub fn apply(&self, left: i128, right: i128) -> Result<i128, EvaluationError> {
        let scaled = |value: i128, factor: i128| {
            value
                .checked_mul(factor)
                .ok_or_else(|| EvaluationError::overflow(Operator::Multiply, value, factor))
        };
        let (left, right) = (
            scaled(left, self.left_factor)?,
            scaled(right, self.right_factor)?,
        );
        let result = match self.operator {
            Operator::Add => left.checked_add(right),
            Operator::Subtract => left.checked_sub(right),
            Operator::Multiply => left.checked_mul(right),
            _ if right == 0 => return Err(EvaluationError::DivisionByZero),
            Operator::Divide => left.checked_div(right),
            Operator::Remainder => left.checked_rem(right),
        };
        result.ok_or_else(|| EvaluationError::overflow(self.operator, left, right))
    }
}

/// The decimal, if it has at most 38 digits.
#[inline]
pub(super) fn checked_digits(value: PlanScalar<'_>) -> Result<PlanScalar<'_>, EvaluationError> {
    match value {
        PlanScalar::Decimal(decimal) if decimal.unsigned_abs() >= 10_u128.pow(38) => {
            Err(EvaluationError::DecimalOutOfRange)
        }
        value => Ok(value),
    }
}

/// Minus a decimal or a float. A decimal has at most 38 digits, so its negative fits.
pub(super) fn negated(value: PlanScalar<'_>) -> PlanScalar<'_> {
    match value {
        PlanScalar::Decimal(value) => PlanScalar::Decimal(value.wrapping_neg()),
        PlanScalar::Real(value) => PlanScalar::Real(-value),
        PlanScalar::Double(value) => PlanScalar::Double(-value),
        _ => PlanScalar::Null,
    }
}
