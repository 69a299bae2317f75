//! Three-valued logic, against the tables of the SQL standard written out by hand.

use quire_exec::plan::{
    ComparisonExpression, Environment, Expression, LikePattern, PlanScalar, ValueKind,
};
use quire_tables::row_table::{TupleValue, Value};

const VALUES: [Option<bool>; 3] = [Some(true), Some(false), None];

fn condition(value: Option<bool>) -> Expression {
    match value {
        Some(value) => Expression::Constant(Value::Boolean(value)),
        None => Expression::Null(ValueKind::Boolean),
    }
}

fn value(expression: &Expression) -> Option<bool> {
    match expression.evaluate(&[], &Environment::new(&[])).unwrap() {
        PlanScalar::Boolean(value) => Some(value),
        PlanScalar::Null => None,
        other => panic!("{other:?} is no condition"),
    }
}

#[test]
fn and_and_or_know_unknown() {
    let table = [
        // left, right, AND, OR
        (0, 0, Some(true), Some(true)),
        (0, 1, Some(false), Some(true)),
        (0, 2, None, Some(true)),
        (1, 1, Some(false), Some(false)),
        (1, 2, Some(false), None),
        (2, 2, None, None),
    ];
    for (left, right, and, or) in table {
        for (left, right) in [(left, right), (right, left)] {
            let sides = || Box::new([condition(VALUES[left]), condition(VALUES[right])]);
            assert_eq!(value(&Expression::And(sides())), and);
            assert_eq!(value(&Expression::Or(sides())), or);
        }
    }
}

#[test]
fn tests_for_truth_are_never_unknown() {
    for (of, not, is_true, is_not_true, is_false, is_not_false, is_null) in [
        (Some(true), Some(false), true, false, false, true, false),
        (Some(false), Some(true), false, true, true, false, false),
        (None, None, false, true, false, true, true),
    ] {
        let inner = || Box::new(condition(of));
        assert_eq!(value(&Expression::Not(inner())), not);
        let is = |value, wanted| Expression::Is(inner(), value, wanted);
        assert_eq!(value(&is(true, true)), Some(is_true));
        assert_eq!(value(&is(true, false)), Some(is_not_true));
        assert_eq!(value(&is(false, true)), Some(is_false));
        assert_eq!(value(&is(false, false)), Some(is_not_false));
        assert_eq!(value(&Expression::IsNull(inner(), true)), Some(is_null));
        assert_eq!(value(&Expression::IsNull(inner(), false)), Some(!is_null));
    }
}

fn integer(value: Option<i64>) -> Expression {
    Expression::constant(
        value.map_or(Value::Null, Value::Integer),
        ValueKind::Integer,
    )
}

#[test]
fn a_null_in_a_list_leaves_open_what_it_does_not_decide() {
    for (tested, list, is_in) in [
        (Some(1), vec![Some(1), None], Some(true)),
        (Some(1), vec![None, Some(1)], Some(true)),
        (Some(1), vec![Some(2), None], None),
        (Some(1), vec![Some(2), Some(3)], Some(false)),
        (None, vec![Some(2)], None),
    ] {
        let of = |is_negated| {
            let items = list.iter().copied().map(integer).collect();
            Expression::In(Box::new(integer(tested)), items, is_negated)
        };
        assert_eq!(value(&of(false)), is_in);
        assert_eq!(value(&of(true)), is_in.map(|is_in| !is_in));
    }
}

#[test]
fn comparisons_of_null_are_unknown_unless_it_is_told_apart() {
    let compare = |comparison, left, right| {
        value(&Expression::Compare(
            comparison,
            Box::new([integer(left), integer(right)]),
        ))
    };
    assert_eq!(compare(ComparisonExpression::Equal, None, None), None);
    assert_eq!(compare(ComparisonExpression::Less, Some(1), None), None);
    assert_eq!(
        compare(ComparisonExpression::Distinct, None, None),
        Some(false)
    );
    assert_eq!(
        compare(ComparisonExpression::Distinct, Some(1), None),
        Some(true)
    );
    assert_eq!(
        compare(ComparisonExpression::NotDistinct, None, None),
        Some(true)
    );
    assert_eq!(
        compare(ComparisonExpression::NotDistinct, Some(1), Some(1)),
        Some(true)
    );
    assert_eq!(
        compare(ComparisonExpression::GreaterOrEqual, Some(2), Some(1)),
        Some(true)
    );
}

#[test]
fn floats_are_ordered_with_one_zero_and_nan_above_all() {
    let order =
        |left: f64, right: f64| PlanScalar::Double(left).compare(&PlanScalar::Double(right));
    assert!(order(-0.0, 0.0).is_eq());
    assert!(order(f64::NAN, f64::INFINITY).is_gt());
    assert!(order(f64::NAN, f64::NAN).is_eq());
    assert!(order(f64::NEG_INFINITY, f64::MIN).is_lt());
}

#[test]
fn what_decides_keeps_the_rest_from_being_evaluated() {
    let failing = || Expression::Parameter {
        number: 7,
        kind: ValueKind::Boolean,
    };
    let environment = Environment::new(&[]);
    let evaluate = |expression: Expression| {
        let value = expression.evaluate(&[], &environment);
        value.map(|value| value == PlanScalar::Boolean(true))
    };
    let and = |value| Expression::And(Box::new([condition(value), failing()]));
    let or = |value| Expression::Or(Box::new([condition(value), failing()]));
    assert_eq!(evaluate(and(Some(false))), Ok(false));
    assert_eq!(evaluate(or(Some(true))), Ok(true));
    assert!(evaluate(and(None)).is_err());
    assert!(evaluate(or(None)).is_err());
    let branches = vec![
        (condition(None), failing()),
        (condition(Some(true)), condition(Some(true))),
        (failing(), failing()),
    ];
    assert_eq!(evaluate(Expression::Case(branches, None)), Ok(true));
    let parts = vec![condition(None), condition(Some(true)), failing()];
    assert_eq!(evaluate(Expression::Coalesce(parts)), Ok(true));
}

#[test]
fn patterns_are_tested_on_the_text_of_a_row() {
    let text = Box::new(Expression::Column {
        slot: 0,
        kind: ValueKind::Bytes,
        nullable: true,
    });
    let like = Expression::Like(text, Box::new(LikePattern::new("%ship%")), true);
    let of = |value| {
        let row = [value];
        let environment = Environment::new(&[]);
        let is_like = like.evaluate(&row, &environment).unwrap();
        is_like == PlanScalar::Boolean(true)
    };
    assert!(!of(TupleValue::Bytes(b"a ship sails")));
    assert!(of(TupleValue::Bytes(b"a boat")));
    assert!(!of(TupleValue::Null));
}
