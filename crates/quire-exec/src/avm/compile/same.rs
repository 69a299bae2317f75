//! Whether two expressions have the same value for every row.

use std::sync::Arc;

use quire_tables::row_table::Value;

use crate::plan::{CastPlan, Expression};

/// Whether they are built alike. Two that are not may have the same values all the same.
pub(super) fn is_same(left: &Expression, right: &Expression) -> bool {
    use Expression as E;
    match (left, right) {
        (E::Constant(left), E::Constant(right)) => is_same_constant(left, right),
        (E::Null(left), E::Null(right)) => left == right,
        (E::Column { slot: left, .. }, E::Column { slot: right, .. }) => left == right,
        (E::Parameter { number: left, .. }, E::Parameter { number: right, .. }) => left == right,
        (E::Now, E::Now) => true,
        (E::Compare(left, l), E::Compare(right, r)) => left == right && all(&**l, &**r),
        (E::And(l), E::And(r)) | (E::Or(l), E::Or(r)) | (E::Concatenate(l), E::Concatenate(r)) => {
            all(&**l, &**r)
        }
        (E::Not(left), E::Not(right))
        | (E::Digits(left), E::Digits(right))
        | (E::Negate(left), E::Negate(right)) => is_same(left, right),
        (E::IsNull(left, l), E::IsNull(right, r)) => l == r && is_same(left, right),
        (E::Is(left, l, m), E::Is(right, r, s)) => (l, m) == (r, s) && is_same(left, right),
        (E::In(left, l, m), E::In(right, r, s)) => m == s && is_same(left, right) && all(l, r),
        (E::Like(left, l, m), E::Like(right, r, s)) => m == s && l == r && is_same(left, right),
        (E::Coalesce(left), E::Coalesce(right)) => all(left, right),
        (E::Integer(left, l), E::Integer(right, r)) => left == right && all(&**l, &**r),
        (E::Double(left, l), E::Double(right, r)) | (E::Real(left, l), E::Real(right, r)) => {
            left == right && all(&**l, &**r)
        }
        (E::Decimal(left, l), E::Decimal(right, r)) => left == right && all(&**l, &**r),
        (E::Cast(left, l), E::Cast(right, r)) => is_same_cast(left, right) && is_same(l, r),
        (E::Call(left, l), E::Call(right, r)) => Arc::ptr_eq(left, right) && all(l, r),
        (E::Case(left, l), E::Case(right, r)) => {
            let rest = match (l, r) {
                (Some(left), Some(right)) => is_same(left, right),
                (None, None) => true,
                _ => false,
            };
            rest && left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|((when, then), (other_when, other_then))| {
                        is_same(when, other_when) && is_same(then, other_then)
                    })
        }
        _ => false,
    }
}

fn all(left: &[Expression], right: &[Expression]) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .all(|(left, right)| is_same(left, right))
}

/// Whether two constants are the same to the last bit: 0.0 is not -0.0.
pub(super) fn is_same_constant(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Double(left), Value::Double(right)) => left.to_bits() == right.to_bits(),
        (Value::Real(left), Value::Real(right)) => left.to_bits() == right.to_bits(),
        _ => left == right,
    }
}

/// The function knows the types; short cuts that are the same may be between different ones.
fn is_same_cast(left: &CastPlan, right: &CastPlan) -> bool {
    left.short_cut() == right.short_cut() && Arc::ptr_eq(left.otherwise(), right.otherwise())
}
