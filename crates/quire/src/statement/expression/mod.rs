//! Compiled expressions: a tree that is walked once per row, without batches and without allocation but for text it makes.
//!
//! Types are settled when the tree is built (see [`translate`]); a node computes with values of the types it was built for.

mod arithmetic;
mod cast;
mod function;
mod like;
mod translate;

use std::borrow::Cow;
use std::cell::Cell;
use std::time::{SystemTime, UNIX_EPOCH};

use quire_engine::row_table::{TupleValue, Value};

pub(super) use arithmetic::{DecimalOperation, FloatOperator, IntegerOperation};
pub(super) use cast::CastPlan;
pub(super) use function::FunctionCall;
pub(super) use like::LikePattern;
pub(super) use translate::{Slots, Translator, parameter_number};

use super::scalar::Scalar;
use crate::error::Error;

/// One operation and what it is applied to.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Constant(Value),
    /// The value in this place of the row.
    Column(usize),
    /// The parameter with this number, from 0.
    Parameter(usize),
    /// The time of the statement in nanoseconds.
    Now,
    Compare(Comparison, Box<[Node; 2]>),
    /// All, or any, of these.
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    Not(Box<Node>),
    /// `IS NULL`, or else `IS NOT NULL`.
    IsNull(Box<Node>, bool),
    /// `IS TRUE` or `IS FALSE`, or else their opposites.
    Is(Box<Node>, bool, bool),
    In(Box<Node>, Vec<Node>, bool),
    Like(Box<Node>, Box<LikePattern>, bool),
    /// Conditions with results, and what else.
    Case(Vec<(Node, Node)>, Option<Box<Node>>),
    Coalesce(Vec<Node>),
    Concatenate(Box<[Node; 2]>),
    Integer(IntegerOperation, Box<[Node; 2]>),
    Double(FloatOperator, Box<[Node; 2]>),
    Real(FloatOperator, Box<[Node; 2]>),
    Decimal(DecimalOperation, Box<[Node; 2]>),
    /// A decimal that is checked to have at most 38 digits.
    Digits(Box<Node>),
    Negate(Box<Node>),
    Cast(Box<CastPlan>, Box<Node>),
    Function(Box<FunctionCall>),
}

/// A comparison of two values of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// NULL is like any other value.
    Distinct,
    NotDistinct,
}

impl Comparison {
    /// The comparison with its sides exchanged.
    pub(super) fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            other => other,
        }
    }

    #[inline]
    fn compare<'a>(self, left: &Scalar<'_>, right: &Scalar<'_>) -> Scalar<'a> {
        if left.is_null() || right.is_null() {
            let is_equal = left.is_null() && right.is_null();
            return match self {
                Self::Distinct => Scalar::Boolean(!is_equal),
                Self::NotDistinct => Scalar::Boolean(is_equal),
                _ => Scalar::Null,
            };
        }
        let order = left.compare(right);
        Scalar::Boolean(match self {
            Self::Equal | Self::NotDistinct => order.is_eq(),
            Self::NotEqual | Self::Distinct => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        })
    }
}

/// What is the same for all rows of one execution.
#[derive(Debug)]
pub(super) struct Environment<'a> {
    pub(super) parameters: &'a [Value],
    now: Cell<Option<i64>>,
}

impl<'a> Environment<'a> {
    pub(super) fn new(parameters: &'a [Value]) -> Self {
        Self {
            parameters,
            now: Cell::new(None),
        }
    }

    /// The time at which the statement asked first.
    fn now(&self) -> i64 {
        self.now.get().unwrap_or_else(|| {
            let since = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            let now = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
            self.now.set(Some(now));
            now
        })
    }
}

/// A row: values by the places that [`Slots`] gave their columns.
pub(super) type Row<'a> = &'a [TupleValue<'a>];

impl Node {
    /// The value for a row.
    ///
    /// # Errors
    /// Overflow, division by zero, a value that cannot be cast: those that the general path reports.
    pub(super) fn evaluate<'a>(
        &'a self,
        row: Row<'a>,
        environment: &Environment<'a>,
    ) -> Result<Scalar<'a>, Error> {
        let of = |node: &'a Node| node.evaluate(row, environment);
        Ok(match self {
            Self::Constant(value) => value.as_tuple_value().into(),
            Self::Column(slot) => row.get(*slot).copied().unwrap_or(TupleValue::Null).into(),
            Self::Parameter(number) => match environment.parameters.get(*number) {
                Some(value) => value.as_tuple_value().into(),
                None => return Err(missing_parameter(*number)),
            },
            Self::Now => Scalar::Integer(environment.now()),
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
                    if of(condition)? == Scalar::Boolean(true) {
                        return of(result);
                    }
                }
                return otherwise.as_deref().map_or(Ok(Scalar::Null), of);
            }
            Self::Coalesce(parts) => {
                for part in parts {
                    let value = of(part)?;
                    if !value.is_null() {
                        return Ok(value);
                    }
                }
                Scalar::Null
            }
            Self::Digits(inner) => return arithmetic::checked_digits(of(inner)?),
            Self::Cast(plan, inner) => return plan.apply(of(inner)?),
            Self::Function(call) => return call.evaluate(row, environment),
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

    /// A condition of three values; `of` evaluates a part.
    fn condition<'a>(
        &'a self,
        of: impl Fn(&'a Node) -> Result<Scalar<'a>, Error>,
    ) -> Result<Scalar<'a>, Error> {
        Ok(match self {
            Self::And(sides) => match of(&sides[0])? {
                Scalar::Boolean(false) => Scalar::Boolean(false),
                left => and(&left, &of(&sides[1])?),
            },
            Self::Or(sides) => match of(&sides[0])? {
                Scalar::Boolean(true) => Scalar::Boolean(true),
                left => or(&left, &of(&sides[1])?),
            },
            Self::Not(inner) => match of(inner)? {
                Scalar::Boolean(value) => Scalar::Boolean(!value),
                _ => Scalar::Null,
            },
            Self::IsNull(inner, wanted) => Scalar::Boolean(of(inner)?.is_null() == *wanted),
            Self::Is(inner, value, wanted) => {
                Scalar::Boolean((of(inner)? == Scalar::Boolean(*value)) == *wanted)
            }
            Self::In(tested, list, is_negated) => {
                return is_in(&of(tested)?, list, *is_negated, of);
            }
            Self::Like(tested, pattern, is_negated) => match of(tested)? {
                Scalar::Bytes(text) => Scalar::Boolean(pattern.matches(&text) != *is_negated),
                _ => Scalar::Null,
            },
            _ => Scalar::Null,
        })
    }

    /// An operator that is NULL when a side is.
    fn combine<'a>(&self, left: Scalar<'a>, right: Scalar<'a>) -> Result<Scalar<'a>, Error> {
        Ok(match (self, left, right) {
            (Self::Integer(operation, _), Scalar::Integer(left), Scalar::Integer(right)) => {
                Scalar::Integer(operation.apply(left, right)?)
            }
            (Self::Double(operator, _), Scalar::Double(left), Scalar::Double(right)) => {
                Scalar::Double(operator.apply(left, right)?)
            }
            (Self::Real(operator, _), Scalar::Real(left), Scalar::Real(right)) => {
                Scalar::Real(operator.apply(left, right)?)
            }
            (Self::Decimal(operation, _), Scalar::Decimal(left), Scalar::Decimal(right)) => {
                Scalar::Decimal(operation.apply(left, right)?)
            }
            (Self::Concatenate(_), Scalar::Bytes(left), Scalar::Bytes(right)) => {
                Scalar::Bytes(Cow::Owned([&*left, &*right].concat()))
            }
            _ => Scalar::Null,
        })
    }

    /// Whether the value is the same for every row and every execution.
    pub(super) fn is_constant(&self) -> bool {
        matches!(self, Self::Constant(_))
    }

    /// Whether the value is the same for every row.
    pub(super) fn is_fixed(&self) -> bool {
        match self {
            Self::Column(_) => false,
            Self::Constant(_) | Self::Parameter(_) | Self::Now => true,
            other => other.children().all(Self::is_fixed),
        }
    }

    /// Whether there may be rows for which there is an error instead of a value.
    pub(super) fn can_fail(&self) -> bool {
        let fails = match self {
            Self::Integer(..)
            | Self::Decimal(..)
            | Self::Digits(_)
            | Self::Cast(..)
            | Self::Function(_) => true,
            Self::Double(operator, _) | Self::Real(operator, _) => operator.can_fail(),
            _ => false,
        };
        fails || self.children().any(Self::can_fail)
    }

    /// What the node is applied to.
    fn children(&self) -> Box<dyn Iterator<Item = &Node> + '_> {
        match self {
            Self::Constant(_) | Self::Column(_) | Self::Parameter(_) | Self::Now => {
                Box::new(std::iter::empty())
            }
            Self::Compare(_, sides)
            | Self::And(sides)
            | Self::Or(sides)
            | Self::Concatenate(sides)
            | Self::Integer(_, sides)
            | Self::Double(_, sides)
            | Self::Real(_, sides)
            | Self::Decimal(_, sides) => Box::new(sides.iter()),
            Self::Not(inner)
            | Self::IsNull(inner, _)
            | Self::Is(inner, ..)
            | Self::Digits(inner)
            | Self::Negate(inner)
            | Self::Like(inner, ..)
            | Self::Cast(_, inner) => Box::new(std::iter::once(&**inner)),
            Self::In(tested, list, _) => Box::new(std::iter::once(&**tested).chain(list)),
            Self::Case(branches, otherwise) => {
                let pairs = branches.iter().flat_map(|(when, then)| [when, then]);
                Box::new(pairs.chain(otherwise.as_deref()))
            }
            Self::Coalesce(parts) => Box::new(parts.iter()),
            Self::Function(call) => Box::new(call.arguments()),
        }
    }
}

fn missing_parameter(number: usize) -> Error {
    Error::new(
        "08P01",
        format!("there is no value for parameter ${}", number + 1),
    )
}

fn and<'a>(left: &Scalar<'_>, right: &Scalar<'_>) -> Scalar<'a> {
    match (left, right) {
        (_, Scalar::Boolean(false)) => Scalar::Boolean(false),
        (Scalar::Boolean(true), Scalar::Boolean(true)) => Scalar::Boolean(true),
        _ => Scalar::Null,
    }
}

fn or<'a>(left: &Scalar<'_>, right: &Scalar<'_>) -> Scalar<'a> {
    match (left, right) {
        (_, Scalar::Boolean(true)) => Scalar::Boolean(true),
        (Scalar::Boolean(false), Scalar::Boolean(false)) => Scalar::Boolean(false),
        _ => Scalar::Null,
    }
}

fn is_in<'a>(
    tested: &Scalar<'a>,
    list: &'a [Node],
    is_negated: bool,
    of: impl Fn(&'a Node) -> Result<Scalar<'a>, Error>,
) -> Result<Scalar<'a>, Error> {
    if tested.is_null() {
        return Ok(Scalar::Null);
    }
    let mut has_null = false;
    for item in list {
        let item = of(item)?;
        if item.is_null() {
            has_null = true;
        } else if tested.compare(&item).is_eq() {
            return Ok(Scalar::Boolean(!is_negated));
        }
    }
    Ok(if has_null {
        Scalar::Null
    } else {
        Scalar::Boolean(is_negated)
    })
}
