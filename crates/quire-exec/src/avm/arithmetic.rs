//! Arithmetic. Integers and decimals give the exact result or an error; floats follow IEEE 754, but a division by zero is an error.
//!
//! `SMALLINT`, `INTEGER` and `BIGINT` are all computed in 64 bits and have separate operations because they overflow at different
//! bounds. Decimals are 128-bit integers; earlier instructions have multiplied the operands by the factors of their
//! [`DecimalOperation`](crate::plan::DecimalOperation).

use super::operand::{TargetRegister, Wide, WordRegister};
use super::registers::{ReadOperand, RegisterSet, WriteRegister};
use super::trap::Trap;
use crate::plan::{EvaluationError, IntegerWidth, Operator};

/// A binary operation on two non-NULL values.
pub(super) trait ArithmeticOperation<V> {
    fn apply(left: V, right: V) -> Result<V, Trap>;
}

pub(super) struct Add;
pub(super) struct Subtract;
pub(super) struct Multiply;
pub(super) struct Divide;
pub(super) struct Remainder;

/// `O` on `BIGINT` operands.
pub(super) struct Int64<O>(O);
/// `O` on `INTEGER` operands.
pub(super) struct Int32<O>(O);
/// `O` on `SMALLINT` operands.
pub(super) struct Int16<O>(O);

/// An operator and its implementations. Those on integers and decimals return `None` on overflow and division by zero.
pub(super) trait ExactOperator {
    const OPERATOR: Operator;
    fn integers(left: i64, right: i64) -> Option<i64>;
    fn decimals(left: i128, right: i128) -> Option<i128>;
    fn doubles(left: f64, right: f64) -> f64;
    fn reals(left: f32, right: f32) -> f32;
}

macro_rules! checked {
    ($($operation:ident, $integers:path, $decimals:path, $operator:tt;)*) => {
        $(impl ExactOperator for $operation {
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

/// Multiplies two decimals. Most fit into 64 bits, where one widening multiplication replaces a checked 128-bit one.
#[inline(always)]
fn product(left: i128, right: i128) -> Option<i128> {
    match (i64::try_from(left), i64::try_from(right)) {
        (Ok(left), Ok(right)) => Some(i128::from(left) * i128::from(right)),
        _ => left.checked_mul(right),
    }
}

/// Divides two decimals, in 64 bits if they fit: a 128-bit division is a call of a library function.
#[inline(always)]
fn quotient(left: i128, right: i128) -> Option<i128> {
    match (i64::try_from(left), i64::try_from(right)) {
        (Ok(left), Ok(right)) => left.checked_div(right).map(i128::from).or_else(|| {
            // Either the divisor is zero, or this is `i64::MIN / -1`, whose quotient exceeds 64 bits.
            (right != 0).then(|| -i128::from(left))
        }),
        _ => left.checked_div(right),
    }
}

/// `checked_rem` rejects `i64::MIN % -1` because the processor's division overflows; in SQL the result is 0.
#[inline(always)]
fn remainder(left: i64, right: i64) -> Option<i64> {
    (right != 0).then(|| left.wrapping_rem(right))
}

/// Whether the right operand must not be zero.
#[inline(always)]
fn is_division<O: ExactOperator>() -> bool {
    matches!(O::OPERATOR, Operator::Divide | Operator::Remainder)
}

#[cold]
fn integer_trap<O: ExactOperator>(width: IntegerWidth, left: i64, right: i64) -> Trap {
    match O::OPERATOR {
        _ if is_division::<O>() && right == 0 => EvaluationError::DivisionByZero.into(),
        // Only the minimum of the type divided by -1.
        Operator::Divide => {
            EvaluationError::overflow(O::OPERATOR, left.into(), right.into()).into()
        }
        _ => EvaluationError::IntegerOutOfRange(width).into(),
    }
}

#[cold]
fn decimal_trap<O: ExactOperator>(left: i128, right: i128) -> Trap {
    if is_division::<O>() && right == 0 {
        EvaluationError::DivisionByZero.into()
    } else {
        EvaluationError::overflow(O::OPERATOR, left, right).into()
    }
}

impl<O: ExactOperator> ArithmeticOperation<i64> for Int64<O> {
    #[inline(always)]
    fn apply(left: i64, right: i64) -> Result<i64, Trap> {
        match O::integers(left, right) {
            Some(result) => Ok(result),
            None => Err(integer_trap::<O>(IntegerWidth::Bits64, left, right)),
        }
    }
}

impl<O: ExactOperator> ArithmeticOperation<i64> for Int32<O> {
    #[inline(always)]
    fn apply(left: i64, right: i64) -> Result<i64, Trap> {
        match O::integers(left, right).and_then(|result| i32::try_from(result).ok()) {
            Some(result) => Ok(result.into()),
            None => Err(integer_trap::<O>(IntegerWidth::Bits32, left, right)),
        }
    }
}

impl<O: ExactOperator> ArithmeticOperation<i64> for Int16<O> {
    #[inline(always)]
    fn apply(left: i64, right: i64) -> Result<i64, Trap> {
        match O::integers(left, right).and_then(|result| i16::try_from(result).ok()) {
            Some(result) => Ok(result.into()),
            None => Err(integer_trap::<O>(IntegerWidth::Bits16, left, right)),
        }
    }
}

impl<O: ExactOperator> ArithmeticOperation<i128> for O {
    #[inline(always)]
    fn apply(left: i128, right: i128) -> Result<i128, Trap> {
        O::decimals(left, right).ok_or_else(|| decimal_trap::<O>(left, right))
    }
}

impl<O: ExactOperator> ArithmeticOperation<f64> for O {
    #[inline(always)]
    fn apply(left: f64, right: f64) -> Result<f64, Trap> {
        if O::OPERATOR == Operator::Divide && right == 0.0 {
            Err(EvaluationError::DivisionByZero.into())
        } else {
            Ok(O::doubles(left, right))
        }
    }
}

impl<O: ExactOperator> ArithmeticOperation<f32> for O {
    #[inline(always)]
    fn apply(left: f32, right: f32) -> Result<f32, Trap> {
        if O::OPERATOR == Operator::Divide && right == 0.0 {
            Err(EvaluationError::DivisionByZero.into())
        } else {
            Ok(O::reals(left, right))
        }
    }
}

/// Applies `O` to two operands; the result is NULL if one of them is. Only attributes can be NULL: the compiler branches around an
/// instruction whose register operand is.
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

/// Negates a decimal. It has at most 38 digits, so the result is within 128 bits.
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

/// Negates a float.
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

/// Copies a decimal whose absolute value is below `limit`; any other traps with `SumOutOfRange`.
#[inline(always)]
pub(super) fn check_limit(
    registers: &mut RegisterSet,
    value: Wide,
    limit: Wide,
    target: TargetRegister<Wide>,
) -> Result<(), Trap> {
    let (value, limit) = (registers.wide(value), registers.wide(limit));
    // The absolute value of `i128::MIN` exceeds `i128`.
    if value.unsigned_abs() >= limit.unsigned_abs() {
        return Err(Trap::sum_out_of_range(value));
    }
    target.write(registers, value);
    Ok(())
}

/// Copies a decimal of at most 38 digits; any other traps with `DecimalOutOfRange`.
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
