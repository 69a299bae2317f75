//! Merged columns that subqueries read: `SELECT (SELECT count(*) FROM c WHERE c.k = id) FROM a JOIN b USING (id)`.
//!
//! The planner does not find the name there. Where no table of a query in between has a column of that name, or hides the table that the merged
//! column comes from, what it is worth is written in its place.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Query, Select, SelectItem, SetExpr, VisitMut, VisitorMut,
};
use quire_sql::names::folded;
use quire_sql::walk::{for_each_expression, walk_mut};

use super::factor_columns::{column_names, factors_of, name_of};
use super::merged_column::{Columns, JoinColumn};

/// Puts what they are worth in place of merged columns within the subqueries of `tree`.
pub(super) fn replace(tree: &mut impl VisitMut, merged: &[JoinColumn], columns: &Columns) {
    if merged.is_empty() {
        return;
    }
    let mut inner = EnclosingSubqueries {
        merged,
        columns,
        query_depth: 0,
        scopes: Vec::new(),
    };
    let _ = walk_mut(tree, &mut inner);
}

/// The subqueries around the place of a walk.
struct EnclosingSubqueries<'m> {
    merged: &'m [JoinColumn],
    columns: &'m Columns,
    query_depth: usize,
    scopes: Vec<Scope>,
}

/// What names mean in a query.
#[derive(Default)]
struct Scope {
    /// Tables, and columns of them and of the result.
    tables: Vec<String>,
    columns: Vec<String>,
    /// Whether there are columns that are not known.
    is_open: bool,
}

impl Scope {
    fn hides(&self, column: &JoinColumn) -> bool {
        let mut is_hidden = self.is_open || self.columns.contains(&column.name);
        for_each_expression(&column.value, |part| {
            if let Expr::CompoundIdentifier(parts) = part {
                let table = parts.first().map(folded);
                is_hidden |= table.is_some_and(|table| self.tables.contains(&table));
            }
        });
        is_hidden
    }
}

impl EnclosingSubqueries<'_> {
    fn scope_of(&self, select: &Select) -> Scope {
        let mut scope = Scope::default();
        for item in &select.projection {
            if let SelectItem::ExprWithAlias { alias, .. } = item {
                scope.columns.push(folded(alias));
            }
        }
        for factor in factors_of(select) {
            match column_names(factor, self.columns) {
                Some(names) => scope.columns.extend(names),
                None => scope.is_open = true,
            }
            scope.tables.extend(name_of(factor));
        }
        scope
    }
}

impl VisitorMut for EnclosingSubqueries<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.query_depth += 1;
        // ORDER BY belongs to the SELECT that is all of a query.
        let scope = match query.body.as_ref() {
            SetExpr::Select(select) => self.scope_of(select),
            _ => Scope::default(),
        };
        self.scopes.push(scope);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.query_depth -= 1;
        self.scopes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        if self.query_depth > 0 {
            let scope = self.scope_of(select);
            self.scopes.push(scope);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<()> {
        if self.query_depth > 0 {
            self.scopes.pop();
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Identifier(name) = expr
            && !self.scopes.is_empty()
        {
            let name = folded(name);
            let column = self.merged.iter().find(|column| column.name == name);
            if let Some(column) = column
                && !self.scopes.iter().any(|scope| scope.hides(column))
            {
                *expr = column.value.clone();
            }
        }
        ControlFlow::Continue(())
    }
}
