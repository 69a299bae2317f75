//! Conditions that a join's keys let say of the other side, too.
//!
//! Of `a.x = b.y AND 10 / a.x > 1` DataFusion infers `10 / b.y > 1`, and has it asked below the join, of rows that have no partner. There it may
//! fail, where the statement does not. While such a condition is pushed down, the keys are no columns, and nothing is inferred of them.

use std::sync::Arc;

use datafusion::common::Column;
use datafusion::logical_expr::utils::{merge_schema, split_conjunction};
use datafusion::logical_expr::{Expr, Join, LogicalPlan};

use crate::scan::is_total;

/// What the keys are called meanwhile.
const HIDDEN: &str = "__hidden_key";

/// Whether a filter above a join, or the join's own, may fail and has a column for which a key has another one.
pub(super) fn may_fail(plan: &LogicalPlan) -> bool {
    let (join, above) = match plan {
        LogicalPlan::Join(join) => (join, None),
        LogicalPlan::Filter(filter) => match filter.input.as_ref() {
            LogicalPlan::Join(join) => (join, Some(&filter.predicate)),
            _ => return false,
        },
        _ => return false,
    };
    let keys = key_columns(join);
    if keys.is_empty() {
        return false;
    }
    let schema = merge_schema(&[&join.left, &join.right]);
    let conditions = above.into_iter().chain(&join.filter);
    let mut predicates = conditions.flat_map(split_conjunction);
    predicates.any(|predicate| {
        let columns = predicate.column_refs();
        keys.iter().any(|key| columns.contains(key)) && !is_total(predicate, &schema)
    })
}

fn key_columns(join: &Join) -> Vec<&Column> {
    let pairs = join.on.iter();
    let pairs = pairs.filter_map(|(left, right)| Some([left.try_as_col()?, right.try_as_col()?]));
    pairs.flatten().collect()
}

/// The plan with keys that are no columns.
pub(super) fn with_hidden_keys(plan: LogicalPlan) -> LogicalPlan {
    with_keys(plan, |key| key.alias(HIDDEN))
}

/// The plan with its keys again.
pub(super) fn with_shown_keys(plan: LogicalPlan) -> LogicalPlan {
    with_keys(plan, Expr::unalias)
}

fn with_keys(plan: LogicalPlan, change: fn(Expr) -> Expr) -> LogicalPlan {
    match plan {
        LogicalPlan::Join(mut join) => {
            let keys = join.on.into_iter();
            join.on = keys
                .map(|(left, right)| (change(left), change(right)))
                .collect();
            LogicalPlan::Join(join)
        }
        LogicalPlan::Filter(mut filter) => {
            let input = with_keys(Arc::unwrap_or_clone(filter.input), change);
            filter.input = Arc::new(input);
            LogicalPlan::Filter(filter)
        }
        other => other,
    }
}
