//! Groups before the joins of dimensions.
//!
//! `SELECT c.id, c.name, sum(o.price) FROM o JOIN c ON o.customer = c.id GROUP BY c.id, c.name` carries the name of a customer through the join and into the
//! groups with every order. If `c.id` is unique, each order has one customer at most, and its group is that of `o.customer`:
//!
//! ```text
//! Aggregate: c.id, c.name, f(o.price)         Projection: names as before
//!   Join(o, c)                          =>      Join(Aggregate: o.customer, f(o.price) over o, c)
//! ```
//!
//! This is invariant grouping (Yan and Larson, "Performing Group-By before Join", ICDE 1994). It holds if the keys of the groups determine the columns by which
//! dimensions are joined, which is derived from unique columns and from the equalities of joins. If they do not, as in `GROUP BY c.name` alone, then groups
//! above the joins merge those below, as [`super::eager_aggregation`] has them; this is done where it reduces the rows by much.
//!
//! A dimension is a table without filters whose columns only the keys of the groups read. With a filter it is better joined early. The joins of a tree
//! have not been ordered yet when this rule runs, and what is left of the tree is ordered like every other.

mod grouped_tree;
mod placed;
mod unique;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{Aggregate, LogicalPlan};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use quire_error::interruption::Interruption;
use quire_functions::QuireOptions;

use super::switches::is_on;
use grouped_tree::GroupedTree;

/// The rule.
#[derive(Debug)]
pub(super) struct LateDimensions;

impl OptimizerRule for LateDimensions {
    fn name(&self) -> &str {
        "late_dimensions"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Aggregate(aggregate) = &plan else {
            return Ok(Transformed::no(plan));
        };
        let options = config.options();
        if !is_on(&options, |ours| ours.late_dimensions) {
            return Ok(Transformed::no(plan));
        }
        let ours = options.extensions.get::<QuireOptions>();
        let is_always = ours.is_some_and(|ours| ours.eager_aggregation_always);
        Ok(
            match grouped_early(aggregate, is_always, Interruption::of(&options))? {
                Some(replaced) => Transformed::yes(replaced),
                None => Transformed::no(plan),
            },
        )
    }
}

fn grouped_early(
    aggregate: &Aggregate,
    is_always: bool,
    interruption: Interruption,
) -> Result<Option<LogicalPlan>> {
    let Some(tree) = GroupedTree::of(aggregate, interruption)? else {
        return Ok(None);
    };
    let all = tree.dimensions(|_| true);
    if all.is_empty() {
        return Ok(None);
    }
    let determined = tree.determined_columns();
    let late = tree.dimensions(|key| determined.contains(key));
    match late.is_empty() || tree.has_sets {
        true => tree.grouped_twice(&all, is_always),
        false => tree.grouped_below(&late, &determined),
    }
}
