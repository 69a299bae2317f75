//! The columns that a `SELECT` puts out.
//!
//! The planner demands that their names differ, and makes names of its own for expressions, some of
//! which coincide (a cast has the name of its argument). Here every expression gets PostgreSQL's
//! name as an alias where that is free, else one with a suffix that [`names::display`] takes off.

use std::collections::HashSet;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, GroupByExpr, Ident, ObjectName, OrderByKind, Query, SelectItem, SetExpr,
    Value,
};

use super::names;

/// Gives every item of a select list a name of its own.
pub(super) fn rewrite(projection: &mut [SelectItem]) {
    let has_wildcard = projection.len() > 1 && projection.iter().any(is_wildcard);
    let mut seen = HashSet::new();
    for (position, item) in projection.iter_mut().enumerate() {
        let (expr, shown, needs_alias) = match item {
            SelectItem::UnnamedExpr(expr) => {
                let needs_alias = !names::is_column(expr) || has_wildcard;
                (expr.clone(), names::of_expression(expr), needs_alias)
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                (expr.clone(), names::folded(alias), false)
            }
            _ => continue,
        };
        let is_new = seen.insert(shown.clone());
        let is_free = is_new && !has_wildcard && shown != names::UNNAMED;
        let name = if is_free {
            shown
        } else {
            names::with_suffix(&shown, position)
        };
        match item {
            SelectItem::ExprWithAlias { expr: aliased, .. } if is_new => *aliased = expr,
            SelectItem::UnnamedExpr(_) if is_new && !needs_alias => {}
            _ => {
                let alias = Ident::with_quote('"', name);
                *item = SelectItem::ExprWithAlias { expr, alias };
            }
        }
    }
}

fn is_wildcard(item: &SelectItem) -> bool {
    matches!(
        item,
        SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)
    )
}

/// `ORDER BY expression` → `ORDER BY position` where the expression is one of the select list: so
/// that it is found again under its alias, also after `DISTINCT`.
pub(super) fn order_by_position(query: &mut Query) {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return;
    };
    let Some(order_by) = &mut query.order_by else {
        return;
    };
    let OrderByKind::Expressions(keys) = &mut order_by.kind else {
        return;
    };
    let before_wildcard = select
        .projection
        .iter()
        .take_while(|item| !is_wildcard(item));
    let items: Vec<&Expr> = before_wildcard
        .filter_map(|item| match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
            _ => None,
        })
        .collect();
    for key in keys {
        let is_plain = names::is_column(&key.expr) || matches!(key.expr, Expr::Value(_));
        let position = items.iter().position(|item| **item == key.expr);
        if let (Some(position), false) = (position, is_plain) {
            let number = Value::Number((position + 1).to_string(), false);
            key.expr = Expr::Value(number.into());
        }
    }
}

/// `EXISTS (SELECT … FROM … WHERE …)` → `(SELECT count(*) > 0 FROM … WHERE …)`: for rewrites that know
/// subqueries with an aggregate only.
pub fn exists_to_count(expr: &mut Expr) {
    let Expr::Exists { subquery, negated } = expr else {
        return;
    };
    let mut query = subquery.clone();
    let is_plain = query.limit_clause.is_none() && query.fetch.is_none() && query.with.is_none();
    let SetExpr::Select(select) = query.body.as_mut() else {
        return;
    };
    let has_no_groups =
        matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
    if !is_plain || !has_no_groups || select.having.is_some() || select.qualify.is_some() {
        return;
    }
    query.order_by = None;
    let op = if *negated {
        BinaryOperator::Eq
    } else {
        BinaryOperator::Gt
    };
    let zero = Expr::Value(Value::Number("0".to_owned(), false).into());
    let count = Expr::BinaryOp {
        left: Box::new(count_rows()),
        op,
        right: Box::new(zero),
    };
    select.distinct = None;
    select.projection = vec![SelectItem::ExprWithAlias {
        expr: count,
        alias: Ident::with_quote('"', "exists"),
    }];
    *expr = Expr::Subquery(query);
}

fn count_rows() -> Expr {
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new("count")]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: vec![FunctionArg::Unnamed(FunctionArgExpr::Wildcard)],
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::parse::{ParsedCommand, parse};
    use crate::rewrite::rewrite;

    fn rewritten(sql: &str) -> String {
        match parse(sql).unwrap() {
            ParsedCommand::Statement(mut statement, _) => {
                rewrite(&mut statement);
                statement.to_string().replace('\u{1f}', "~")
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn columns_get_names_of_their_own() {
        assert_eq!(
            rewritten("SELECT a, a, count(*), a + 1, CAST(a AS TEXT), b AS a FROM t"),
            "SELECT a, a AS \"a~1\", count(*) AS \"count\", a + 1 AS \"?column?~3\", \
             CAST(a AS TEXT) AS \"a~4\", b AS \"a~5\" FROM t"
        );
        assert_eq!(
            rewritten("SELECT *, a FROM t"),
            "SELECT *, a AS \"a~1\" FROM t"
        );
        assert_eq!(rewritten("SELECT a, b FROM t"), "SELECT a, b FROM t");
    }

    #[test]
    fn order_keys_refer_to_their_column() {
        assert_eq!(
            rewritten("SELECT DISTINCT a + 1 FROM t ORDER BY a + 1 DESC, a"),
            "SELECT DISTINCT a + 1 AS \"?column?~0\" FROM t ORDER BY 1 DESC, a"
        );
    }

    #[test]
    fn exists_stays_in_a_select_list() {
        assert_eq!(
            rewritten("SELECT NOT EXISTS (SELECT count(*) FROM u WHERE b = a) FROM t"),
            "SELECT NOT EXISTS (SELECT count(*) AS \"count\" FROM u WHERE b = a) AS \"?column?~0\" FROM t"
        );
    }
}
