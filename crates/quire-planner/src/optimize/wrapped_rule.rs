//! A rule of DataFusion's physical optimizer, run by a function of ours that may leave it out, or change what it made.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;

type Rule = Arc<dyn PhysicalOptimizerRule + Send + Sync>;
type Run = fn(
    &dyn PhysicalOptimizerRule,
    Arc<dyn ExecutionPlan>,
    &ConfigOptions,
) -> Result<Arc<dyn ExecutionPlan>>;

/// The rule under its own name.
#[derive(Debug)]
pub(super) struct WrappedRule {
    rule: Rule,
    run: Run,
}

impl WrappedRule {
    pub(super) fn of(rule: &Rule, run: Run) -> Rule {
        let rule = Arc::clone(rule);
        Arc::new(Self { rule, run })
    }
}

impl PhysicalOptimizerRule for WrappedRule {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        (self.run)(self.rule.as_ref(), plan, config)
    }

    fn schema_check(&self) -> bool {
        self.rule.schema_check()
    }
}
