//! Intervals as keys: sorted, joined and grouped by their lengths.
//!
//! Equal intervals need not look alike, `24:00:00` and `1 day`. A group shows one of its own.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, Join, LogicalPlan, LogicalPlanBuilder, Projection, Sort, col,
};

use super::types::is_interval;
use crate::functions::interval_length;

/// A node whose keys are intervals, by their lengths.
pub(super) fn by_length(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Sort(sort) => Ok(sorted(sort)),
        LogicalPlan::Join(join) => Ok(joined(join)),
        LogicalPlan::Aggregate(aggregate) => grouped(aggregate),
        LogicalPlan::Distinct(distinct) => distinct_rows(distinct),
        other => Ok(Transformed::no(other)),
    }
}

/// Takes the length where an expression is an interval.
fn measure(key: &mut Expr, schema: &DFSchema) -> bool {
    let is_measured = is_interval(key, schema);
    if is_measured {
        *key = interval_length(std::mem::take(key));
    }
    is_measured
}

fn sorted(mut sort: Sort) -> Transformed<LogicalPlan> {
    let schema = Arc::clone(sort.input.schema());
    let mut is_changed = false;
    for key in &mut sort.expr {
        is_changed |= measure(&mut key.expr, &schema);
    }
    changed_if(is_changed, LogicalPlan::Sort(sort))
}

fn joined(mut join: Join) -> Transformed<LogicalPlan> {
    let schema = merge_schema(&[join.left.as_ref(), join.right.as_ref()]);
    let mut is_changed = false;
    for (left, right) in &mut join.on {
        is_changed |= measure(left, &schema) && measure(right, &schema);
    }
    changed_if(is_changed, LogicalPlan::Join(join))
}

fn changed_if(is_changed: bool, plan: LogicalPlan) -> Transformed<LogicalPlan> {
    match is_changed {
        true => Transformed::yes(plan),
        false => Transformed::no(plan),
    }
}

/// Groups by lengths, and gives each group the first of its intervals; the columns stay what they were.
fn grouped(aggregate: Aggregate) -> Result<Transformed<LogicalPlan>> {
    let input = Arc::clone(aggregate.input.schema());
    let is_key = |expr: &Expr| is_interval(expr, &input);
    let has_sets = matches!(aggregate.group_expr.as_slice(), [Expr::GroupingSet(_)]);
    if has_sets || !aggregate.group_expr.iter().any(is_key) {
        return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)));
    }
    let shown = Arc::clone(&aggregate.schema);
    let mut keys = Vec::new();
    let mut firsts = Vec::new();
    let mut names = Vec::new();
    for (place, key) in aggregate.group_expr.into_iter().enumerate() {
        if !is_interval(&key, &input) {
            names.push(None);
            keys.push(key);
            continue;
        }
        let name = format!("__interval_{place}");
        let first = first_value_udaf()
            .call(vec![key.clone()])
            .alias(name.clone());
        names.push(Some(name));
        firsts.push(first);
        keys.push(interval_length(key).alias(format!("__length_{place}")));
    }
    let mut computed = aggregate.aggr_expr;
    computed.extend(firsts);
    let inner = Aggregate::try_new(aggregate.input, keys, computed)?;
    let inner = LogicalPlan::Aggregate(inner);
    let columns = shown.iter().enumerate().map(|(place, (qualifier, field))| {
        let column = match names.get(place).cloned().flatten() {
            Some(name) => col(format!("\"{name}\"")),
            None => Expr::from(inner.schema().qualified_field(place)),
        };
        column.alias_qualified(qualifier.cloned(), field.name())
    });
    let columns: Vec<Expr> = columns.collect();
    Ok(Transformed::yes(LogicalPlan::Projection(
        Projection::try_new(columns, Arc::new(inner))?,
    )))
}

/// `DISTINCT` is grouping by all columns.
fn distinct_rows(distinct: Distinct) -> Result<Transformed<LogicalPlan>> {
    match distinct {
        Distinct::All(input) => {
            let schema = Arc::clone(input.schema());
            let columns: Vec<Expr> = schema.iter().map(Expr::from).collect();
            if !columns.iter().any(|column| is_interval(column, &schema)) {
                return Ok(Transformed::no(LogicalPlan::Distinct(Distinct::All(input))));
            }
            let plan = LogicalPlanBuilder::from(input).aggregate(columns, Vec::<Expr>::new())?;
            let LogicalPlan::Aggregate(aggregate) = plan.build()? else {
                return datafusion::common::internal_err!("grouping is an aggregate");
            };
            grouped(aggregate)
        }
        Distinct::On(mut on) => {
            let schema = Arc::clone(on.input.schema());
            let mut is_changed = false;
            for key in &mut on.on_expr {
                is_changed |= measure(key, &schema);
            }
            for sort in on.sort_expr.iter_mut().flatten() {
                is_changed |= measure(&mut sort.expr, &schema);
            }
            Ok(changed_if(
                is_changed,
                LogicalPlan::Distinct(Distinct::On(on)),
            ))
        }
    }
}
