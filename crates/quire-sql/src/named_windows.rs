//! Windows that build on windows with a name: `OVER (w ROWS 2 PRECEDING)` with `WINDOW w AS (PARTITION BY a ORDER BY b)`.
//!
//! The planner reads past the name. Here what the name stands for is written out. `OVER w` alone is the planner's.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, NamedWindowDefinition, NamedWindowExpr, OrderByKind, Query, Select, SetExpr,
    VisitMut, WindowSpec, WindowType,
};
use quire_error::Error;

use super::names::folded;
use super::walk::{change_own_expressions, look_at_own_expressions};

/// Checks the windows of a `SELECT` that build on others.
pub(super) fn check(select: &Select) -> Result<(), Error> {
    for (number, NamedWindowDefinition(_, window)) in select.named_window.iter().enumerate() {
        if let NamedWindowExpr::WindowSpec(spec) = window {
            check_spec(spec, select.named_window.get(..number).unwrap_or_default())?;
        }
    }
    let mut checked = Ok(());
    let _ = look_at_own_expressions(&select.projection, |expr| {
        if let Expr::Function(function) = expr
            && let Some(WindowType::WindowSpec(spec)) = &function.over
        {
            checked = check_spec(spec, &select.named_window);
        }
        match checked {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    checked
}

fn check_spec(spec: &WindowSpec, known: &[NamedWindowDefinition]) -> Result<(), Error> {
    let Some(name) = &spec.window_name else {
        return Ok(());
    };
    let shown = folded(name);
    let refusal = |text: String| Err(Error::new("42P20", text));
    match base_of(name, known) {
        None => Err(Error::new(
            "42704",
            format!("window \"{shown}\" does not exist"),
        )),
        Some(_) if !spec.partition_by.is_empty() => refusal(format!(
            "cannot override PARTITION BY clause of window \"{shown}\""
        )),
        Some(base) if !spec.order_by.is_empty() && !base.order_by.is_empty() => refusal(format!(
            "cannot override ORDER BY clause of window \"{shown}\""
        )),
        Some(base) if base.window_frame.is_some() => refusal(format!(
            "cannot copy window \"{shown}\" because it has a frame clause"
        )),
        Some(_) => Ok(()),
    }
}

/// What a name stands for.
fn base_of(name: &Ident, known: &[NamedWindowDefinition]) -> Option<WindowSpec> {
    let named = |(_, NamedWindowDefinition(known, _)): &(usize, &NamedWindowDefinition)| {
        folded(known) == folded(name)
    };
    let (number, NamedWindowDefinition(_, window)) = known.iter().enumerate().find(named)?;
    // A window builds on those before it.
    let before = known.get(..number).unwrap_or_default();
    match window {
        NamedWindowExpr::NamedWindow(other) => base_of(other, before),
        NamedWindowExpr::WindowSpec(spec) => {
            let mut spec = spec.clone();
            write_out(&mut spec, before);
            Some(spec)
        }
    }
}

fn write_out(spec: &mut WindowSpec, known: &[NamedWindowDefinition]) {
    let Some(base) = spec
        .window_name
        .as_ref()
        .and_then(|name| base_of(name, known))
    else {
        return;
    };
    spec.window_name = None;
    spec.partition_by = base.partition_by;
    if spec.order_by.is_empty() {
        spec.order_by = base.order_by;
    }
}

/// Writes out what the windows of a query's `SELECT` and of its `ORDER BY` build on.
pub(super) fn rewrite_query(query: &mut Query) {
    let SetExpr::Select(select) = query.body.as_mut() else {
        return;
    };
    if !select.named_window.is_empty()
        && let Some(order_by) = &mut query.order_by
        && let OrderByKind::Expressions(keys) = &mut order_by.kind
    {
        rewrite_in(keys, &select.named_window);
    }
}

/// Writes out what the windows of a `SELECT` build on.
pub(super) fn rewrite(select: &mut Select) {
    if select.named_window.is_empty() {
        return;
    }
    let known = select.named_window.clone();
    rewrite_in(&mut select.projection, &known);
    for (number, NamedWindowDefinition(_, window)) in select.named_window.iter_mut().enumerate() {
        if let NamedWindowExpr::WindowSpec(spec) = window {
            write_out(spec, known.get(..number).unwrap_or_default());
        }
    }
}

fn rewrite_in(tree: &mut impl VisitMut, known: &[NamedWindowDefinition]) {
    change_own_expressions(tree, |expr| {
        if let Expr::Function(function) = expr
            && let Some(WindowType::WindowSpec(spec)) = &mut function.over
        {
            write_out(spec, known);
        }
    });
}
