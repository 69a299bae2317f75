//! Columns that come from several places: the rows of VALUES, the inputs of a union, the keys of a join.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{
    Cast, Expr, ExprSchemable, Join, LogicalPlan, LogicalPlanBuilder, Union, Values,
};

use super::{as_double, is_mixed, widen as widen_parts};

pub(super) fn widen(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Values(values) => widen_values(values),
        LogicalPlan::Union(union) => widen_union(union),
        LogicalPlan::Join(join) => Ok(widen_join(join)),
        other => Ok(Transformed::no(other)),
    }
}

/// The planner has cast all values of a column to one type already: floats to decimals, where there
/// were decimals. Such a column is made again from what was cast.
fn widen_values(plan: Values) -> Result<Transformed<LogicalPlan>> {
    let schema = DFSchema::empty();
    let mut values = plan.values.clone();
    let mut is_changed = false;
    for column in 0..plan.schema.fields().len() {
        if !plan.schema.field(column).data_type().is_decimal() {
            continue;
        }
        let written = plan.values.iter().map(|row| before_cast(&row[column]));
        let types = written.clone().map(|value| value.get_type(&schema).ok());
        let types: Vec<DataType> = types.flatten().collect();
        if !is_mixed(types.iter()) {
            continue;
        }
        let doubles: Vec<Expr> = written.map(|value| as_double(value.clone())).collect();
        for (row, double) in values.iter_mut().zip(doubles) {
            row[column] = double;
        }
        is_changed = true;
    }
    if !is_changed {
        return Ok(Transformed::no(LogicalPlan::Values(plan)));
    }
    let plan = LogicalPlanBuilder::values(values)?.build()?;
    Ok(Transformed::yes(plan))
}

fn before_cast(value: &Expr) -> &Expr {
    match value {
        Expr::Cast(Cast { expr, field }) if field.data_type().is_decimal() => expr,
        other => other,
    }
}

fn widen_union(union: Union) -> Result<Transformed<LogicalPlan>> {
    let is_mixed_column = |column: usize| {
        let fields = union
            .inputs
            .iter()
            .map(|input| input.schema().field(column).data_type());
        is_mixed(fields)
    };
    let mixed: Vec<usize> = (0..union.schema.fields().len())
        .filter(|column| is_mixed_column(*column))
        .collect();
    if mixed.is_empty() {
        return Ok(Transformed::no(LogicalPlan::Union(union)));
    }
    let mut inputs = Vec::with_capacity(union.inputs.len());
    for input in &union.inputs {
        let columns = input.schema().columns().into_iter().enumerate();
        let columns = columns.map(|(index, column)| {
            let is_decimal = input.schema().field(index).data_type().is_decimal();
            if mixed.contains(&index) && is_decimal {
                let name = column.name.clone();
                as_double(Expr::Column(column)).alias(name)
            } else {
                Expr::Column(column)
            }
        });
        let widened = LogicalPlanBuilder::from(input.as_ref().clone()).project(columns)?;
        inputs.push(Arc::new(widened.build()?));
    }
    let union = Union::try_new_with_loose_types(inputs)?;
    Ok(Transformed::yes(LogicalPlan::Union(union)))
}

fn widen_join(mut join: Join) -> Transformed<LogicalPlan> {
    let mut schema = join.left.schema().as_ref().clone();
    schema.merge(join.right.schema());
    let mut is_changed = false;
    for (left, right) in &mut join.on {
        is_changed |= widen_parts([left, right], &schema);
    }
    if is_changed {
        Transformed::yes(LogicalPlan::Join(join))
    } else {
        Transformed::no(LogicalPlan::Join(join))
    }
}
