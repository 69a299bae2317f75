//! Aggregates inside a subquery that belong to the query around it.
//!
//! In `SELECT (SELECT sum(t.a)) FROM t`, the argument of `sum` is made of columns of the outer query alone, so it is the outer
//! query that is aggregated. The planner would aggregate the subquery. Here such a call becomes one of [`OuterAggregate`], which is no
//! aggregate for it. Which table a column is of is told by its qualifier, or by a subquery that has no tables.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArguments, Ident, ObjectName, OrderByKind, Query,
    Select, SetExpr, Statement, VisitorMut,
};
use quire_functions::OuterAggregate;

use super::names::{folded, last_part};
use super::positions::item_of;
use super::scopes::Scopes;
use super::walk::{for_each_expression, walk_mut};

/// Marks the calls; says whether there are any.
pub fn mark(statement: &mut Statement) -> bool {
    let mut marker = Marker::default();
    // The marker never breaks off.
    let _ = walk_mut(statement, &mut marker);
    marker.has_marked
}

#[derive(Default)]
struct Marker {
    scopes: Scopes,
    has_marked: bool,
}

impl VisitorMut for Marker {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.drop_outer_keys(query);
        self.scopes.open_query(query);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.scopes.close_query();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        self.scopes.open_select(select);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<()> {
        self.scopes.close_select();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expr
            && let Some(name) = marked_name(function)
            && self.is_outer(function)
        {
            function.name = ObjectName::from(vec![Ident::with_quote('"', name)]);
            if let FunctionArguments::List(list) = &mut function.args {
                list.duplicate_treatment = None;
            }
            self.has_marked = true;
        }
        ControlFlow::Continue(())
    }
}

/// What a call is called when it is marked; nothing if it is none of an aggregate with arguments alone.
fn marked_name(function: &Function) -> Option<String> {
    let FunctionArguments::List(list) = &function.args else {
        return None;
    };
    let is_plain = function.over.is_none()
        && function.filter.is_none()
        && function.within_group.is_empty()
        && list.clauses.is_empty();
    let is_distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
    let called = last_part(&function.name)?;
    OuterAggregate::name_of(&called, is_distinct).filter(|_| is_plain)
}

impl Marker {
    /// Takes columns of the queries around out of `ORDER BY`. They are the same for all rows, and the planner would look for them among the
    /// groups.
    fn drop_outer_keys(&self, query: &mut Query) {
        let SetExpr::Select(select) = query.body.as_ref() else {
            return;
        };
        let Some(order_by) = &mut query.order_by else {
            return;
        };
        let OrderByKind::Expressions(keys) = &mut order_by.kind else {
            return;
        };
        if select.distinct.is_some() {
            return;
        }
        keys.retain(|key| {
            let column = item_of(&key.expr, &select.projection).unwrap_or(&key.expr);
            !self.scopes.is_around(select, column)
        });
        if keys.is_empty() {
            query.order_by = None;
        }
    }

    /// Whether the arguments have columns, and none of the query that the call stands in.
    fn is_outer(&self, function: &Function) -> bool {
        let (mut outer, mut other) = (0, 0);
        for_each_expression(&function.args, |part| {
            let is_outer = match part {
                Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                    [qualifier, _] => {
                        matches!(self.scopes.find(&folded(qualifier)), Some((1.., _)))
                    }
                    _ => false,
                },
                Expr::Identifier(_) => self.scopes.is_without_tables(),
                Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => false,
                _ => return,
            };
            outer += usize::from(is_outer);
            other += usize::from(!is_outer);
        });
        outer > 0 && other == 0 && self.scopes.is_named()
    }
}
