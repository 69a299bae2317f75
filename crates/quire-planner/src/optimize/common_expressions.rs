//! Common expressions are computed once, unless times with and without a zone would be taken for the same.
//!
//! DataFusion compares constants of both types by their microseconds. So `TIMESTAMP '2024-01-01' + x` and
//! `TIMESTAMPTZ '2024-01-01 00:00:00+00' + x` are one expression to its rule, with the type of the first. A plan that has two such
//! constants is left as it is.

use std::collections::HashMap;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{Expr, LogicalPlan};

/// Whether a time stands in the plan with a zone and without one.
pub(super) fn has_equal_times(plan: &LogicalPlan) -> Result<bool> {
    let mut zones = HashMap::new();
    let mut look = |part: &Expr| {
        let Expr::Literal(ScalarValue::TimestampMicrosecond(time, zone), _) = part else {
            return Ok(TreeNodeRecursion::Continue);
        };
        let has_zone = zone.is_some();
        Ok(if *zones.entry(*time).or_insert(has_zone) == has_zone {
            TreeNodeRecursion::Continue
        } else {
            TreeNodeRecursion::Stop
        })
    };
    let walked = plan.apply(|node| node.apply_expressions(|expr| expr.apply(&mut look)))?;
    Ok(walked == TreeNodeRecursion::Stop)
}
