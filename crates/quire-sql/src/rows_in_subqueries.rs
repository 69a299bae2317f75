//! Rows looked for in a subquery.
//!
//! `(a, b) IN (SELECT c, d …)` is `TRUE IN (SELECT a = c AND b = d FROM (SELECT c, d …))`, also where something is NULL. The planner
//! knows subqueries of one column only. Aggregates of the row stay those of the query around.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Ident, Query, SelectItem, SetExpr, Statement, TableFactor, Value, Visitor,
};
use quire_error::Error;

use super::outer_aggregates;
use super::parse::parse_query;
use super::walk::walk;

/// The members, as a table of the subquery.
pub const MEMBERS: &str = "__members";

/// Whether a statement that was rewritten looks for a row in a subquery.
pub fn has_members(statement: &Statement) -> bool {
    walk(statement, &mut Finder).is_break()
}

/// Breaks at the members of a subquery.
struct Finder;

impl Visitor for Finder {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Derived {
                alias: Some(alias), ..
            } if alias.name.value == MEMBERS => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Refuses a subquery that has fewer or more columns than the row, where its text says how many it has.
pub(super) fn check(expr: &Expr) -> Result<(), Error> {
    let Some((items, subquery, _)) = row_and_subquery(expr) else {
        return Ok(());
    };
    let few_or_many = match width_of(&subquery.body).map(|width| width.cmp(&items.len())) {
        Some(Ordering::Less) => "few",
        Some(Ordering::Greater) => "many",
        Some(Ordering::Equal) | None => return Ok(()),
    };
    let text = format!("subquery has too {few_or_many} columns");
    Err(Error::new("42601", text))
}

/// How many columns a query has; nothing if a wildcard leaves that open.
fn width_of(body: &SetExpr) -> Option<usize> {
    match body {
        SetExpr::Select(select) => {
            let is_one = |item: &SelectItem| {
                matches!(
                    item,
                    SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. }
                )
            };
            let items = &select.projection;
            items.iter().all(is_one).then_some(items.len())
        }
        SetExpr::Query(query) => width_of(&query.body),
        SetExpr::SetOperation { left, .. } => width_of(left),
        SetExpr::Values(values) => values.rows.first().map(|row| row.len()),
        _ => None,
    }
}

/// Compares rows field by field.
pub(super) fn rewrite(expr: &mut Expr) {
    let Some((items, subquery, negated)) = row_and_subquery(expr) else {
        return;
    };
    let Some(query) = comparing(items, subquery) else {
        return;
    };
    *expr = Expr::InSubquery {
        expr: Box::new(Expr::Value(Value::Boolean(true).into())),
        subquery: Box::new(query),
        negated,
    };
}

/// Both sides of `IN`, `= ANY` or `<> ALL`, and whether it is `NOT IN`.
fn row_and_subquery(expr: &Expr) -> Option<(&[Expr], &Query, bool)> {
    let (left, subquery, negated) = match expr {
        Expr::InSubquery {
            expr,
            subquery,
            negated,
        } => (expr, subquery.as_ref(), *negated),
        Expr::AnyOp {
            left,
            compare_op: BinaryOperator::Eq,
            right,
            ..
        } => (left, subquery_of(right)?, false),
        Expr::AllOp {
            left,
            compare_op: BinaryOperator::NotEq,
            right,
        } => (left, subquery_of(right)?, true),
        _ => return None,
    };
    match left.as_ref() {
        Expr::Tuple(items) => Some((items, subquery, negated)),
        _ => None,
    }
}

fn subquery_of(expr: &Expr) -> Option<&Query> {
    match expr {
        Expr::Subquery(query) => Some(query),
        Expr::Nested(inner) => subquery_of(inner),
        _ => None,
    }
}

/// A query for whether each row of `subquery` is the one of `items`.
fn comparing(items: &[Expr], subquery: &Query) -> Option<Query> {
    let column = |index: usize| format!("__field_{index}");
    let columns: Vec<String> = (0..items.len()).map(column).collect();
    let text = format!(
        "SELECT 1 FROM (SELECT 1) AS {MEMBERS} ({})",
        columns.join(", ")
    );
    let mut query = parse_query(&text).ok()?;
    let comparisons = items.iter().zip(columns).map(|(item, column)| {
        let member = Expr::CompoundIdentifier(vec![Ident::new(MEMBERS), Ident::new(column)]);
        let mut item = item.clone();
        outer_aggregates::mark_all(&mut item);
        binary(nested(item), BinaryOperator::Eq, member)
    });
    let condition = comparisons.reduce(|left, right| binary(left, BinaryOperator::And, right))?;
    let SetExpr::Select(select) = query.body.as_mut() else {
        return None;
    };
    select.projection = vec![SelectItem::UnnamedExpr(condition)];
    let TableFactor::Derived { subquery: from, .. } = &mut select.from.first_mut()?.relation else {
        return None;
    };
    **from = subquery.clone();
    Some(*query)
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp {
        left: Box::new(left),
        op,
        right: Box::new(right),
    }
}

fn nested(expr: Expr) -> Expr {
    Expr::Nested(Box::new(expr))
}
