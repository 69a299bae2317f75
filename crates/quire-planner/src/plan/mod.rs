//! From DataFusion's optimized plans to queries of the engine's algebra, [`quire_exec::plan`].
//!
//! Every node and expression is taken as it is; what has no counterpart makes the whole statement [`Untranslated`], which then
//! runs on DataFusion's own operators.

mod aggregate;
mod join;
mod relation;
mod scan;
mod untranslated;

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};
use quire_exec::plan::PlanQuery;

use crate::expression::parameter_number;
use crate::optimize::shared_for_tuples;
use relation::RelationTranslator;
pub use untranslated::Untranslated;

/// The query of an optimized plan, checked.
pub fn translate(
    plan: &LogicalPlan,
    options: &Arc<ConfigOptions>,
) -> Result<PlanQuery, Untranslated> {
    let parameter_count = parameter_count(plan);
    let mut relations = RelationTranslator {
        options,
        parameter_count,
        values: Vec::new(),
        shared: HashMap::new(),
    };
    // What is not shared is only computed more than once.
    let plan = shared_for_tuples(plan.clone(), options).unwrap_or_else(|_| plan.clone());
    let plan = relations.relation(&plan)?;
    let query = PlanQuery {
        parameter_count,
        values: relations.values,
        plan,
    };
    query.check()?;
    Ok(query)
}

/// Number of the last parameter.
fn parameter_count(plan: &LogicalPlan) -> usize {
    let mut count = 0;
    let visited = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                if let Expr::Placeholder(placeholder) = part
                    && let Some(number) = parameter_number(placeholder)
                {
                    count = count.max(number.saturating_add(1));
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    });
    // Walking does not fail, since looking does not.
    visited.map_or(0, |_| count)
}
