//! Arithmetic: exact in its type, or an error.
//!
//! Integers of 4 and of 8 bytes have operations of their own, for their sums and products are outside their type at different values.
//! Decimals are integers of 16 bytes whose scales were made equal before.

use super::operand::{TargetRegister, Wide, WordRegister};
use super::registers::{ReadOperand, RegisterSet, WriteRegister};
use super::trap::Trap;
use crate::plan::{EvaluationError, IntegerWidth, Operator};

/// What is computed of two values of one type.
pub(super) trait ArithmeticOperation<V> {
    fn apply(left: V, right: V) -> Result<V, Trap>;
}

pub(super) struct Add;
pub(super) struct Subtract;
pub(super) struct Multiply;
pub(super) struct Divide;
pub(super) struct Remainder;

/// Of integers of 8 bytes.
pub(super) struct Big<O>(O);
/// Of integers of 4 bytes.
pub(super) struct Middle<O>(O);
/// Of integers of 2 bytes.
pub(super) struct SmallInteger<O>(O);

/// An operator, and its results where there are any.
pub(super) trait Checked {
    const OPERATOR: Operator;
    fn integers(left: i64, right: i64) -> Option<i64>;
    fn decimals(left: i128, right: i128) -> Option<i128>;
    fn doubles(left: f64, right: f64) -> f64;
    fn reals(left: f32, right: f32) -> f32;
}

macro_rules! checked {
    ($($operation:ident, $integers:path, $decimals:path, $operator:tt;)*) => {
        $(impl Checked for $operation {
            const OPERATOR: Operator = Operator::$operation;
            #[inline(always)]
            fn integers(left: i64, right: i64) -> Option<i64> {
                $integers(left, right)
            }
            #[inline(always)]
            fn decimals(left: i128, right: i128) -> Option<i128> {
                $decimals(left, right)
            }
            #[inline(always)]
            fn doubles(left: f64, right: f64) -> f64 {
                left $operator right
            }
            #[inline(always)]
            fn reals(left: f32, right: f32) -> f32 {
                left $operator right
            }
        })*
    };
}

checked! {
    Add, i64::checked_add, i128::checked_add, +;
    Subtract, i64::checked_sub, i128::checked_sub, -;
    Multiply, i64::checked_mul, product, *;
    Divide, i64::checked_div, quotient, /;
    Remainder, remainder, i128::checked_rem, %;
}

/// The product; most are of numbers of 8 bytes, for which one multiplication does.
#[inline(always)]
fn product(left: i128, right: i128) -> Option<i128> {
    match (i64::try_from(left), i64::try_from(right)) {
        (Ok(left), Ok(right)) => Some(i128::from(left) * i128::from(right)),
        _ => left.checked_mul(right),
    }
}

#[inline(always)]
fn quotient(left: i128, right: i128) -> Option<i128> {
    match (i64::try_from(left), i64::try_from(right)) {
        (Ok(left), Ok(right)) => left.checked_div(right).map(i128::from).or_else(|| {
            // The least number of 8 bytes by -1.
            (right != 0).then(|| -i128::from(left))
        }),
        _ => left.checked_div(right),
    }
}

/// The least number has no remainder by -1 in the processor, but in SQL: 0.
#[inline(always)]
fn remainder(left: i64, right: i64) -> Option<i64> {
    (right != 0).then(|| left.wrapping_rem(right))
}

/// Whether the right side must not be zero.
#[inline(always)]
fn divides<O: Checked>() -> bool {
    matches!(O::OPERATOR, Operator::Divide | Operator::Remainder)
}

#[cold]
fn no_integer<O: Checked>(width: IntegerWidth, left: i64, right: i64) -> Trap {
    match O::OPERATOR {
        _ if divides::<O>() && right == 0 => EvaluationError::DivisionByZero.into(),
        Operator::Divide => {
            EvaluationError::overflow(O::OPERATOR, left.into(), right.into()).into()
        }
        _ => EvaluationError::IntegerOutOfRange(width).into(),
    }
}

#[cold]
fn no_decimal<O: Checked>(left: i128, right: i128) -> Trap {
    if divides::<O>() && right == 0 {
        EvaluationError::DivisionByZero.into()
    } else {
        EvaluationError::overflow(O::OPERATOR, left, right).into()
    }
}

impl<O: Checked> ArithmeticOperation<i64> for Big<O> {
    #[inline(always)]
    fn apply(left: i64, right: i64) -> Result<i64, Trap> {
        match O::integers(left, right) {
            Some(result) => Ok(result),
            None => Err(no_integer::<O>(IntegerWidth::Bits64, left, right)),
        }
    }
}

impl<O: Checked> ArithmeticOperation<i64> for Middle<O> {
    #[inline(always)]
    fn apply(left: i64, right: i64) -> Result<i64, Trap> {
        match O::integers(left, right).and_then(|result| i32::try_from(result).ok()) {
            Some(result) => Ok(result.into()),
            None => Err(no_integer::<O>(IntegerWidth::Bits32, left, right)),
        }
    }
}

impl<O: Checked> ArithmeticOperation<i64> for SmallInteger<O> {
    #[inline(always)]
    fn apply(left: i64, right: i64) -> Result<i64, Trap> {
        match O::integers(left, right).and_then(|result| i16::try_from(result).ok()) {
            Some(result) => Ok(result.into()),
            None => Err(no_integer::<O>(IntegerWidth::Bits16, left, right)),
        }
    }
}

impl<O: Checked> ArithmeticOperation<i128> for O {
    #[inline(always)]
    fn apply(left: i128, right: i128) -> Result<i128, Trap> {
        O::decimals(left, right).ok_or_else(|| no_decimal::<O>(left, right))
    }
}

impl<O: Checked> ArithmeticOperation<f64> for O {
    #[inline(always)]
    fn apply(left: f64, right: f64) -> Result<f64, Trap> {
        if O::OPERATOR == Operator::Divide && right == 0.0 {
            Err(EvaluationError::DivisionByZero.into())
        } else {
            Ok(O::doubles(left, right))
        }
    }
}

impl<O: Checked> ArithmeticOperation<f32> for O {
    #[inline(always)]
    fn apply(left: f32, right: f32) -> Result<f32, Trap> {
        if O::OPERATOR == Operator::Divide && right == 0.0 {
            Err(EvaluationError::DivisionByZero.into())
        } else {
            Ok(O::reals(left, right))
        }
    }
}

/// NULL when an attribute is.
#[inline(always)]
pub(super) fn compute<V, O, L, R, T>(
    registers: &mut RegisterSet,
    left: L,
    right: R,
    target: TargetRegister<T>,
) -> Result<(), Trap>
where
    O: ArithmeticOperation<V>,
    L: ReadOperand<V>,
    R: ReadOperand<V>,
    TargetRegister<T>: WriteRegister<V>,
{
    let (Some(left), Some(right)) = (left.read(registers)?, right.read(registers)?) else {
        target.write_null(registers);
        return Ok(());
    };
    target.write(registers, O::apply(left, right)?);
    Ok(())
}

/// Minus a decimal. It has at most 38 digits, so its negative fits.
#[inline(always)]
pub(super) fn negate_decimal(
    registers: &mut RegisterSet,
    value: Wide,
    target: TargetRegister<Wide>,
) -> Result<(), Trap> {
    let value = registers.wide(value);
    target.write(registers, value.wrapping_neg());
    Ok(())
}

/// Minus a float.
#[inline(always)]
pub(super) fn negate_float<V>(
    registers: &mut RegisterSet,
    value: WordRegister,
    target: TargetRegister<WordRegister>,
) -> Result<(), Trap>
where
    WordRegister: ReadOperand<V>,
    V: std::ops::Neg<Output = V>,
    TargetRegister<WordRegister>: WriteRegister<V>,
{
    if let Some(value) = value.read(registers)? {
        target.write(registers, -value);
    }
    Ok(())
}

/// The same decimal, if its absolute value is below a limit.
#[inline(always)]
pub(super) fn check_limit(
    registers: &mut RegisterSet,
    value: Wide,
    limit: Wide,
    target: TargetRegister<Wide>,
) -> Result<(), Trap> {
    let (value, limit) = (registers.wide(value), registers.wide(limit));
    if value.unsigned_abs() >= limit.unsigned_abs() {
        return Err(Trap::sum_out_of_range(value));
    }
    target.write(registers, value);
    Ok(())
}

/// The same decimal, if it has at most 38 digits.
#[inline(always)]
pub(super) fn check_digits(
    registers: &mut RegisterSet,
    value: Wide,
    target: TargetRegister<Wide>,
) -> Result<(), Trap> {
    let value = registers.wide(value);
    if value.unsigned_abs() >= 10_u128.pow(38) {
        return Err(EvaluationError::DecimalOutOfRange.into());
    }
    target.write(registers, value);
    Ok(())
}
