//! A rule of DataFusion that leaves some plans as they are.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

type Rule = Arc<dyn OptimizerRule + Send + Sync>;

/// The rule, for all plans but those that it would make wrong.
#[derive(Debug)]
pub(super) struct ExceptedPlans {
    rule: Rule,
    is_excepted: fn(&LogicalPlan) -> Result<bool>,
}

impl ExceptedPlans {
    /// `rule` for the plans of which `is_excepted` is false.
    pub(super) fn of(rule: &Rule, is_excepted: fn(&LogicalPlan) -> Result<bool>) -> Rule {
        Arc::new(Self {
            rule: Arc::clone(rule),
            is_excepted,
        })
    }
}

impl OptimizerRule for ExceptedPlans {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.rule.apply_order()
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        if (self.is_excepted)(&plan)? {
            return Ok(Transformed::no(plan));
        }
        self.rule.rewrite(plan, config)
    }
}
