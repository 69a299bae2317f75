//! What single operators need once types are settled, in one walk: [`super::group_dependencies`], [`super::idle_keys`],
//! [`super::union_names`], [`super::values_types`].

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{Distinct, JoinConstraint, LogicalPlan};

use super::{group_dependencies, idle_keys, union_names, values_types};

pub(super) fn settle_nodes(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut is_changed = false;
    let settled = plan.transform_up_with_subqueries(|node| {
        let node = settle(node)?;
        is_changed |= node.transformed;
        match (is_changed, &node.data) {
            // What is above must know; a union has looked.
            (false, _) | (_, LogicalPlan::Union(_)) => Ok(node),
            (true, _) => node.map_data(LogicalPlan::recompute_schema),
        }
    })?;
    Ok(settled.data)
}

fn settle(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Aggregate(aggregate) => {
            idle_keys::of_aggregates(aggregate)?.transform_data(group_dependencies::of_keys)
        }
        LogicalPlan::Distinct(Distinct::On(distinct)) => {
            idle_keys::of_distinct(distinct).transform_data(group_dependencies::of_keys)
        }
        LogicalPlan::Distinct(distinct) => {
            group_dependencies::of_keys(LogicalPlan::Distinct(distinct))
        }
        LogicalPlan::Union(union) => union_names::rename_branches(union),
        LogicalPlan::Values(values) => values_types::settle(values),
        LogicalPlan::Join(mut join) => {
            // Names have been found, and keys of USING would have to be columns. Its columns stay what they are.
            join.join_constraint = JoinConstraint::On;
            Ok(Transformed::no(LogicalPlan::Join(join)))
        }
        other => Ok(Transformed::no(other)),
    }
}
