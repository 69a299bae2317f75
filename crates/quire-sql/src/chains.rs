//! Long chains of `AND` and of `OR` as trees that are not deep.
//!
//! The parser makes `a OR b OR c OR d` a tree as deep as the chain is long, `((a OR b) OR c) OR d`. Programs make chains of thousands,
//! and whatever goes over a tree goes down as far. `(a OR b) OR (c OR d)` is the same: the parts stay in their order, and a part is looked
//! at if and only if it was.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Value, VisitMut, VisitorMut};

use super::walk::walk_mut;

/// Parts of a chain that is left as it is.
const SHORT: usize = 16;

/// Parts of the longest chain: filters are taken apart and become chains again, and then they are deep.
const PARTS_MAX: usize = 2001;

/// Makes all long chains within a tree shallow; false when one is too long.
pub(super) fn balance(tree: &mut impl VisitMut) -> bool {
    walk_mut(tree, &mut Balancer).is_continue()
}

struct Balancer;

impl VisitorMut for Balancer {
    type Break = ();

    /// Before the walk goes down, so that it never goes down a chain.
    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Some(operator) = operator_of(expr)
            && let length = length_of(expr, &operator)
            && length > SHORT
        {
            if length > PARTS_MAX {
                return ControlFlow::Break(());
            }
            let parts = take_apart(expr, &operator);
            *expr = put_together(parts, &operator);
        }
        ControlFlow::Continue(())
    }
}

fn operator_of(expr: &Expr) -> Option<BinaryOperator> {
    match expr {
        Expr::BinaryOp {
            op: op @ (BinaryOperator::And | BinaryOperator::Or),
            ..
        } => Some(op.clone()),
        _ => None,
    }
}

fn length_of(expr: &Expr, operator: &BinaryOperator) -> usize {
    let (mut length, mut rest) = (1, expr);
    while let Expr::BinaryOp { left, op, .. } = rest
        && op == operator
    {
        (length, rest) = (length + 1, left.as_ref());
    }
    length
}

fn null() -> Expr {
    Expr::Value(Value::Null.into())
}

/// The parts of a chain in their order.
fn take_apart(expr: &mut Expr, operator: &BinaryOperator) -> Vec<Expr> {
    let mut parts = Vec::new();
    let mut rest = std::mem::replace(expr, null());
    loop {
        match rest {
            Expr::BinaryOp { left, op, right } if op == *operator => {
                parts.push(*right);
                rest = *left;
            }
            first => {
                parts.push(first);
                parts.reverse();
                return parts;
            }
        }
    }
}

/// The parts, two by two, until there is one tree.
fn put_together(mut parts: Vec<Expr>, operator: &BinaryOperator) -> Expr {
    while parts.len() > 1 {
        let mut pairs = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            pairs.push(match rest.next() {
                Some(right) => Expr::BinaryOp {
                    left: Box::new(left),
                    op: operator.clone(),
                    right: Box::new(right),
                },
                None => left,
            });
        }
        parts = pairs;
    }
    parts.pop().unwrap_or_else(null)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::parse::parse_expression;

    /// Levels of operators, and the text without the parentheses that are none of it.
    fn depth(expr: &Expr) -> usize {
        match expr {
            Expr::BinaryOp { left, right, .. } => 1 + depth(left).max(depth(right)),
            Expr::Nested(inner) => depth(inner),
            _ => 0,
        }
    }

    #[test]
    fn chains_become_shallow_and_stay_the_same() {
        for parts in [1_usize, 2, 16, 17, 18, 100, 1000] {
            for link in [" OR ", " AND "] {
                let text = (0..parts).map(|part| format!("a{part}"));
                let text = text.collect::<Vec<_>>().join(link);
                let mut expr = parse_expression(&text).unwrap();
                assert!(balance(&mut expr));
                assert_eq!(expr.to_string(), text);
                let most = if parts <= SHORT {
                    parts
                } else {
                    parts.ilog2() as usize + 1
                };
                assert!(depth(&expr) <= most, "{parts} parts: {}", depth(&expr));
            }
        }
    }

    #[test]
    fn chains_within_chains_are_found() {
        let inner = vec!["b AND c"; 40].join(" AND ");
        let text = vec![format!("x AND ({inner})"); 40].join(" OR ");
        let mut expr = parse_expression(&text).unwrap();
        assert!(balance(&mut expr));
        assert_eq!(expr.to_string(), text);
        assert!(depth(&expr) <= 6 + 1 + 7, "{}", depth(&expr));
    }

    #[test]
    fn chains_of_any_length_are_not_taken() {
        let text = vec!["a"; PARTS_MAX + 1].join(" OR ");
        let mut expr = parse_expression(&text).unwrap();
        assert!(!balance(&mut expr));
    }
}
