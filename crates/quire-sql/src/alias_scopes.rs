//! Where names of output columns hold: as a key of `ORDER BY` and of `GROUP BY`, and nowhere else.
//!
//! In `SELECT -a AS a FROM t ORDER BY a + 1` and `… HAVING a > 1`, SQL means the column of the table; the planner takes its own output.
//! Here an output column whose name an expression mentions is planned under another one, which [`names::display`] shows as it was
//! written. Around an inner query, whose columns are asked for by name, goes another that gives the names back.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, OrderByKind, Query, Select, SelectItem, SetExpr, TableFactor, Value, Visit,
};

use super::names::{self, folded, with_suffix};
use super::parse::parse_query;
use super::walk::look_at_own_expressions;

/// Hides the names; `is_inner` says that a query around this one asks for its columns.
pub(super) fn rewrite(query: &mut Query, is_inner: bool) {
    let names_before = match (is_inner, query.body.as_ref()) {
        (true, SetExpr::Select(select)) => match output_names(select) {
            Some(names) => names,
            None => return,
        },
        _ => Vec::new(),
    };
    if !hide(query) || !is_inner {
        return;
    }
    if let SetExpr::Select(select) = query.body.as_ref()
        && let Some(names) = output_names(select)
        && let Some(around) = giving_back(query, &names, &names_before)
    {
        *query = around;
    }
}

/// Renames the output columns that expressions mention; says whether there are any.
fn hide(query: &mut Query) -> bool {
    let order = query.order_by.as_mut().map(|order_by| &mut order_by.kind);
    let SetExpr::Select(select) = query.body.as_mut() else {
        return false;
    };
    let mut keys = match order {
        Some(OrderByKind::Expressions(keys)) => keys.iter_mut().map(|key| &mut key.expr).collect(),
        _ => Vec::new(),
    };
    let mut mentioned = Mentioned::default();
    for key in &keys {
        if plain_name(key).is_none() {
            mentioned.look_at(*key);
        }
    }
    mentioned.is_having = true;
    mentioned.look_at(&select.having);
    let mut has_hidden = false;
    for (position, item) in select.projection.iter_mut().enumerate() {
        let SelectItem::ExprWithAlias { expr, alias } = item else {
            continue;
        };
        let name = folded(alias);
        let is_same_column = names::is_column(expr) && names::of_expression(expr) == name;
        if is_same_column || !mentioned.names.contains(&name) {
            continue;
        }
        for key in &mut keys {
            if plain_name(key).is_some_and(|ident| folded(ident) == name) {
                let number = Value::Number((position + 1).to_string(), false);
                **key = Expr::Value(number.into());
            }
        }
        *alias = Ident::with_quote('"', with_suffix(&name, position));
        has_hidden = true;
    }
    has_hidden
}

/// A key that is a name and nothing else: that of an output column, if there is one.
fn plain_name(key: &Expr) -> Option<&Ident> {
    match key {
        Expr::Identifier(ident) => Some(ident),
        Expr::Nested(inner) => plain_name(inner),
        _ => None,
    }
}

/// Names of columns in expressions, but for those of subqueries, which have tables of their own.
#[derive(Default)]
struct Mentioned {
    names: Vec<String>,
    /// There, a name with its table is no output column for the planner either.
    is_having: bool,
}

impl Mentioned {
    fn look_at(&mut self, tree: &impl Visit) {
        let _ = look_at_own_expressions(tree, |expr| {
            match expr {
                Expr::Identifier(ident) => self.names.push(folded(ident)),
                Expr::CompoundIdentifier(parts) if !self.is_having => {
                    self.names.extend(parts.last().map(folded));
                }
                _ => {}
            }
            ControlFlow::Continue(())
        });
    }
}

/// The names of a query's columns; nothing if a wildcard stands for some, or two are alike.
fn output_names(select: &Select) -> Option<Vec<String>> {
    let name = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(expr) => Some(names::of_expression(expr)),
        SelectItem::ExprWithAlias { alias, .. } => Some(folded(alias)),
        _ => None,
    };
    let names: Vec<String> = select.projection.iter().map(name).collect::<Option<_>>()?;
    let is_once = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    names.iter().all(is_once).then_some(names)
}

/// `SELECT hidden AS name, … FROM (query)`
fn giving_back(query: &Query, hidden: &[String], names: &[String]) -> Option<Query> {
    let mut around = *parse_query("SELECT 1 FROM (SELECT 1) AS __named").ok()?;
    let SetExpr::Select(select) = around.body.as_mut() else {
        return None;
    };
    let items = hidden.iter().zip(names);
    let items = items.map(|(hidden, name)| SelectItem::ExprWithAlias {
        expr: Expr::Identifier(Ident::with_quote('"', hidden)),
        alias: Ident::with_quote('"', name),
    });
    select.projection = items.collect();
    let TableFactor::Derived { subquery, .. } = &mut select.from.first_mut()?.relation else {
        return None;
    };
    **subquery = query.clone();
    Some(around)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn rewritten(sql: &str, is_inner: bool) -> String {
        let mut query = parse_query(sql).unwrap();
        rewrite(&mut query, is_inner);
        query.to_string().replace('\u{1f}', "~")
    }

    #[test]
    fn output_columns_that_expressions_mention_have_another_name() {
        let pairs = [
            (
                "SELECT -a AS a FROM t ORDER BY a + 1, a",
                "SELECT -a AS \"a~0\" FROM t ORDER BY a + 1, 1",
            ),
            (
                "SELECT -a AS a FROM t ORDER BY a",
                "SELECT -a AS a FROM t ORDER BY a",
            ),
            (
                "SELECT k, count(*) AS n FROM t GROUP BY k HAVING n > 1",
                "SELECT k, count(*) AS \"n~1\" FROM t GROUP BY k HAVING n > 1",
            ),
            (
                "SELECT t.a AS a FROM t ORDER BY a + 1",
                "SELECT t.a AS a FROM t ORDER BY a + 1",
            ),
        ];
        for (sql, expected) in pairs {
            assert_eq!(rewritten(sql, false), expected);
        }
    }

    #[test]
    fn the_columns_of_inner_queries_keep_their_names() {
        assert_eq!(
            rewritten("SELECT -a AS a, b FROM t ORDER BY a + 1 LIMIT 1", true),
            "SELECT \"a~0\" AS \"a\", \"b\" AS \"b\" FROM \
             (SELECT -a AS \"a~0\", b FROM t ORDER BY a + 1 LIMIT 1) AS __named"
        );
    }
}
