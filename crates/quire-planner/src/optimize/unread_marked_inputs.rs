//! Joins are eliminated, unless one of them makes the only column of a mark join's inner input.
//!
//! The mark takes its qualifier from the inner input's first column, which it needs for that alone if its condition reads none: the mark of an
//! uncorrelated EXISTS, or one whose condition has become a constant. DataFusion's rule does not know of that need. It replaces an outer join
//! below by the side that it preserves, from which no column is read, and the next rule looks for a first column that is not there. A plan with
//! such a mark join is left as it is.

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{JoinType, Result};
use datafusion::logical_expr::logical_plan::Join;
use datafusion::logical_expr::{Expr, LogicalPlan};

/// Whether the plan has a mark join that reads no column of its inner input.
pub(super) fn has_unread_marked_input(plan: &LogicalPlan) -> Result<bool> {
    let walked = plan.apply_with_subqueries(|node| {
        Ok(match node {
            LogicalPlan::Join(join) if is_unread(join) => TreeNodeRecursion::Stop,
            _ => TreeNodeRecursion::Continue,
        })
    })?;
    Ok(walked == TreeNodeRecursion::Stop)
}

fn is_unread(join: &Join) -> bool {
    let inner = match join.join_type {
        JoinType::LeftMark => &join.right,
        JoinType::RightMark => &join.left,
        _ => return false,
    };
    let reads_inner = |filter: &Expr| {
        let columns = filter.column_refs();
        columns
            .iter()
            .any(|column| inner.schema().has_column(column))
    };
    join.on.is_empty() && !join.filter.as_ref().is_some_and(reads_inner)
}
