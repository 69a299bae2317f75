//! A rule of ours for physical plans: a name and a function. It keeps the schema of the plan.

use std::fmt::{self, Formatter};
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use quire_functions::QuireOptions;

use super::switches::is_on;

type Plan = Arc<dyn ExecutionPlan>;

/// The rule.
pub(super) struct OwnRule {
    name: &'static str,
    rewrite: Box<dyn Fn(Plan) -> Result<Plan> + Send + Sync>,
    is_on: fn(&QuireOptions) -> bool,
}

impl OwnRule {
    pub(super) fn of_plans(
        name: &'static str,
        rewrite: impl Fn(Plan) -> Result<Plan> + Send + Sync + 'static,
    ) -> Self {
        let rewrite = Box::new(rewrite);
        Self {
            name,
            rewrite,
            is_on: |_| true,
        }
    }

    /// The rule with a switch among the options.
    pub(super) fn switched(self, is_on: fn(&QuireOptions) -> bool) -> Self {
        Self { is_on, ..self }
    }

    /// A rule for each operator by itself, from the leaves up. `replace` gives what takes its place, or nothing if it stays.
    pub(super) fn of_operators(
        name: &'static str,
        replace: impl Fn(&Plan) -> Result<Option<Plan>> + Send + Sync + 'static,
    ) -> Self {
        Self::of_plans(name, move |plan| {
            let plan = plan.transform_up(|node| {
                Ok(match replace(&node)? {
                    Some(replaced) => Transformed::yes(replaced),
                    None => Transformed::no(node),
                })
            })?;
            Ok(plan.data)
        })
    }
}

impl fmt::Debug for OwnRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnRule").field(&self.name).finish()
    }
}

impl PhysicalOptimizerRule for OwnRule {
    fn name(&self) -> &str {
        self.name
    }

    fn optimize(&self, plan: Plan, config: &ConfigOptions) -> Result<Plan> {
        if is_on(config, self.is_on) {
            (self.rewrite)(plan)
        } else {
            Ok(plan)
        }
    }

    fn schema_check(&self) -> bool {
        true
    }
}
