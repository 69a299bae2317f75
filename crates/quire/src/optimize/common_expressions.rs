//! Common expressions are computed once, unless times with and without a zone would be taken for the same.
//!
//! DataFusion compares constants of both types by their microseconds. So `TIMESTAMP '2024-01-01' + x` and
//! `TIMESTAMPTZ '2024-01-01 00:00:00+00' + x` are one expression to its rule, with the type of the first. A plan that has two such
//! constants is left as it is.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

/// DataFusion's rule, with what it does not see.
#[derive(Debug)]
pub(super) struct CommonExpressions(Arc<dyn OptimizerRule + Send + Sync>);

impl CommonExpressions {
    pub(super) fn new(rule: Arc<dyn OptimizerRule + Send + Sync>) -> Self {
        Self(rule)
    }
}

impl OptimizerRule for CommonExpressions {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        match has_equal_times(&plan)? {
            true => Ok(Transformed::no(plan)),
            false => self.0.rewrite(plan, config),
        }
    }
}

/// Whether a time stands in the plan with a zone and without one.
fn has_equal_times(plan: &LogicalPlan) -> Result<bool> {
    let mut zones = HashMap::new();
    let mut is_found = false;
    plan.apply(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                if let Expr::Literal(ScalarValue::TimestampMicrosecond(time, zone), _) = part {
                    let has_zone = zone.is_some();
                    is_found |= *zones.entry(*time).or_insert(has_zone) != has_zone;
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(is_found)
}
