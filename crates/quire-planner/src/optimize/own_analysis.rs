//! A rule of ours for logical plans, before they are optimized: a name and a function.

use std::fmt::{self, Debug, Formatter};

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::AnalyzerRule;

/// The rule.
pub(super) struct OwnAnalysis {
    name: &'static str,
    analyze: Box<dyn Fn(LogicalPlan) -> Result<LogicalPlan> + Send + Sync>,
}

impl OwnAnalysis {
    pub(super) fn of_plans(
        name: &'static str,
        analyze: impl Fn(LogicalPlan) -> Result<LogicalPlan> + Send + Sync + 'static,
    ) -> Self {
        let analyze = Box::new(analyze);
        Self { name, analyze }
    }

    /// A rule for each node by itself, those of subqueries among them, from the leaves up.
    pub(super) fn of_nodes(
        name: &'static str,
        rewrite: fn(LogicalPlan) -> Result<Transformed<LogicalPlan>>,
    ) -> Self {
        Self::of_plans(name, move |plan| {
            Ok(plan.transform_up_with_subqueries(rewrite)?.data)
        })
    }
}

impl Debug for OwnAnalysis {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnAnalysis").field(&self.name).finish()
    }
}

impl AnalyzerRule for OwnAnalysis {
    fn name(&self) -> &str {
        self.name
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        (self.analyze)(plan)
    }
}
