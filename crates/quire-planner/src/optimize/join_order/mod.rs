//! The order of inner joins.
//!
//! DataFusion joins tables in the order in which they are written. This rule takes a tree of inner
//! joins apart into its inputs and predicates ([`graph`]), estimates the inputs' sizes from the
//! tables' exact statistics ([`estimate`]), and puts it together in the order that costs the executor
//! least ([`pricing`]): by dynamic programming over connected subsets (Selinger 1979; bushy trees as
//! in Moerkotte and Neumann 2006) up to ten inputs, greedily above ([`search`]). Outer joins and everything else that is not an
//! inner join are inputs: nothing moves across them, but each is ordered within. Semi and anti
//! joins inside the tree are put on the input whose columns they test, when that input is smaller
//! than the joined rows, else on top.
//!
//! The rule is idempotent: inputs are numbered by their names, not by their place, so that a tree
//! that it has built is found to be in order.

mod estimate;
mod graph;
mod pricing;
mod rebuild;
mod search;
mod settings;

pub(super) use estimate::estimate;
pub(super) use graph::{EqualityClass, InputSet, JoinGraph};
pub(super) use rebuild::joined;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::logical_expr::{JoinType, LogicalPlan};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use self::settings::{OrderSettings, has_join};
use super::switches::is_on;

/// The rule.
#[derive(Debug)]
pub(super) struct JoinOrder;

impl OptimizerRule for JoinOrder {
    fn name(&self) -> &str {
        "join_order"
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let options = config.options();
        if !is_on(&options, |ours| ours.join_order) || !has_join(&plan)? {
            return Ok(Transformed::no(plan));
        }
        let settings = OrderSettings::of(&plan, &options)?;
        reorder(plan, &settings)
    }
}

/// Reorders every join tree of `plan`, its subqueries included.
fn reorder(plan: LogicalPlan, settings: &OrderSettings) -> Result<Transformed<LogicalPlan>> {
    let is_root = matches!(&plan, LogicalPlan::Join(join)
        if matches!(join.join_type, JoinType::Inner | JoinType::LeftSemi | JoinType::LeftAnti));
    if is_root && let Some(graph) = graph::JoinGraph::of(&plan)? {
        return reorder_tree(plan, graph, settings);
    }
    reorder_inputs(plan, settings)
}

fn reorder_inputs(plan: LogicalPlan, settings: &OrderSettings) -> Result<Transformed<LogicalPlan>> {
    use datafusion::common::tree_node::TreeNode;
    let mut result = plan.map_children(|child| reorder(child, settings))?;
    let subqueries = result
        .data
        .map_subqueries(|subquery| reorder(subquery, settings))?;
    result.data = subqueries.data;
    result.transformed |= subqueries.transformed;
    result.tnr = TreeNodeRecursion::Continue;
    Ok(result)
}

fn reorder_tree(
    plan: LogicalPlan,
    mut graph: graph::JoinGraph,
    settings: &OrderSettings,
) -> Result<Transformed<LogicalPlan>> {
    let mut is_changed = false;
    for input in graph.inputs_mut() {
        let reordered = reorder(std::mem::take(input), settings)?;
        is_changed |= reordered.transformed;
        *input = reordered.data;
    }
    let best = search::best_tree(&graph, settings);
    if !is_changed && best == graph.current {
        return Ok(Transformed::no(plan));
    }
    rebuild::rebuild(&graph, &best, plan.schema()).map(Transformed::yes)
}
