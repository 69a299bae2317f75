//! `t.tableoid`, a column that every relation of PostgreSQL has without listing it: here the number of a table of the catalog.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Ident, Select, TableFactor, Value, VisitorMut};
use quire_sql::names::folded;
use quire_sql::names::last_part;
use quire_sql::walk::walk_mut;

use super::table_of;

/// Puts numbers for the `tableoid` of the tables that a `SELECT` names, also in subqueries of it.
pub(super) fn rewrite(select: &mut Select) {
    let tables: Vec<(String, u32)> = factors_of(select).filter_map(named_number).collect();
    if !tables.is_empty() {
        // The visitor never breaks off.
        let _ = walk_mut(
            select,
            &mut TableNumbers {
                tables,
                hidden: Vec::new(),
            },
        );
    }
}

fn factors_of(select: &Select) -> impl Iterator<Item = &TableFactor> {
    select.from.iter().flat_map(|from| {
        let joined = from.joins.iter().map(|join| &join.relation);
        std::iter::once(&from.relation).chain(joined)
    })
}

/// What a table is called in a `SELECT`.
fn name_of(factor: &TableFactor) -> Option<String> {
    match factor {
        TableFactor::Table { name, alias, .. } => match alias {
            Some(alias) => Some(folded(&alias.name)),
            None => last_part(name),
        },
        TableFactor::Derived { alias, .. } => alias.as_ref().map(|alias| folded(&alias.name)),
        _ => None,
    }
}

/// What a table of the catalog is called in a `SELECT`, and its number.
fn named_number(factor: &TableFactor) -> Option<(String, u32)> {
    let TableFactor::Table {
        name, args: None, ..
    } = factor
    else {
        return None;
    };
    Some((name_of(factor)?, table_of(name)?.oid))
}

struct TableNumbers {
    tables: Vec<(String, u32)>,
    /// Names that the tables of each `SELECT` have which is being walked, the outermost first.
    hidden: Vec<Vec<String>>,
}

impl TableNumbers {
    fn number_of(&self, parts: &[Ident]) -> Option<u32> {
        let [.., table, column] = parts else {
            return None;
        };
        let table = folded(table);
        let is_hidden = self
            .hidden
            .iter()
            .skip(1)
            .flatten()
            .any(|name| *name == table);
        let mut tables = self.tables.iter();
        let found = tables.find(|(name, _)| *name == table && folded(column) == "tableoid");
        found.filter(|_| !is_hidden).map(|(_, oid)| *oid)
    }
}

impl VisitorMut for TableNumbers {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        let names = factors_of(select).filter_map(name_of);
        self.hidden.push(names.collect());
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<()> {
        self.hidden.pop();
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(parts) = expr
            && let Some(oid) = self.number_of(parts)
        {
            *expr = Expr::Value(Value::Number(oid.to_string(), false).into());
        }
        ControlFlow::Continue(())
    }
}
