//! What can be assigned to a column of which type: the assignment casts of PostgreSQL's `pg_cast`, and every type to text.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan};
use quire_error::Error;

use super::kinds::{StrictTypeKind, type_name};

/// Refuses a column of a query as the new values of a table's column called `name`.
pub fn check_assignment(
    rows: &LogicalPlan,
    column: usize,
    name: &str,
    to_type: &DataType,
) -> Result<(), Error> {
    let to = StrictTypeKind::of(to_type);
    if kinds_of(rows, column)?
        .into_iter()
        .all(|from| fits(from, to))
    {
        Ok(())
    } else {
        let from = type_name(rows.schema().field(column).data_type());
        let text = format!(
            "column \"{name}\" is of type {} but expression is of type {from}",
            type_name(to_type)
        );
        Err(Error::new("42804", text).with_hint("You will need to rewrite or cast the expression."))
    }
}

/// Whether an expression can be assigned.
pub fn is_assignable(from: &Expr, schema: &DFSchema, to_type: &DataType) -> bool {
    StrictTypeKind::of_expression(from, schema)
        .is_ok_and(|from| fits(from, StrictTypeKind::of(to_type)))
}

fn fits(from: StrictTypeKind, to: StrictTypeKind) -> bool {
    from.fits(to)
        || to == StrictTypeKind::Text
        || matches!(
            (from, to),
            (StrictTypeKind::Number, StrictTypeKind::Integer)
                | (
                    StrictTypeKind::Timestamp,
                    StrictTypeKind::Date | StrictTypeKind::Time
                )
                | (StrictTypeKind::Interval, StrictTypeKind::Time)
        )
}

/// The kinds of a column's values: those of `VALUES` may differ, before they are settled.
fn kinds_of(plan: &LogicalPlan, column: usize) -> Result<Vec<StrictTypeKind>> {
    let inputs = plan.inputs();
    Ok(match (plan, inputs.as_slice()) {
        (LogicalPlan::Projection(node), [input]) => {
            let Some(expr) = node.expr.get(column) else {
                return Ok(Vec::new());
            };
            let expr = unaliased(expr);
            let place = expr.try_as_col();
            match place.and_then(|place| input.schema().maybe_index_of_column(place)) {
                Some(place) => kinds_of(input, place)?,
                None => vec![StrictTypeKind::of_expression(expr, input.schema())?],
            }
        }
        (LogicalPlan::Values(values), _) => {
            let cells = values.values.iter().filter_map(|row| row.get(column));
            cells
                .map(|cell| StrictTypeKind::of_expression(cell, &values.schema))
                .collect::<Result<_>>()?
        }
        (
            LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::Filter(_)
            | LogicalPlan::Sort(_)
            | LogicalPlan::Limit(_)
            | LogicalPlan::Distinct(Distinct::All(_)),
            [input],
        ) => kinds_of(input, column)?,
        _ => vec![StrictTypeKind::of(plan.schema().field(column).data_type())],
    })
}

fn unaliased(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => unaliased(&alias.expr),
        other => other,
    }
}
