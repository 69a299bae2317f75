//! Sets of values against lists of those that are in them; ranges against rows are tested by random plans.
#![allow(clippy::unwrap_used)]

use std::ops::{Bound, RangeBounds};

use proptest::prelude::*;
use quire_tables::SqlType;
use quire_tables::row_table::Value;

use super::column_test::{ColumnTest, Reading};
use super::value_set::{ValueInterval, ValueSet};
use crate::plan::{
    ComparisonExpression, Environment, Expression, LikePattern, PlanScalar, ValueKind,
};

fn bound() -> impl Strategy<Value = Bound<Value>> {
    (0..3, -4_i64..5).prop_map(|(kind, value)| match kind {
        0 => Bound::Unbounded,
        1 => Bound::Included(Value::Integer(value)),
        _ => Bound::Excluded(Value::Integer(value)),
    })
}

fn set() -> impl Strategy<Value = (Vec<ValueInterval>, bool)> {
    let interval = (bound(), bound()).prop_map(|(low, high)| ValueInterval { low, high });
    (prop::collection::vec(interval, 0..5), any::<bool>())
}

fn is_between(interval: &ValueInterval, value: &Value) -> bool {
    (interval.low.clone(), interval.high.clone()).contains(value)
}

fn has(intervals: &[ValueInterval], value: i64) -> bool {
    let value = Value::Integer(value);
    intervals
        .iter()
        .any(|interval| is_between(interval, &value))
}

proptest! {
    #[test]
    fn sets_have_what_their_parts_have((one, one_null) in set(), (two, two_null) in set()) {
        let (left, right) = (ValueSet::of(one.clone(), one_null), ValueSet::of(two.clone(), two_null));
        let (both, either) = (left.and(&right), left.clone().or(right.clone()));
        for value in -6..7 {
            prop_assert_eq!(has(&left.intervals, value), has(&one, value));
            prop_assert_eq!(has(&both.intervals, value), has(&one, value) && has(&two, value));
            prop_assert_eq!(has(&either.intervals, value), has(&one, value) || has(&two, value));
        }
        prop_assert_eq!(both.has_null, one_null && two_null);
        prop_assert_eq!(either.has_null, one_null || two_null);
        // In order, and one where two would meet.
        for set in [&left, &both, &either] {
            for pair in set.intervals.windows(2) {
                prop_assert_eq!(ValueSet::of(pair.to_vec(), false).intervals.len(), 2);
                prop_assert_eq!(&ValueSet::of(vec![pair[1].clone(), pair[0].clone()], false).intervals, pair);
            }
        }
    }
}

fn column() -> Expression {
    Expression::Column {
        slot: 0,
        kind: ValueKind::Integer,
        nullable: true,
    }
}

fn other() -> Expression {
    Expression::Column {
        slot: 1,
        kind: ValueKind::Integer,
        nullable: true,
    }
}

fn integer(value: i64) -> Expression {
    Expression::Constant(Value::Integer(value))
}

fn compare(comparison: ComparisonExpression, left: Expression, right: Expression) -> Expression {
    Expression::Compare(comparison, Box::new([left, right]))
}

fn both(left: Expression, right: Expression) -> Expression {
    Expression::And(Box::new([left, right]))
}

fn either(left: Expression, right: Expression) -> Expression {
    Expression::Or(Box::new([left, right]))
}

/// Conditions on the first column; parameters are 2 and NULL.
fn conditions() -> Vec<Expression> {
    use ComparisonExpression as C;
    let parameter = |number| Expression::Parameter {
        number,
        kind: ValueKind::Integer,
    };
    let is_null = |wanted| Expression::IsNull(Box::new(column()), wanted);
    let among = |items| Expression::In(Box::new(column()), items, false);
    let wide = 1 << 40;
    vec![
        compare(C::Equal, column(), parameter(0)),
        compare(C::Equal, column(), parameter(1)),
        compare(C::NotDistinct, column(), parameter(1)),
        compare(C::NotDistinct, integer(1), column()),
        compare(C::Less, integer(1), column()),
        compare(C::LessOrEqual, column(), integer(wide)),
        compare(C::Less, column(), integer(-wide)),
        compare(C::Greater, column(), integer(-wide)),
        compare(C::GreaterOrEqual, column(), integer(wide)),
        compare(C::Equal, column(), integer(wide)),
        among(vec![
            integer(3),
            parameter(0),
            integer(wide),
            parameter(1),
            integer(3),
        ]),
        is_null(true),
        is_null(false),
        both(
            compare(C::Greater, column(), integer(-2)),
            compare(C::LessOrEqual, column(), parameter(0)),
        ),
        either(
            compare(C::Less, column(), integer(-2)),
            either(is_null(true), compare(C::Equal, column(), integer(3))),
        ),
        either(
            both(
                compare(C::Less, column(), integer(-2)),
                compare(C::Equal, other(), integer(1)),
            ),
            compare(C::Equal, column(), integer(3)),
        ),
    ]
}

/// Rows of which a condition is true are in the set of its column; no others, if it says everything.
#[test]
fn a_condition_is_true_of_the_values_of_its_set() {
    let parameters = [Value::Integer(2), Value::Null];
    let environment = Environment::new(&parameters);
    for condition in &conditions() {
        let Reading { test, is_exact } = Reading::of(condition, 0).unwrap();
        let set = test.values(SqlType::Integer, &environment).unwrap();
        for value in (-5..6).map(Value::Integer).chain([Value::Null]) {
            let is_in = match &value {
                Value::Null => set.has_null,
                value => set
                    .intervals
                    .iter()
                    .any(|interval| is_between(interval, value)),
            };
            for second in [Value::Integer(1), Value::Integer(2)] {
                let row = [value.as_tuple_value(), second.as_tuple_value()];
                let is_true =
                    condition.evaluate(&row, &environment).unwrap() == PlanScalar::Boolean(true);
                assert!(is_in || !is_true, "{condition:?} is true of {value:?}");
                assert!(
                    is_true || !is_in || !is_exact,
                    "{condition:?} is not true of {value:?}"
                );
            }
        }
    }
}

#[test]
fn other_conditions_say_nothing_of_a_column() {
    use ComparisonExpression as C;
    let unread = [
        compare(C::NotEqual, column(), integer(1)),
        compare(C::Equal, column(), other()),
        Expression::Not(Box::new(compare(C::Equal, column(), integer(1)))),
        Expression::In(Box::new(column()), vec![integer(1)], true),
        either(
            compare(C::Equal, column(), integer(1)),
            compare(C::Equal, other(), integer(1)),
        ),
    ];
    for condition in &unread {
        assert!(Reading::of(condition, 0).is_none(), "{condition:?}");
    }
}

#[test]
fn a_pattern_is_a_range_of_what_it_begins_with() {
    let text = Expression::Column {
        slot: 0,
        kind: ValueKind::Bytes,
        nullable: true,
    };
    let environment = Environment::new(&[]);
    let set = |pattern: &str| {
        let pattern = Box::new(LikePattern::new(pattern));
        let condition = Expression::Like(Box::new(text.clone()), pattern, false);
        let Reading { test, is_exact } = Reading::of(&condition, 0)?;
        assert!(!is_exact);
        assert!(matches!(test, ColumnTest::Prefix(_)));
        test.values(SqlType::Text, &environment)
    };
    let found = set("ab%c_").unwrap();
    let [interval] = found.intervals.as_slice() else {
        panic!("{found:?}");
    };
    for (text, is_in) in [
        ("ab", true),
        ("abzz", true),
        ("aa", false),
        ("ac", false),
        ("a", false),
    ] {
        let value = Value::Bytes(text.as_bytes().into());
        assert_eq!(is_between(interval, &value), is_in, "{text}");
    }
    assert!(set("%b").is_none() && set("_b").is_none());
}
