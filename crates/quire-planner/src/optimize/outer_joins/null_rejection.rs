//! Which columns may not be NULL if a condition holds.

use std::collections::HashSet;

use datafusion::common::Column;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use quire_functions::{CheckedArithmetic, FloatKey};

/// The columns that are not NULL in rows of which a condition holds: the ones that it *rejects NULL* of.
pub(super) fn rejected(condition: &Expr) -> HashSet<Column> {
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if *op == Operator::And => {
            &rejected(left) | &rejected(right)
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if *op == Operator::Or => {
            &rejected(left) & &rejected(right)
        }
        Expr::Alias(alias) => rejected(&alias.expr),
        Expr::IsNotNull(value) => required(value),
        Expr::IsTrue(condition) => rejected(condition),
        Expr::IsFalse(condition) => required(condition),
        Expr::InList(list) if !list.list.is_empty() => required(&list.expr),
        Expr::Between(between) => required(&between.expr),
        Expr::Like(like) => required(&like.expr),
        value => required(value),
    }
}

/// The columns any of which makes a value NULL if it is.
pub(super) fn required(value: &Expr) -> HashSet<Column> {
    match value {
        Expr::Column(column) => HashSet::from([column.clone()]),
        Expr::Alias(alias) => required(&alias.expr),
        Expr::Cast(cast) => required(&cast.expr),
        Expr::Negative(inner) | Expr::Not(inner) => required(inner),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_strict(*op) => {
            &required(left) | &required(right)
        }
        Expr::ScalarFunction(call) if is_operator(call) => {
            call.args.iter().flat_map(required).collect()
        }
        _ => HashSet::new(),
    }
}

/// Whether an operator of NULL gives NULL, whatever the other side is.
fn is_strict(operator: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    operator.is_numerical_operators() || matches!(operator, Eq | NotEq | Lt | LtEq | Gt | GtEq)
}

/// Whether a function stands for an operator of NULL that gives NULL: see [`crate::optimize::checked_operators`] and [`crate::optimize::float_keys`].
fn is_operator(call: &ScalarFunction) -> bool {
    call.func.inner().is::<CheckedArithmetic>() || FloatKey::is_name(call.name())
}

#[cfg(test)]
mod tests {
    use datafusion::logical_expr::{col, lit};

    use super::*;

    fn names(columns: HashSet<Column>) -> Vec<String> {
        let mut names: Vec<String> = columns.into_iter().map(|one| one.name).collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_condition_rejects_null_of() {
        let either = col("a").eq(lit(1)).or(col("a").gt(col("b")));
        for (condition, expected) in [
            (col("a").eq(col("b") + lit(1)), vec!["a", "b"]),
            (either.clone(), vec!["a"]),
            (either.and(col("c").is_not_null()), vec!["a", "c"]),
            (col("a").is_null(), vec![]),
            (col("a").eq(lit(1)).is_not_true(), vec![]),
            (col("a").eq(lit(1)).is_false(), vec!["a"]),
            (!col("a").in_list(vec![col("b")], true), vec!["a"]),
            (col("a").in_list(vec![], true), vec![]),
            (col("a").or(col("b")), vec![]),
        ] {
            assert_eq!(names(rejected(&condition)), expected, "{condition}");
        }
    }

    #[test]
    fn a_truth_value_of_and_is_not_null_for_a_null() {
        let condition = col("a").and(col("b")).eq(lit(false));
        assert!(rejected(&condition).is_empty());
    }
}
