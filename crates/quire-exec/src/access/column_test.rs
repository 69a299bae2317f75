//! Conditions on one column, before and after the values are known that it is compared with.

use std::ops::Bound;

use quire_codec::PhysicalType;
use quire_tables::SqlType;
use quire_tables::row_table::Value;

use super::value_set::{ValueInterval, ValueSet};
use crate::plan::{ComparisonExpression, Environment, Expression, PlanScalar};

/// What a condition says of a column.
#[derive(Clone, Debug)]
pub(super) enum ColumnTest<'e> {
    Compare(ComparisonExpression, &'e Expression),
    In(&'e [Expression]),
    /// Whether it is NULL, or else is not.
    IsNull(bool),
    /// It begins with these bytes.
    Prefix(&'e [u8]),
    Either(Box<[Self; 2]>),
    Both(Box<[Self; 2]>),
}

/// A test, and whether it is all that the condition says.
pub(super) struct Reading<'e> {
    pub(super) test: ColumnTest<'e>,
    pub(super) is_exact: bool,
}

/// Strings that are longer are no keys.
pub(super) const KEY_TEXT_BYTES: usize = 4096;

impl<'e> Reading<'e> {
    /// What a condition says of the column in a slot: nothing, or no less than is true of its rows.
    pub(super) fn of(condition: &'e Expression, slot: usize) -> Option<Self> {
        let is_column = |side: &Expression| plain_column(side) == Some(slot);
        match condition {
            Expression::Compare(comparison, sides) => {
                let [left, right] = sides.as_ref();
                let (comparison, fixed) = match (is_column(left), is_column(right)) {
                    (true, _) if right.is_fixed() => (*comparison, right),
                    (_, true) if left.is_fixed() => (comparison.mirrored(), left),
                    _ => return None,
                };
                let is_range = !matches!(
                    comparison,
                    ComparisonExpression::NotEqual | ComparisonExpression::Distinct
                );
                is_range.then_some(Self::exact(ColumnTest::Compare(comparison, fixed)))
            }
            Expression::In(tested, list, false)
                if is_column(tested) && list.iter().all(Expression::is_fixed) =>
            {
                Some(Self::exact(ColumnTest::In(list)))
            }
            Expression::IsNull(tested, wanted) if is_column(tested) => {
                Some(Self::exact(ColumnTest::IsNull(*wanted)))
            }
            Expression::Like(tested, pattern, false) if is_column(tested) => Some(Self {
                test: ColumnTest::Prefix(pattern.prefix()?),
                is_exact: false,
            }),
            Expression::Or(sides) => {
                let [left, right] = sides.as_ref();
                let (left, right) = (Self::of(left, slot)?, Self::of(right, slot)?);
                Some(Self {
                    test: ColumnTest::Either(Box::new([left.test, right.test])),
                    is_exact: left.is_exact && right.is_exact,
                })
            }
            Expression::And(sides) => {
                let [left, right] = sides.as_ref();
                match (Self::of(left, slot), Self::of(right, slot)) {
                    (Some(left), Some(right)) => Some(Self {
                        test: ColumnTest::Both(Box::new([left.test, right.test])),
                        is_exact: left.is_exact && right.is_exact,
                    }),
                    (found, other) => found.or(other).map(|one| Self {
                        is_exact: false,
                        ..one
                    }),
                }
            }
            _ => None,
        }
    }

    fn exact(test: ColumnTest<'e>) -> Self {
        Self {
            test,
            is_exact: true,
        }
    }
}

/// The slot of a column, also if it is cast to a type in which its values are the same.
pub(crate) fn plain_column(expression: &Expression) -> Option<usize> {
    match expression {
        Expression::Column { slot, .. } => Some(*slot),
        Expression::Cast(plan, inner) if plan.keeps_decimals() => plain_column(inner),
        _ => None,
    }
}

impl ColumnTest<'_> {
    /// The values for which it is true; `None` when that cannot be told beforehand: what the column is compared with has an error
    /// instead of a value, which only a row may report.
    pub(super) fn values(
        &self,
        sql_type: SqlType,
        environment: &Environment<'_>,
    ) -> Option<ValueSet> {
        let place = |expression: &Expression| {
            let scalar = expression.evaluate(&[], environment).ok()?;
            Place::of(scalar, sql_type)
        };
        Some(match self {
            Self::Compare(comparison, fixed) => compared(*comparison, place(fixed)?),
            Self::In(list) => {
                let mut points = Vec::with_capacity(list.len());
                for item in *list {
                    if let Place::At(value) = place(item)? {
                        points.push(ValueInterval::point(value));
                    }
                }
                ValueSet::of(points, false)
            }
            Self::IsNull(true) => ValueSet::of(Vec::new(), true),
            Self::IsNull(false) => ValueSet::of(vec![ValueInterval::ALL], false),
            Self::Prefix(prefix) => beginning_with(prefix),
            Self::Either(tests) => {
                let [left, right] = tests.as_ref();
                let left = left.values(sql_type, environment)?;
                left.or(right.values(sql_type, environment)?)
            }
            Self::Both(tests) => {
                let [left, right] = tests.as_ref();
                let left = left.values(sql_type, environment)?;
                left.and(&right.values(sql_type, environment)?)
            }
        })
    }
}

/// Where a value is among those that a column can have.
enum Place {
    At(Value),
    /// Less than all.
    Below,
    /// Greater than all.
    Above,
    Null,
}

impl Place {
    fn of(scalar: PlanScalar<'_>, sql_type: SqlType) -> Option<Self> {
        let order = match &scalar {
            PlanScalar::Integer(value) => {
                let (least, greatest) = integer_bounds(sql_type)?;
                (*value < least, *value > greatest)
            }
            PlanScalar::Decimal(value) => {
                let limit = decimal_limit(sql_type)?;
                (*value <= -limit, *value >= limit)
            }
            PlanScalar::Bytes(bytes) if bytes.len() > KEY_TEXT_BYTES => return None,
            _ => (false, false),
        };
        match order {
            (true, _) => return Some(Self::Below),
            (_, true) => return Some(Self::Above),
            _ => {}
        }
        // Strings of text are bytes here, too: only their order counts.
        Some(match scalar.into_value(false).ok()? {
            Value::Null => Self::Null,
            value => Self::At(value),
        })
    }
}

pub(super) fn integer_bounds(sql_type: SqlType) -> Option<(i64, i64)> {
    match sql_type.physical_type() {
        PhysicalType::Int16 => Some((i16::MIN.into(), i16::MAX.into())),
        PhysicalType::Int32 => Some((i32::MIN.into(), i32::MAX.into())),
        PhysicalType::Int64 => Some((i64::MIN, i64::MAX)),
        _ => None,
    }
}

pub(super) fn decimal_limit(sql_type: SqlType) -> Option<i128> {
    match sql_type {
        SqlType::Decimal { precision, .. } => 10_i128.checked_pow(precision.into()),
        _ => None,
    }
}

fn compared(comparison: ComparisonExpression, place: Place) -> ValueSet {
    use ComparisonExpression as C;
    let nothing = ValueSet::default;
    let all = || ValueSet::of(vec![ValueInterval::ALL], false);
    let between = |low, high| ValueSet::of(vec![ValueInterval { low, high }], false);
    match (comparison, place) {
        (C::NotDistinct, Place::Null) => ValueSet::of(Vec::new(), true),
        (_, Place::Null) => nothing(),
        (C::Equal | C::NotDistinct, Place::At(value)) => {
            ValueSet::of(vec![ValueInterval::point(value)], false)
        }
        (C::Less, Place::At(value)) => between(Bound::Unbounded, Bound::Excluded(value)),
        (C::LessOrEqual, Place::At(value)) => between(Bound::Unbounded, Bound::Included(value)),
        (C::Greater, Place::At(value)) => between(Bound::Excluded(value), Bound::Unbounded),
        (C::GreaterOrEqual, Place::At(value)) => between(Bound::Included(value), Bound::Unbounded),
        (C::Less | C::LessOrEqual, Place::Above) => all(),
        (C::Greater | C::GreaterOrEqual, Place::Below) => all(),
        (C::NotEqual | C::Distinct, _) => ValueSet::everything(),
        (_, Place::Below | Place::Above) => nothing(),
    }
}

/// Strings with these bytes in front.
fn beginning_with(prefix: &[u8]) -> ValueSet {
    let prefix = &prefix[..prefix.len().min(KEY_TEXT_BYTES)];
    let mut behind = prefix.to_vec();
    let high = if quire_format::key::successor(&mut behind) {
        Bound::Excluded(Value::Bytes(behind.into()))
    } else {
        Bound::Unbounded
    };
    let low = Bound::Included(Value::Bytes(prefix.into()));
    ValueSet::of(vec![ValueInterval { low, high }], false)
}
