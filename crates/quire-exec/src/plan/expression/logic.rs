//! Conditions, which are true, false or NULL.

use super::Expression;
use crate::plan::{EvaluationError, PlanScalar};

impl Expression {
    /// A condition; `of` evaluates a part. Sides and items behind the one that decides are not evaluated.
    pub(super) fn condition<'a>(
        &'a self,
        of: impl Fn(&'a Expression) -> Result<PlanScalar<'a>, EvaluationError>,
    ) -> Result<PlanScalar<'a>, EvaluationError> {
        Ok(match self {
            Self::And(sides) => match of(&sides[0])? {
                PlanScalar::Boolean(false) => PlanScalar::Boolean(false),
                left => and(&left, &of(&sides[1])?),
            },
            Self::Or(sides) => match of(&sides[0])? {
                PlanScalar::Boolean(true) => PlanScalar::Boolean(true),
                left => or(&left, &of(&sides[1])?),
            },
            Self::Not(inner) => match of(inner)? {
                PlanScalar::Boolean(value) => PlanScalar::Boolean(!value),
                _ => PlanScalar::Null,
            },
            Self::IsNull(inner, wanted) => PlanScalar::Boolean(of(inner)?.is_null() == *wanted),
            Self::Is(inner, value, wanted) => {
                PlanScalar::Boolean((of(inner)? == PlanScalar::Boolean(*value)) == *wanted)
            }
            Self::In(tested, list, is_negated) => {
                return is_in(&of(tested)?, list, *is_negated, of);
            }
            Self::Like(tested, pattern, is_negated) => match of(tested)? {
                PlanScalar::Bytes(text) => {
                    PlanScalar::Boolean(pattern.matches(&text) != *is_negated)
                }
                _ => PlanScalar::Null,
            },
            _ => PlanScalar::Null,
        })
    }
}

fn and<'a>(left: &PlanScalar<'_>, right: &PlanScalar<'_>) -> PlanScalar<'a> {
    match (left, right) {
        (_, PlanScalar::Boolean(false)) => PlanScalar::Boolean(false),
        (PlanScalar::Boolean(true), PlanScalar::Boolean(true)) => PlanScalar::Boolean(true),
        _ => PlanScalar::Null,
    }
}

fn or<'a>(left: &PlanScalar<'_>, right: &PlanScalar<'_>) -> PlanScalar<'a> {
    match (left, right) {
        (_, PlanScalar::Boolean(true)) => PlanScalar::Boolean(true),
        (PlanScalar::Boolean(false), PlanScalar::Boolean(false)) => PlanScalar::Boolean(false),
        _ => PlanScalar::Null,
    }
}

fn is_in<'a>(
    tested: &PlanScalar<'a>,
    list: &'a [Expression],
    is_negated: bool,
    of: impl Fn(&'a Expression) -> Result<PlanScalar<'a>, EvaluationError>,
) -> Result<PlanScalar<'a>, EvaluationError> {
    if tested.is_null() {
        return Ok(PlanScalar::Null);
    }
    let mut has_null = false;
    for item in list {
        let item = of(item)?;
        if item.is_null() {
            has_null = true;
        } else if tested.compare(&item).is_eq() {
            return Ok(PlanScalar::Boolean(!is_negated));
        }
    }
    Ok(if has_null {
        PlanScalar::Null
    } else {
        PlanScalar::Boolean(is_negated)
    })
}
