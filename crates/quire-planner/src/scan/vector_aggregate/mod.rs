//! Aggregation of stored integers: a vector of 1,024 rows at a time from the scan to the totals, without Arrow arrays.
//!
//! A partial aggregation over a scan, also through projections, is taken if its group keys are columns with few values, expressions over one text of few
//! values, or one integer column, and its aggregates count, sum up, average or compare integers whose bounds prove that nothing overflows on the way. All else stays as it is.

mod aggregates;
mod coded;
mod enumeration_view;
mod exec;
mod fold;
mod input;
mod key_value;
mod keys;
mod program;
mod rest;
mod slot_table;
mod states;
mod window;

use std::sync::{Arc, OnceLock};

use datafusion::common::Result;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::{ExecutionPlan, InputOrderMode};

use aggregates::VectorAggregates;
pub(crate) use exec::VectorAggregateExec;
use exec::{PlanRewrite, VectorStandIn};
use fold::VectorAggregation;
use input::AggregateInput;
use keys::{GroupKey, vector_keys};

/// What takes the place of an aggregation; nothing if it stays.
///
/// `for_rest` may replace the operator that aggregates what does not come as vectors.
pub(crate) fn vector_aggregate(
    plan: &Arc<dyn ExecutionPlan>,
    for_rest: PlanRewrite,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(aggregate) = plan.downcast_ref::<AggregateExec>() else {
        return Ok(None);
    };
    let Some(aggregation) = aggregation_of(aggregate) else {
        return Ok(None);
    };
    match aggregate.mode() {
        AggregateMode::Partial => Ok(of_partial(aggregate.clone(), aggregation, for_rest)),
        AggregateMode::Single => of_single(aggregate, aggregation, for_rest),
        _ => Ok(None),
    }
}

/// What an aggregation computes on vectors, if it can.
fn aggregation_of(aggregate: &AggregateExec) -> Option<VectorAggregation> {
    let group_by = aggregate.group_expr();
    let is_plain = (group_by.is_empty() || group_by.is_single())
        && !group_by.has_grouping_set()
        && aggregate.filter_expr().iter().all(Option::is_none)
        && aggregate.limit_options().is_none()
        && aggregate.dynamic_expressions_produced().is_empty()
        && *aggregate.input_order_mode() == InputOrderMode::Linear;
    let input = AggregateInput::of(aggregate.input()).filter(|_| is_plain)?;
    if !input.scan.aggregates_vectors || input.scan.limit.is_some() {
        return None;
    }
    let keys = group_by.expr().iter();
    let keys = keys
        .map(|(expr, _)| GroupKey::of(&input, expr))
        .collect::<Option<Vec<_>>>()?;
    let keys = vector_keys(keys)?;
    let mut aggregates = VectorAggregates::default();
    for aggregate in aggregate.aggr_expr() {
        aggregates.add(&input, aggregate)?;
    }
    Some(VectorAggregation { keys, aggregates })
}

fn of_partial(
    aggregate: AggregateExec,
    aggregation: VectorAggregation,
    for_rest: PlanRewrite,
) -> Option<Arc<dyn ExecutionPlan>> {
    let input = AggregateInput::of(aggregate.input())?;
    let projections = input
        .projections
        .iter()
        .map(|one| Arc::clone(*one))
        .collect();
    let leaf = Arc::clone(input.leaf);
    Some(Arc::new(VectorAggregateExec::new(VectorStandIn {
        aggregate: Arc::new(aggregate),
        projections,
        leaf,
        aggregation,
        for_rest,
        scan: Arc::new(OnceLock::new()),
    })))
}

/// An aggregation in one step becomes one in two.
fn of_single(
    aggregate: &AggregateExec,
    aggregation: VectorAggregation,
    for_rest: PlanRewrite,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let partial = AggregateExec::try_new(
        AggregateMode::Partial,
        aggregate.group_expr().clone(),
        aggregate.aggr_expr().to_vec(),
        aggregate.filter_expr().to_vec(),
        Arc::clone(aggregate.input()),
        aggregate.input_schema(),
    )?;
    let Some(partial) = of_partial(partial, aggregation, for_rest) else {
        return Ok(None);
    };
    let last = AggregateExec::try_new(
        AggregateMode::Final,
        aggregate.group_expr().as_final(),
        aggregate.aggr_expr().to_vec(),
        aggregate.filter_expr().to_vec(),
        partial,
        aggregate.input_schema(),
    )?;
    let is_same = last.schema() == aggregate.schema();
    Ok(is_same.then(|| Arc::new(last) as Arc<dyn ExecutionPlan>))
}
