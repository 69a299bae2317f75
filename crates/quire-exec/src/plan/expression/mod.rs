//! Expressions: a tree that is walked once per row, without batches and without allocation but for text it makes.

mod arithmetic;
mod cast;
mod comparison;
mod display;
mod function;
mod like;
mod logic;
mod operator;
mod properties;

use std::borrow::Cow;
use std::sync::Arc;

pub use arithmetic::{DecimalOperation, FloatOperator, IntegerOperation};
pub use cast::{CastPlan, DecimalRescale, ShortCut};
pub use comparison::ComparisonExpression;
pub(in crate::plan) use display::ShownExpression;
pub use function::ScalarFunction;
pub use like::LikePattern;
pub use operator::Operator;

use super::{Environment, EvaluationError, PlanScalar, Row, VALUE_BYTES_MAX, ValueKind};
use quire_tables::row_table::{TupleValue, Value};

/// One operation and what it is applied to.
///
/// Operators are NULL when a side is, unless it says otherwise. Operands have the kinds that the operator names; those of a
/// comparison, the results of `Case` and the parts of `Coalesce` and `In` have one kind, decimals also one scale.
#[derive(Debug, Clone)]
pub enum Expression {
    /// A value, never NULL.
    Constant(Value),
    /// NULL of this kind.
    Null(ValueKind),
    /// The value in a place of the row.
    Column {
        /// The place, from 0.
        slot: usize,
        /// How the value is held.
        kind: ValueKind,
        /// Whether it may be NULL.
        nullable: bool,
    },
    /// A value that the execution gives.
    Parameter {
        /// Number of the parameter, from 0.
        number: usize,
        /// How the value is held.
        kind: ValueKind,
    },
    /// The time of the statement in microseconds since 1970.
    Now,
    /// Two values beside one another.
    Compare(ComparisonExpression, Box<[Expression; 2]>),
    /// False if a side is, even if the other is NULL. The right side is not evaluated when the left is false.
    And(Box<[Expression; 2]>),
    /// True if a side is, even if the other is NULL. The right side is not evaluated when the left is true.
    Or(Box<[Expression; 2]>),
    /// `NOT`
    Not(Box<Expression>),
    /// `IS NULL`, or else `IS NOT NULL`.
    IsNull(Box<Expression>, bool),
    /// Whether the condition is (or else is not: the second flag) true or false (the first): never NULL.
    Is(Box<Expression>, bool, bool),
    /// Whether a value is one of these, or else (`true`) none of them: NULL when a NULL among them leaves it open.
    In(Box<Expression>, Vec<Expression>, bool),
    /// `LIKE`, or else (`true`) `NOT LIKE`.
    Like(Box<Expression>, Box<LikePattern>, bool),
    /// Conditions with results, and what else; without it, NULL. Only the result of the first true condition is evaluated.
    Case(Vec<(Expression, Expression)>, Option<Box<Expression>>),
    /// The first of these that is not NULL; those behind it are not evaluated.
    Coalesce(Vec<Expression>),
    /// `||` of two texts.
    Concatenate(Box<[Expression; 2]>),
    /// Arithmetic on integers.
    Integer(IntegerOperation, Box<[Expression; 2]>),
    /// Arithmetic on doubles.
    Double(FloatOperator, Box<[Expression; 2]>),
    /// Arithmetic on reals.
    Real(FloatOperator, Box<[Expression; 2]>),
    /// Arithmetic on decimals.
    Decimal(DecimalOperation, Box<[Expression; 2]>),
    /// A decimal that is checked to have at most 38 digits.
    Digits(Box<Expression>),
    /// Minus a decimal or a float.
    Negate(Box<Expression>),
    /// A value as one of another type.
    Cast(Box<CastPlan>, Box<Expression>),
    /// A function of the room above. It sees NULLs.
    Call(Arc<dyn ScalarFunction>, Vec<Expression>),
}

impl Expression {
    /// A constant that may be NULL, of that kind.
    #[must_use]
    pub fn constant(value: Value, kind: ValueKind) -> Self {
        match value {
            Value::Null => Self::Null(kind),
            value => Self::Constant(value),
        }
    }

    /// The value for a row.
    ///
    /// # Errors
    /// Overflow, division by zero, a value that cannot be cast: the first of those that are met.
    pub fn evaluate<'a>(
        &'a self,
        row: Row<'a>,
        environment: &Environment<'a>,
    ) -> Result<PlanScalar<'a>, EvaluationError> {
        let of = |node: &'a Self| node.evaluate(row, environment);
        Ok(match self {
            Self::Constant(value) => value.as_tuple_value().into(),
            Self::Null(_) => PlanScalar::Null,
            Self::Column { slot, .. } => row.get(*slot).copied().unwrap_or(TupleValue::Null).into(),
            Self::Parameter { number, .. } => {
                environment.parameter(*number)?.as_tuple_value().into()
            }
            Self::Now => PlanScalar::Integer(environment.now()),
            Self::Compare(comparison, sides) => {
                let (left, right) = (of(&sides[0])?, of(&sides[1])?);
                comparison.compare(&left, &right)
            }
            Self::And(_)
            | Self::Or(_)
            | Self::Not(_)
            | Self::IsNull(..)
            | Self::Is(..)
            | Self::In(..)
            | Self::Like(..) => return self.condition(of),
            Self::Case(branches, otherwise) => {
                for (condition, result) in branches {
                    if of(condition)? == PlanScalar::Boolean(true) {
                        return of(result);
                    }
                }
                return otherwise.as_deref().map_or(Ok(PlanScalar::Null), of);
            }
            Self::Coalesce(parts) => {
                for part in parts {
                    let value = of(part)?;
                    if !value.is_null() {
                        return Ok(value);
                    }
                }
                PlanScalar::Null
            }
            Self::Digits(inner) => return arithmetic::checked_digits(of(inner)?),
            Self::Cast(plan, inner) => return plan.apply(of(inner)?),
            Self::Call(function, arguments) => return call(&**function, arguments, of),
            Self::Negate(inner) => arithmetic::negated(of(inner)?),
            Self::Concatenate(sides)
            | Self::Integer(_, sides)
            | Self::Double(_, sides)
            | Self::Real(_, sides)
            | Self::Decimal(_, sides) => {
                let (left, right) = (of(&sides[0])?, of(&sides[1])?);
                return self.combine(left, right);
            }
        })
    }

    /// An operator that is NULL when a side is.
    fn combine<'a>(
        &self,
        left: PlanScalar<'a>,
        right: PlanScalar<'a>,
    ) -> Result<PlanScalar<'a>, EvaluationError> {
        Ok(match (self, left, right) {
            (
                Self::Integer(operation, _),
                PlanScalar::Integer(left),
                PlanScalar::Integer(right),
            ) => PlanScalar::Integer(operation.apply(left, right)?),
            (Self::Double(operator, _), PlanScalar::Double(left), PlanScalar::Double(right)) => {
                PlanScalar::Double(operator.apply(left, right)?)
            }
            (Self::Real(operator, _), PlanScalar::Real(left), PlanScalar::Real(right)) => {
                PlanScalar::Real(operator.apply(left, right)?)
            }
            (
                Self::Decimal(operation, _),
                PlanScalar::Decimal(left),
                PlanScalar::Decimal(right),
            ) => PlanScalar::Decimal(operation.apply(left, right)?),
            (Self::Concatenate(_), PlanScalar::Bytes(left), PlanScalar::Bytes(right)) => {
                if left.len().saturating_add(right.len()) > VALUE_BYTES_MAX {
                    return Err(EvaluationError::TooLarge);
                }
                PlanScalar::Bytes(Cow::Owned([&*left, &*right].concat()))
            }
            _ => PlanScalar::Null,
        })
    }
}

/// Calls a function; most have so few arguments that they need no vector.
fn call<'a>(
    function: &dyn ScalarFunction,
    arguments: &'a [Expression],
    of: impl Fn(&'a Expression) -> Result<PlanScalar<'a>, EvaluationError>,
) -> Result<PlanScalar<'a>, EvaluationError> {
    match arguments {
        [] => function.call(&[]),
        [one] => function.call(&[of(one)?]),
        [first, second] => function.call(&[of(first)?, of(second)?]),
        [first, second, third] => function.call(&[of(first)?, of(second)?, of(third)?]),
        more => {
            let values = more.iter().map(of).collect::<Result<Vec<_>, _>>()?;
            function.call(&values)
        }
    }
}
