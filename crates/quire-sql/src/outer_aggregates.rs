//! Aggregates inside a subquery that belong to the query around it.
//!
//! In `SELECT (SELECT sum(t.a)) FROM t`, the argument of `sum` is made of columns of the outer query alone, so it is the outer
//! query that is aggregated. The planner would aggregate the subquery. Here such a call becomes one of [`OuterAggregate`], which is no
//! aggregate for it. Which table a column is of is told by its qualifier, or by a subquery that has no tables.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    ObjectName, OrderByKind, Query, Select, SetExpr, Statement, Value, Visitor, VisitorMut,
};
use quire_functions::OuterAggregate;

use super::names::{folded, last_part};
use super::positions::item_of;
use super::scopes::Scopes;
use super::walk::{change_own_expressions, walk, walk_mut};

/// Marks the calls; says whether there are any.
pub fn mark(statement: &mut Statement) -> bool {
    let mut marker = OuterAggregateMarker::default();
    // The marker never breaks off.
    let _ = walk_mut(statement, &mut marker);
    marker.has_marked
}

#[derive(Default)]
struct OuterAggregateMarker {
    scopes: Scopes,
    has_marked: bool,
}

impl VisitorMut for OuterAggregateMarker {
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
        if let Expr::Function(function) = expr {
            if marked_name(function).is_some() && self.is_outer(function) {
                mark_call(function);
            }
            let name = last_part(&function.name);
            self.has_marked |= name.is_some_and(|name| OuterAggregate::is_name(&name));
        }
        ControlFlow::Continue(())
    }
}

/// Marks the aggregates of an expression that moves into a subquery.
pub(super) fn mark_all(expr: &mut Expr) {
    change_own_expressions(expr, |part| {
        if let Expr::Function(function) = part {
            mark_call(function);
        }
    });
}

/// Marks a call, if it is one of an aggregate with arguments alone.
fn mark_call(function: &mut Function) {
    let Some(name) = marked_name(function) else {
        return;
    };
    function.name = ObjectName::from(vec![Ident::with_quote('"', name)]);
    let filter = function.filter.take();
    if let FunctionArguments::List(list) = &mut function.args {
        list.duplicate_treatment = None;
        for argument in &mut list.args {
            // `count(*)`
            if let FunctionArg::Unnamed(value @ FunctionArgExpr::Wildcard) = argument {
                *value = FunctionArgExpr::Expr(Expr::Value(Value::Boolean(true).into()));
            }
        }
        let filter = filter.map(|condition| FunctionArgExpr::Expr(*condition));
        list.args.extend(filter.map(FunctionArg::Unnamed));
    }
}

/// What a call is called when it is marked; nothing if it is none of an aggregate with arguments alone.
fn marked_name(function: &Function) -> Option<String> {
    let FunctionArguments::List(list) = &function.args else {
        return None;
    };
    let is_plain =
        function.over.is_none() && function.within_group.is_empty() && list.clauses.is_empty();
    let is_distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
    let called = last_part(&function.name)?;
    let is_filtered = function.filter.is_some();
    OuterAggregate::name_of(&called, is_distinct, is_filtered).filter(|_| is_plain)
}

impl OuterAggregateMarker {
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
        let mut columns = ColumnOwners {
            around: &self.scopes,
            own: Scopes::default(),
            outer_count: 0,
            other_count: 0,
        };
        // It never breaks off.
        let _ = walk(&function.args, &mut columns);
        let _ = walk(&function.filter, &mut columns);
        columns.outer_count > 0 && columns.other_count == 0 && self.scopes.is_named()
    }
}

/// Counts the columns of arguments by whose they are. Those of subqueries within the arguments are nobody's.
struct ColumnOwners<'s> {
    around: &'s Scopes,
    own: Scopes,
    outer_count: usize,
    other_count: usize,
}

impl ColumnOwners<'_> {
    /// Whether a column is one of a query around the one that the call stands in; nothing if it is of a subquery within the arguments.
    fn is_outer(&self, column: &[Ident]) -> Option<bool> {
        let is_within = !self.own.is_closed();
        match column {
            [qualifier, _] => {
                let qualifier = folded(qualifier);
                if self.own.find(&qualifier).is_some() {
                    return None;
                }
                let found = self.around.find(&qualifier);
                Some(matches!(found, Some((1.., _))) && (!is_within || self.own.is_named()))
            }
            // Which table has the column is not known here.
            [_] => Some(!is_within && self.around.is_without_tables()),
            _ => Some(false),
        }
    }
}

impl Visitor for ColumnOwners<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.own.open_query(query);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.own.close_query();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.own.open_select(select);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &Select) -> ControlFlow<()> {
        self.own.close_select();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        let column = match expr {
            Expr::CompoundIdentifier(parts) => parts.as_slice(),
            Expr::Identifier(name) => std::slice::from_ref(name),
            _ => return ControlFlow::Continue(()),
        };
        match self.is_outer(column) {
            Some(true) => self.outer_count += 1,
            Some(false) => self.other_count += 1,
            None => {}
        }
        ControlFlow::Continue(())
    }
}
