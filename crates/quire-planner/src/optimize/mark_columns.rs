//! A column for the inner side of a mark join that has none.
//!
//! The rows of `EXISTS (SELECT x FROM t WHERE NULL)` have lost all their columns when the last rule reads them. DataFusion's rule that leaves out
//! columns asks such a side for its first column, and fails if there is none.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{JoinType, LogicalPlan, LogicalPlanBuilder, lit};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

/// The rule.
#[derive(Debug)]
pub(super) struct MarkColumns;

impl OptimizerRule for MarkColumns {
    fn name(&self) -> &str {
        "mark_columns"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Join(mut join) = plan else {
            return Ok(Transformed::no(plan));
        };
        let inner = match join.join_type {
            JoinType::LeftMark => &mut join.right,
            JoinType::RightMark => &mut join.left,
            _ => return Ok(Transformed::no(LogicalPlan::Join(join))),
        };
        if !inner.schema().fields().is_empty() {
            return Ok(Transformed::no(LogicalPlan::Join(join)));
        }
        let rows = LogicalPlanBuilder::from(inner.as_ref().clone());
        *inner = Arc::new(rows.project([lit(true).alias("__row")])?.build()?);
        Ok(Transformed::yes(LogicalPlan::Join(join)))
    }
}
