//! Offsets of frames in time: `RANGE BETWEEN INTERVAL '1 day' PRECEDING AND CURRENT ROW`.
//!
//! An interval is a cast of its text everywhere else ([`super::renamed_functions`]). As an offset the planner takes one only as it is
//! written, and so it is written again.

use datafusion::sql::sqlparser::ast::{
    DataType, Expr, Interval, NamedWindowDefinition, NamedWindowExpr, Select, Value,
    WindowFrameBound, WindowSpec, WindowType,
};

/// The offsets of the window that a function is called over.
pub(super) fn rewrite(expr: &mut Expr) {
    if let Expr::Function(function) = expr
        && let Some(WindowType::WindowSpec(spec)) = &mut function.over
    {
        rewrite_window(spec);
    }
}

/// The offsets of windows that have a name.
pub(super) fn rewrite_named(select: &mut Select) {
    for NamedWindowDefinition(_, window) in &mut select.named_window {
        if let NamedWindowExpr::WindowSpec(spec) = window {
            rewrite_window(spec);
        }
    }
}

fn rewrite_window(spec: &mut WindowSpec) {
    let Some(frame) = &mut spec.window_frame else {
        return;
    };
    for bound in std::iter::once(&mut frame.start_bound).chain(&mut frame.end_bound) {
        if let WindowFrameBound::Preceding(Some(offset)) | WindowFrameBound::Following(Some(offset)) =
            bound
            && let Some(value) = text_of(offset)
        {
            **offset = Expr::Interval(Interval {
                value: Box::new(value),
                leading_field: None,
                leading_precision: None,
                last_field: None,
                fractional_seconds_precision: None,
            });
        }
    }
}

/// The text that is cast to an interval.
fn text_of(offset: &Expr) -> Option<Expr> {
    match offset {
        Expr::Nested(inner) => text_of(inner),
        Expr::Cast {
            expr,
            data_type:
                DataType::Interval {
                    fields: None,
                    precision: None,
                },
            ..
        } => match expr.as_ref() {
            Expr::Value(value) if matches!(value.value, Value::SingleQuotedString(_)) => {
                Some(Expr::Value(value.clone()))
            }
            _ => None,
        },
        _ => None,
    }
}
