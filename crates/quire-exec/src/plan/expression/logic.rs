//! Conditions, which are true, false or NULL.

use super::Expression;
use crate::plan::{EvaluationError, Scalar};

impl Expression {
    /// A condition; `of` evaluates a part. Sides and items behind the one that decides are not evaluated.
    pub(super) fn condition<'a>(
        &'a self,
        of: impl Fn(&'a Expression) -> Result<Scalar<'a>, EvaluationError>,
    ) -> Result<Scalar<'a>, EvaluationError> {
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
    list: &'a [Expression],
    is_negated: bool,
    of: impl Fn(&'a Expression) -> Result<Scalar<'a>, EvaluationError>,
) -> Result<Scalar<'a>, EvaluationError> {
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
