//! Columns of outer queries among the columns that a query puts out.
//!
//! In `SELECT s.a FROM t, LATERAL (SELECT t.a FROM u) AS s`, the planner calls the column of the subquery by the text of its expression, so that
//! `s.a` is not found. Behind UNION it calls it as the column of the first query is called, a name that another column may have. Here such
//! columns get their own names as aliases. Which table a column is of is told by its qualifier.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, Query, Select, SelectItem, Statement, Value, VisitorMut,
};

use super::names::folded;
use super::scopes::Scopes;
use super::walk::walk_mut;

/// Gives every such column its alias.
pub(super) fn rewrite(statement: &mut Statement) {
    // The namer never breaks off.
    let _ = walk_mut(statement, &mut Namer::default());
}

#[derive(Default)]
struct Namer {
    scopes: Scopes,
}

impl VisitorMut for Namer {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.scopes.open_query(query);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.scopes.close_query();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        let mut items = std::mem::take(&mut select.projection);
        for item in &mut items {
            if let SelectItem::UnnamedExpr(expr) = item
                && self.scopes.is_around(select, expr)
            {
                name_column(item);
            }
        }
        select.projection = items;
        self.scopes.open_select(select);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<()> {
        self.scopes.close_select();
        ControlFlow::Continue(())
    }
}

/// `t.a` → `t.a AS "a"`
fn name_column(item: &mut SelectItem) {
    if let SelectItem::UnnamedExpr(expr) = item
        && let Expr::CompoundIdentifier(parts) = expr
        && let Some(name) = parts.last().map(folded)
    {
        let expr = std::mem::replace(expr, Expr::Value(Value::Null.into()));
        let alias = Ident::with_quote('"', name);
        *item = SelectItem::ExprWithAlias { expr, alias };
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::parse::{ParsedCommand, parse};

    #[test]
    fn columns_of_outer_queries_have_their_names() {
        let sql = "SELECT s.a FROM t, LATERAL (SELECT t.a, u.b, 1 FROM (u JOIN v ON true)) AS s";
        let ParsedCommand::Statement(mut statement, _) = parse(sql).unwrap() else {
            panic!("no statement");
        };
        rewrite(&mut statement);
        let expected = sql.replace("t.a, u.b", "t.a AS \"a\", u.b");
        assert_eq!(statement.to_string(), expected);
    }
}
