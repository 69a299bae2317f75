//! One walk over syntax trees for all that looks at them.
//!
//! sqlparser's own walk is generic over its visitor, and every visitor makes another copy of the code for the whole grammar: some
//! hundred functions each. Through a trait object there is one copy for those that look and one for those that change.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, ObjectName, Query, Select, Statement, TableFactor, ValueWithSpan, Visit, VisitMut,
    Visitor, VisitorMut,
};

/// Shows a tree to `visitor`; breaks when that does.
pub fn walk(tree: &impl Visit, visitor: &mut dyn Visitor<Break = ()>) -> ControlFlow<()> {
    tree.visit(&mut Looking(visitor))
}

/// Has `visitor` change a tree; breaks when that does.
pub fn walk_mut(
    tree: &mut impl VisitMut,
    visitor: &mut dyn VisitorMut<Break = ()>,
) -> ControlFlow<()> {
    tree.visit(&mut Changing(visitor))
}

/// Shows every expression, an outer one before those within it.
pub fn for_each_expression(tree: &impl Visit, look: impl FnMut(&Expr)) {
    let _ = walk(tree, &mut ExpressionVisitor(look));
}

/// Has every expression changed, an outer one behind those within it.
pub fn change_expressions(tree: &mut impl VisitMut, change: impl FnMut(&mut Expr)) {
    let _ = walk_mut(tree, &mut ExpressionVisitor(change));
}

/// Shows every expression but those of subqueries, which have tables, aggregates and windows of their own; breaks when `look` does.
pub fn look_at_own_expressions(
    tree: &impl Visit,
    look: impl FnMut(&Expr) -> ControlFlow<()>,
) -> ControlFlow<()> {
    walk(
        tree,
        &mut OwnExpressions {
            visit: look,
            depth: 0,
        },
    )
}

/// Has every expression changed but those of subqueries.
pub fn change_own_expressions(tree: &mut impl VisitMut, change: impl FnMut(&mut Expr)) {
    let _ = walk_mut(
        tree,
        &mut OwnExpressions {
            visit: change,
            depth: 0,
        },
    );
}

/// Whether there is a query in a tree.
pub fn has_query(tree: &impl Visit) -> bool {
    walk(tree, &mut QueryFinder).is_break()
}

/// Shows every name of a relation.
pub fn for_each_relation(tree: &impl Visit, look: impl FnMut(&ObjectName)) {
    let _ = walk(tree, &mut RelationVisitor(look));
}

struct Looking<'v>(&'v mut dyn Visitor<Break = ()>);

struct Changing<'v>(&'v mut dyn VisitorMut<Break = ()>);

/// Every hook goes on to the visitor, those that nobody has yet too: one that was left out here would never be called.
macro_rules! pass_on {
    ($trait:ident for $walk:ident: $($hook:ident($node:ty)),* $(,)?) => {
        impl $trait for $walk<'_> {
            type Break = ();
            $(fn $hook(&mut self, node: $node) -> ControlFlow<()> {
                self.0.$hook(node)
            })*
        }
    };
}

pass_on!(Visitor for Looking:
    pre_visit_query(&Query), post_visit_query(&Query),
    pre_visit_select(&Select), post_visit_select(&Select),
    pre_visit_relation(&ObjectName), post_visit_relation(&ObjectName),
    pre_visit_table_factor(&TableFactor), post_visit_table_factor(&TableFactor),
    pre_visit_expr(&Expr), post_visit_expr(&Expr),
    pre_visit_statement(&Statement), post_visit_statement(&Statement),
    pre_visit_value(&ValueWithSpan), post_visit_value(&ValueWithSpan),
);

pass_on!(VisitorMut for Changing:
    pre_visit_query(&mut Query), post_visit_query(&mut Query),
    pre_visit_select(&mut Select), post_visit_select(&mut Select),
    pre_visit_relation(&mut ObjectName), post_visit_relation(&mut ObjectName),
    pre_visit_table_factor(&mut TableFactor), post_visit_table_factor(&mut TableFactor),
    pre_visit_expr(&mut Expr), post_visit_expr(&mut Expr),
    pre_visit_statement(&mut Statement), post_visit_statement(&mut Statement),
    pre_visit_value(&mut ValueWithSpan), post_visit_value(&mut ValueWithSpan),
);

struct ExpressionVisitor<F>(F);

impl<F: FnMut(&Expr)> Visitor for ExpressionVisitor<F> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        (self.0)(expr);
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(&mut Expr)> VisitorMut for ExpressionVisitor<F> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        (self.0)(expr);
        ControlFlow::Continue(())
    }
}

/// Expressions outside of subqueries.
struct OwnExpressions<F> {
    visit: F,
    /// How many subqueries the place of the walk is in.
    depth: usize,
}

impl<F: FnMut(&Expr) -> ControlFlow<()>> Visitor for OwnExpressions<F> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match self.depth {
            0 => (self.visit)(expr),
            _ => ControlFlow::Continue(()),
        }
    }
}

impl<F: FnMut(&mut Expr)> VisitorMut for OwnExpressions<F> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if self.depth == 0 {
            (self.visit)(expr);
        }
        ControlFlow::Continue(())
    }
}

struct QueryFinder;

impl Visitor for QueryFinder {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

struct RelationVisitor<F>(F);

impl<F: FnMut(&ObjectName)> Visitor for RelationVisitor<F> {
    type Break = ();

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        (self.0)(name);
        ControlFlow::Continue(())
    }
}
