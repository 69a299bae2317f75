//! `generate_series(first, last, step)` over points in time, which is told from one over numbers by its step.

use datafusion::sql::sqlparser::ast::{
    DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, TableAlias,
    TableAliasColumnDef, TableFactor, Value,
};

use super::calls::call;
use super::names::last_part;

const NAME: &str = "generate_series";

/// Gives the call the name of the function for points in time.
pub(super) fn rename(expr: &mut Expr) {
    if let Expr::Function(function) = expr
        && let Some(arguments) = series_of_function(function)
    {
        *expr = call("time_series", arguments);
    }
}

/// `FROM generate_series(…) AS g` → `FROM unnest(time_series(…)) AS g(g)`
pub(super) fn as_rows(factor: &mut TableFactor) {
    let TableFactor::Table {
        name,
        alias,
        args: Some(arguments),
        with_ordinality: false,
        ..
    } = factor
    else {
        return;
    };
    if last_part(name).as_deref() != Some(NAME) {
        return;
    }
    let Some(arguments) = series(&arguments.args) else {
        return;
    };
    let mut alias = alias.take().unwrap_or_else(|| TableAlias {
        explicit: true,
        name: Ident::new(NAME),
        columns: Vec::new(),
        at: None,
    });
    if alias.columns.is_empty() {
        let name = alias.name.clone();
        alias.columns.push(TableAliasColumnDef {
            name,
            data_type: None,
        });
    }
    *factor = TableFactor::UNNEST {
        alias: Some(alias),
        array_exprs: vec![call("time_series", arguments)],
        with_offset: false,
        with_offset_alias: None,
        with_ordinality: false,
    };
}

fn series_of_function(function: &Function) -> Option<Vec<Expr>> {
    let FunctionArguments::List(list) = &function.args else {
        return None;
    };
    match last_part(&function.name).as_deref() {
        Some(NAME) => series(&list.args),
        _ => None,
    }
}

/// The arguments, if the step is an interval.
fn series(arguments: &[FunctionArg]) -> Option<Vec<Expr>> {
    let plain = arguments.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    });
    let arguments: Vec<Expr> = plain.collect::<Option<_>>()?;
    match arguments.as_slice() {
        [_, _, step] if is_interval(step) => Some(arguments),
        _ => None,
    }
}

fn is_interval(step: &Expr) -> bool {
    match step {
        Expr::Interval(_) => true,
        Expr::Value(value) => matches!(value.value, Value::SingleQuotedString(_)),
        Expr::Cast { data_type, .. } => matches!(data_type, DataType::Interval { .. }),
        Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } => is_interval(inner),
        Expr::BinaryOp { left, right, .. } => is_interval(left) || is_interval(right),
        _ => false,
    }
}
