//! The columns of `WITH RECURSIVE`: their types are those of the term that does not read the query itself.
//!
//! The planner casts the other term to them, and so would drop the digits of `n + 1.5` where `n` began as `1`. What a statement itself
//! casts comes here cast twice, so that a cast to another type around a column is the planner's.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, RecursiveQuery};

use quire_functions::SUFFIX_MARK;

use super::kinds::{StrictTypeKind, type_name};
use super::{refusal, unmatched};
use crate::optimize::settle_types;

/// Refuses a recursive term whose rows are of other types than the first ones.
pub(super) fn check(query: &RecursiveQuery) -> Result<()> {
    for column in 0..query.static_term.schema().fields().len() {
        let first = type_of_column(&query.static_term, column)?;
        let later = match cast_column(&query.recursive_term, column) {
            Some((expr, schema)) => type_of(expr, schema)?,
            None => type_of_column(&query.recursive_term, column)?,
        };
        let (Some(first), Some(later)) = (first, later) else {
            continue;
        };
        let (known, found) = (StrictTypeKind::of(&first), StrictTypeKind::of(&later));
        if !known.agrees(found) {
            return Err(unmatched("UNION", &type_name(&first), &type_name(&later)));
        }
        if !takes(&first, &later) {
            return Err(refusal(
                "42804",
                format!(
                    "recursive query \"{}\" column {} has type {} in non-recursive term but type {} overall",
                    query.name.split(SUFFIX_MARK).next().unwrap_or_default(),
                    column + 1,
                    type_name(&first),
                    overall_name(&later)
                ),
                "Cast the output of the non-recursive term to the correct type.",
            ));
        }
    }
    Ok(())
}

/// Whether all values of the second type are values of the first, as PostgreSQL chooses a type for both. Integers are of one size here,
/// since those that are written out have none.
fn takes(first: &DataType, later: &DataType) -> bool {
    use DataType::{Date32, Date64, Decimal32, Decimal64, Decimal128, Decimal256, Float32};
    match (first, later) {
        (
            Decimal32(_, scale) | Decimal64(_, scale) | Decimal128(_, scale) | Decimal256(_, scale),
            Decimal32(_, found) | Decimal64(_, found) | Decimal128(_, found) | Decimal256(_, found),
        ) => scale >= found,
        (Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..), later) => {
            !later.is_floating()
        }
        (Float32, DataType::Float64) => false,
        (Date32 | Date64, later) => !matches!(later, DataType::Timestamp(..)),
        (DataType::Timestamp(_, None), later) => !matches!(later, DataType::Timestamp(_, Some(_))),
        (first, later) => StrictTypeKind::of(later).fits(StrictTypeKind::of(first)),
    }
}

/// A decimal that is more exact than another makes one of any digits in PostgreSQL.
fn overall_name(later: &DataType) -> String {
    if later.is_decimal() {
        "numeric".to_owned()
    } else {
        type_name(later)
    }
}

/// What the planner has cast to make a column, with the columns that it is made of.
fn cast_column(term: &LogicalPlan, column: usize) -> Option<(&Expr, &DFSchema)> {
    let LogicalPlan::Projection(projection) = term else {
        return None;
    };
    let mut expr = projection.expr.get(column)?;
    while let Expr::Alias(alias) = expr {
        expr = &alias.expr;
    }
    let Expr::Cast(Cast { expr, .. }) = expr else {
        return None;
    };
    Some((expr, projection.input.schema()))
}

/// The type of a column; nothing if it is open.
fn type_of_column(term: &LogicalPlan, column: usize) -> Result<Option<DataType>> {
    if let LogicalPlan::Projection(projection) = term
        && let Some(expr) = projection.expr.get(column)
    {
        return type_of(expr, projection.input.schema());
    }
    let field = term.schema().field(column);
    Ok(Some(field.data_type().clone()).filter(|found| *found != DataType::Null))
}

/// The type that an expression is going to have.
fn type_of(expr: &Expr, schema: &DFSchema) -> Result<Option<DataType>> {
    if StrictTypeKind::of_expression(expr, schema)? == StrictTypeKind::Unknown {
        return Ok(None);
    }
    settle_types(expr.clone(), schema)?
        .get_type(schema)
        .map(Some)
}
