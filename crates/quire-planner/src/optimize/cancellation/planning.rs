//! Planning ends when the statement is cancelled. Plans with long lists or large constants take seconds to optimize.

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use quire_error::interruption::Interruption;

/// A rule that changes nothing, and fails when the statement is cancelled.
#[derive(Debug)]
pub(crate) struct StopWhenCancelled;

impl OptimizerRule for StopWhenCancelled {
    fn name(&self) -> &str {
        "stop_when_cancelled"
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        Interruption::of(&config.options()).check()?;
        Ok(Transformed::no(plan))
    }
}
