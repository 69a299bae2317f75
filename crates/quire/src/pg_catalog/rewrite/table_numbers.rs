//! `t.tableoid`, a column that every relation of PostgreSQL has without listing it: here the number of a table of the catalog.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Ident, Query, Select, TableFactor, Value, VisitorMut};

use super::table_of;
use crate::sql::names::folded;
use crate::sql::walk::walk_mut;

/// Puts numbers for the `tableoid` of the tables that a `SELECT` names.
pub(super) fn rewrite(select: &mut Select) {
    let factors = select.from.iter().flat_map(|from| {
        let joined = from.joins.iter().map(|join| &join.relation);
        std::iter::once(&from.relation).chain(joined)
    });
    let tables: Vec<(String, u32)> = factors.filter_map(named_number).collect();
    if !tables.is_empty() {
        // The visitor never breaks off.
        let _ = walk_mut(select, &mut Numbers { tables, depth: 0 });
    }
}

/// What a table of the catalog is called in a `SELECT`, and its number.
fn named_number(factor: &TableFactor) -> Option<(String, u32)> {
    let TableFactor::Table {
        name,
        alias,
        args: None,
        ..
    } = factor
    else {
        return None;
    };
    let table = table_of(name)?;
    let name = alias.as_ref().map(|alias| folded(&alias.name));
    Some((name.unwrap_or_else(|| table.name.to_owned()), table.oid))
}

struct Numbers {
    tables: Vec<(String, u32)>,
    /// Of subqueries, whose own tables may have the same names.
    depth: usize,
}

impl Numbers {
    fn number_of(&self, parts: &[Ident]) -> Option<u32> {
        let [.., table, column] = parts else {
            return None;
        };
        let table = folded(table);
        let mut tables = self.tables.iter();
        let found = tables.find(|(name, _)| *name == table && folded(column) == "tableoid");
        found.map(|(_, oid)| *oid)
    }
}

impl VisitorMut for Numbers {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if self.depth == 0
            && let Expr::CompoundIdentifier(parts) = expr
            && let Some(oid) = self.number_of(parts)
        {
            *expr = Expr::Value(Value::Number(oid.to_string(), false).into());
        }
        ControlFlow::Continue(())
    }
}
