//! `ARRAY(SELECT …)`: the values of a query as an array, which is empty if there are none. The planner knows `array_agg`, which is NULL then.

use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArguments, SelectItem, SetExpr, TableFactor,
};
use quire_functions::ARRAY_OF_ROWS;

use super::calls::call;
use super::names::folded;
use super::parse::parse_query;

/// Makes a scalar subquery of it. In parentheses, so that `ANY` looks for a value in the array, and not for an array among the rows.
pub(super) fn rewrite(expr: &mut Expr) {
    if let Expr::Function(function) = expr
        && let Some(array) = array_of(function)
    {
        *expr = Expr::Nested(Box::new(array));
    }
}

fn array_of(function: &Function) -> Option<Expr> {
    let [name] = function.name.0.as_slice() else {
        return None;
    };
    let FunctionArguments::Subquery(values) = &function.args else {
        return None;
    };
    if folded(name.as_ident()?) != "array" {
        return None;
    }
    let text = "SELECT array_agg(__value) FROM (SELECT 1) AS __rows (__value)";
    let mut query = parse_query(text).ok()?;
    let SetExpr::Select(select) = query.body.as_mut() else {
        return None;
    };
    let [SelectItem::UnnamedExpr(collected)] = select.projection.as_mut_slice() else {
        return None;
    };
    *collected = call(ARRAY_OF_ROWS, vec![collected.clone()]);
    let TableFactor::Derived { subquery, .. } = &mut select.from.first_mut()?.relation else {
        return None;
    };
    subquery.clone_from(values);
    Some(Expr::Subquery(query))
}
