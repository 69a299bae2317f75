//! How much of a subplan its places need.
//!
//! A join drops rows of one side whose keys the other side does not have, and its filter goes down through groups to the scans, if it is on the keys
//! of these. A place below such a join computes a share of the subplan only, and places with small shares cost less than the whole.

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{JoinType, Result};
use datafusion::logical_expr::{Expr, Join, LogicalPlan};

use crate::optimize::join_order::estimate;

/// The shares of `subplan` that its places compute, in sum.
pub(super) fn computed_shares(
    plan: &LogicalPlan,
    subplan: &LogicalPlan,
    place_count: usize,
) -> Result<f64> {
    let mut spared = 0.0;
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::Join(join) = node {
            spared += spared_by(join, subplan);
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(place_count as f64 - spared)
}

/// The shares that places on either side of a join do not compute.
fn spared_by(join: &Join, subplan: &LogicalPlan) -> f64 {
    // Which side loses the rows that have no partner.
    let (left, right) = match join.join_type {
        JoinType::Inner => (true, true),
        JoinType::LeftSemi => (true, false),
        JoinType::RightSemi => (false, true),
        _ => return 0.0,
    };
    let keys = || join.on.iter();
    let on_left = || {
        largest(keys().map(|(own, other)| spared_on(&join.left, own, &join.right, other, subplan)))
    };
    let on_right = || {
        largest(keys().map(|(other, own)| spared_on(&join.right, own, &join.left, other, subplan)))
    };
    let spared_left = if left { on_left() } else { 0.0 };
    let spared_right = if right { on_right() } else { 0.0 };
    spared_left + spared_right
}

fn largest(shares: impl Iterator<Item = f64>) -> f64 {
    shares.fold(0.0, f64::max)
}

/// The share of the groups on one side that have no partner on the other one, if that side is the subplan and the key is one of its groups.
fn spared_on(
    side: &LogicalPlan,
    key: &Expr,
    other_side: &LogicalPlan,
    other_key: &Expr,
    subplan: &LogicalPlan,
) -> f64 {
    let Expr::Column(column) = key else {
        return 0.0;
    };
    let position = side.schema().index_of_column(column);
    if !position.is_ok_and(|position| is_group_of(side, position, subplan)) {
        return 0.0;
    }
    let own = estimate(side).distinct(key).max(1.0);
    let others = estimate(other_side).distinct(other_key);
    (1.0 - others / own).max(0.0)
}

/// Whether a column of a plan is a group's key in `subplan`, with nothing between that stops filters.
fn is_group_of(plan: &LogicalPlan, position: usize, subplan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => {
            let source = projection.expr.get(position).cloned().map(Expr::unalias);
            let Some(Expr::Column(column)) = source else {
                return false;
            };
            let position = projection.input.schema().index_of_column(&column);
            position.is_ok_and(|position| is_group_of(&projection.input, position, subplan))
        }
        LogicalPlan::SubqueryAlias(alias) => is_group_of(&alias.input, position, subplan),
        LogicalPlan::Filter(filter) => is_group_of(&filter.input, position, subplan),
        LogicalPlan::Aggregate(aggregate) => {
            position < aggregate.group_expr.len() && plan == subplan
        }
        _ => false,
    }
}
