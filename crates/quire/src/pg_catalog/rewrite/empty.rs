//! A `SELECT` that draws its rows from a table that is always empty.
//!
//! psql asks for triggers, policies, publications, partitions and statistics of a table, in queries that use more of PostgreSQL
//! than all others. We have none of these things: such a `SELECT` has no rows, and only the names of its columns matter.

use datafusion::sql::sqlparser::ast::{
    DataType, Expr, GroupByExpr, Ident, JoinOperator, Query, Select, SelectItem, SetExpr,
    TableFactor, Value,
};
use quire_sql::names::last_part;
use quire_sql::names::{UNNAMED, of_expression, with_suffix};

use super::subqueries::has_aggregate;
use super::{null, table_of};

/// Makes every such `SELECT` of a query one of no rows from nowhere.
pub(super) fn rewrite(query: &mut Query) {
    if query.with.is_some() {
        return;
    }
    let is_select = matches!(query.body.as_ref(), SetExpr::Select(_));
    if rewrite_body(&mut query.body) && is_select {
        query.order_by = None;
    }
}

fn rewrite_body(body: &mut SetExpr) -> bool {
    match body {
        SetExpr::Select(select) => {
            let applies = draws_on_nothing(select) && can_be_empty(select);
            if applies {
                make_empty(select);
            }
            applies
        }
        SetExpr::SetOperation { left, right, .. } => {
            rewrite_body(left);
            rewrite_body(right);
            false
        }
        _ => false,
    }
}

/// Whether a row needs one of an empty table.
fn draws_on_nothing(select: &Select) -> bool {
    let is_empty = |factor: &TableFactor| match factor {
        TableFactor::Table {
            name, args: None, ..
        } => table_of(name).is_some_and(|table| table.is_empty),
        TableFactor::Derived {
            lateral, subquery, ..
        } => *lateral && asks_for_partitions(subquery),
        _ => false,
    };
    select.from.iter().any(|from| {
        let keeps_left = from.joins.iter().all(|join| {
            !matches!(
                join.join_operator,
                JoinOperator::Right(_) | JoinOperator::RightOuter(_) | JoinOperator::FullOuter(_)
            )
        });
        let mut inner = from.joins.iter().filter(|join| {
            matches!(
                join.join_operator,
                JoinOperator::Join(_) | JoinOperator::Inner(_) | JoinOperator::CrossJoin(_)
            )
        });
        keeps_left && (is_empty(&from.relation) || inner.any(|join| is_empty(&join.relation)))
    })
}

/// Whether a query is about the partitions of a relation: psql wants it for those that have some, and none has.
fn asks_for_partitions(query: &Query) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return false;
    };
    let is_it = |factor: &TableFactor| match factor {
        TableFactor::Table { name, .. } | TableFactor::Function { name, .. } => {
            last_part(name).is_some_and(|name| name == "pg_partition_tree")
        }
        _ => false,
    };
    select.from.iter().any(|from| is_it(&from.relation))
}

/// Aggregates of no rows are a row, and of a wildcard only the planner knows the columns.
fn can_be_empty(select: &Select) -> bool {
    select.projection.iter().all(|item| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
            !has_aggregate(expr)
        }
        _ => false,
    })
}

fn make_empty(select: &mut Select) {
    for (position, item) in select.projection.iter_mut().enumerate() {
        let name = match item {
            SelectItem::ExprWithAlias { alias, .. } => quire_sql::names::folded(alias),
            SelectItem::UnnamedExpr(expr) => match of_expression(expr) {
                name if name == UNNAMED => with_suffix(UNNAMED, position),
                name => name,
            },
            _ => continue,
        };
        let expr = Expr::Cast {
            kind: datafusion::sql::sqlparser::ast::CastKind::Cast,
            expr: Box::new(null()),
            data_type: DataType::Text,
            array: false,
            format: None,
        };
        let alias = Ident::with_quote('"', name);
        *item = SelectItem::ExprWithAlias { expr, alias };
    }
    select.from.clear();
    select.selection = Some(Expr::Value(Value::Boolean(false).into()));
    select.group_by = GroupByExpr::Expressions(Vec::new(), Vec::new());
    select.having = None;
    select.distinct = None;
}
