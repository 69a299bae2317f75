//! Intervals as keys: sorted, joined and grouped by their lengths.
//!
//! Equal intervals need not look alike, `24:00:00` and `1 day`. A group shows one of its own.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema, Result};
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::utils::{grouping_set_to_exprlist, merge_schema};
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, ExprFunctionExt, Join, LogicalPlan, LogicalPlanBuilder, Projection,
    Sort, WindowFunctionDefinition, col,
};
use quire_functions::interval_length;

use super::types::is_interval;

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
    if is_changed {
        Transformed::yes(plan)
    } else {
        Transformed::no(plan)
    }
}

/// Groups by lengths, and gives each group the first of its intervals; the columns stay what they were.
fn grouped(mut aggregate: Aggregate) -> Result<Transformed<LogicalPlan>> {
    let input = Arc::clone(aggregate.input.schema());
    let is_key = |expr: &Expr| is_interval(expr, &input);
    if matches!(aggregate.group_expr.as_slice(), [Expr::GroupingSet(_)]) {
        let members = grouping_set_to_exprlist(&aggregate.group_expr)?;
        let columns = members.into_iter().filter_map(|member| match member {
            Expr::Column(column) if is_key(&Expr::Column(column.clone())) => Some(column.clone()),
            _ => None,
        });
        let columns: Vec<Column> = columns.collect();
        if columns.is_empty() {
            return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)));
        }
        aggregate.input = Arc::new(one_of_each_length(aggregate.input, &columns)?);
        return Ok(Transformed::yes(LogicalPlan::Aggregate(aggregate)));
    }
    if !aggregate.group_expr.iter().any(is_key) {
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

/// The rows of a plan, in which equal intervals of some columns look alike.
fn one_of_each_length(input: Arc<LogicalPlan>, columns: &[Column]) -> Result<LogicalPlan> {
    let shown: Vec<Column> = input.schema().columns();
    let first_of = |column: &Column| {
        let value = Expr::Column(column.clone());
        let function = WindowFunctionDefinition::AggregateUDF(first_value_udaf());
        let call = Expr::from(WindowFunction::new(function, vec![value.clone()]));
        let first = call.partition_by(vec![interval_length(value)]).build();
        Ok(first?.alias(format!("__first_{}", column.flat_name())))
    };
    let firsts = columns.iter().map(first_of).collect::<Result<Vec<_>>>()?;
    let outputs = shown.into_iter().map(|column| {
        if columns.contains(&column) {
            let name = format!("__first_{}", column.flat_name());
            let first = Expr::Column(Column::new_unqualified(name));
            first.alias_qualified(column.relation, column.name)
        } else {
            Expr::Column(column)
        }
    });
    let outputs: Vec<Expr> = outputs.collect();
    LogicalPlanBuilder::from(input)
        .window(firsts)?
        .project(outputs)?
        .build()
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
