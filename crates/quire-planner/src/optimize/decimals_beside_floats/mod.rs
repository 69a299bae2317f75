//! Where a decimal meets a floating point number, both are DOUBLE, as in PostgreSQL.
//!
//! DataFusion makes decimals of 15 places of them: `d > 0.0` would be false for a DOUBLE of 1e-20, and
//! an error for 1e300. Numbers with a point are decimals here, so this concerns every such comparison.
//! Runs before types are settled, so that DataFusion has nothing left to decide.

mod rows;

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Decimal128Type, DecimalType};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Operator, Subquery, cast,
};

use super::own_names::keeping_names;

/// Functions whose arguments, and their result, are of one type.
const OF_ONE_TYPE: [&str; 6] = ["coalesce", "greatest", "ifnull", "least", "nullif", "nvl"];

pub(super) fn widen_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let plan = rows::widen(plan)?;
    let schema = merge_schema(&plan.data.inputs());
    plan.transform_data(|plan| keeping_names(plan, &|part| widen_expression(part, &schema)))?
        .map_data(LogicalPlan::recompute_schema)
}

pub(super) fn widen_expression(
    mut expression: Expr,
    schema: &DFSchema,
) -> Result<Transformed<Expr>> {
    let is_changed = match &mut expression {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_numeric(*op) => {
            widen([left.as_mut(), right.as_mut()], schema)
        }
        Expr::Between(between) => {
            let (low, high) = (between.low.as_mut(), between.high.as_mut());
            widen([between.expr.as_mut(), low, high], schema)
        }
        Expr::InList(list) => {
            let tested = std::iter::once(list.expr.as_mut());
            widen(tested.chain(list.list.iter_mut()), schema)
        }
        Expr::InSubquery(test) => widen_tested(&mut test.expr, &mut test.subquery, schema)?,
        Expr::SetComparison(test) => widen_tested(&mut test.expr, &mut test.subquery, schema)?,
        Expr::Case(case) => {
            let conditions = case
                .when_then_expr
                .iter_mut()
                .map(|(when, _)| when.as_mut());
            let is_compared = match case.expr.as_deref_mut() {
                Some(tested) => widen(std::iter::once(tested).chain(conditions), schema),
                None => false,
            };
            let results = case
                .when_then_expr
                .iter_mut()
                .map(|(_, then)| then.as_mut());
            let otherwise = case.else_expr.as_deref_mut();
            widen(results.chain(otherwise), schema) | is_compared
        }
        Expr::ScalarFunction(call) if OF_ONE_TYPE.contains(&call.func.name()) => {
            widen(&mut call.args, schema)
        }
        _ => false,
    };
    Ok(if is_changed {
        Transformed::yes(expression)
    } else {
        Transformed::no(expression)
    })
}

/// A value and the rows of a subquery that it is compared with.
fn widen_tested(tested: &mut Expr, subquery: &mut Subquery, schema: &DFSchema) -> Result<bool> {
    let rows = subquery.subquery.schema();
    let (Ok(data_type), [found]) = (tested.get_type(schema), rows.fields().as_ref()) else {
        return Ok(false);
    };
    if !is_mixed([&data_type, found.data_type()].into_iter()) {
        return Ok(false);
    }
    if data_type.is_decimal() {
        *tested = as_double(std::mem::take(tested));
        return Ok(true);
    }
    let name = found.name().clone();
    let doubles = rows.columns().into_iter();
    let doubles = doubles.map(|column| as_double(Expr::Column(column)).alias(name.clone()));
    let plan = LogicalPlanBuilder::from(subquery.subquery.as_ref().clone()).project(doubles)?;
    subquery.subquery = Arc::new(plan.build()?);
    Ok(true)
}

fn is_numeric(operator: Operator) -> bool {
    use Operator::{
        Divide, Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, Minus, Modulo, Multiply,
        NotEq, Plus,
    };
    matches!(
        operator,
        Eq | NotEq
            | Lt
            | LtEq
            | Gt
            | GtEq
            | IsDistinctFrom
            | IsNotDistinctFrom
            | Plus
            | Minus
            | Multiply
            | Divide
            | Modulo
    )
}

/// Makes the decimals among `parts` DOUBLE when there is a float among them; says whether it did.
fn widen<'e>(parts: impl IntoIterator<Item = &'e mut Expr>, schema: &DFSchema) -> bool {
    let mut parts: Vec<&mut Expr> = parts.into_iter().collect();
    // An expression without a type is refused where types are settled, with a better message.
    let types = parts.iter().map(|part| part.get_type(schema).ok());
    let types: Vec<Option<DataType>> = types.collect();
    if !is_mixed(types.iter().flatten()) {
        return false;
    }
    for (part, data_type) in parts.iter_mut().zip(types) {
        if data_type.is_some_and(|data_type| data_type.is_decimal()) {
            **part = as_double(std::mem::take(*part));
        }
    }
    true
}

/// Whether floats and decimals are among the types.
fn is_mixed<'t>(types: impl Iterator<Item = &'t DataType> + Clone) -> bool {
    types.clone().any(DataType::is_floating) && types.clone().any(DataType::is_decimal)
}

/// A decimal expression as a DOUBLE. A number that is written out is the double nearest to it.
fn as_double(expression: Expr) -> Expr {
    if let Expr::Literal(ScalarValue::Decimal128(Some(value), precision, scale), _) = &expression
        && let Ok(value) = Decimal128Type::format_decimal(*value, *precision, *scale).parse::<f64>()
    {
        return Expr::Literal(ScalarValue::Float64(Some(value)), None);
    }
    cast(expression, DataType::Float64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_written_number_becomes_the_nearest_double() {
        // 0.1 and 2^53 + 1 are no doubles; the second is a tie, which goes to the even neighbour.
        for (value, scale, nearest) in [
            (1, 1, 0.1),
            (9_007_199_254_740_993, 0, 9_007_199_254_740_992.0),
        ] {
            let written = Expr::Literal(ScalarValue::Decimal128(Some(value), 20, scale), None);
            let Expr::Literal(ScalarValue::Float64(Some(double)), _) = as_double(written) else {
                panic!("not a double");
            };
            assert_eq!(double, nearest);
        }
    }
}
