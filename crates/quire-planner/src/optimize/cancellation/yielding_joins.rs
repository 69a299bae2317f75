//! Joins that stop in time. A join makes many rows of few: one batch of each side may keep a thread for seconds, in which the operators
//! below do not see the caller and the runtime cannot end the task.

use std::sync::Arc;

use datafusion::arrow::datatypes::Schema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{JoinType, Result};
use datafusion::physical_expr::expressions::lit;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{
    HashJoinExec, HashJoinExecBuilder, NestedLoopJoinExecBuilder,
};
use quire_error::interruption::Interruption;

use super::asking_filter::AskingFilter;
use crate::optimize::physical_joins::PhysicalJoin;

/// The plan with joins that give their thread back between batches of their result, and look at the statement's cancellation between
/// batches of pairs, most of which may not be in the result.
pub fn yielding_joins(
    plan: Arc<dyn ExecutionPlan>,
    options: &ConfigOptions,
) -> Result<Arc<dyn ExecutionPlan>> {
    let interruption = Interruption::of(options);
    let changed = plan.transform_up(|node| {
        let Some(join) = PhysicalJoin::of(node.as_ref()) else {
            return Ok(Transformed::no(node));
        };
        let node = asking(join, &interruption)?.unwrap_or(node);
        Ok(Transformed::yes(Arc::new(CooperativeExec::new(node)) as _))
    })?;
    Ok(changed.data)
}

/// The join with a filter that asks for each batch of pairs; nothing if it has no filter, and needs none.
fn asking(
    join: PhysicalJoin<'_>,
    interruption: &Interruption,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let asking = |filter: &JoinFilter| Some(asking_filter(filter, interruption));
    Ok(match join {
        PhysicalJoin::NestedLoop(join) => match join.filter() {
            Some(filter) => {
                let builder = NestedLoopJoinExecBuilder::from(join).with_filter(asking(filter));
                Some(Arc::new(builder.build()?))
            }
            None => None,
        },
        PhysicalJoin::Hash(join) => {
            let asking = asking_hash_join(join, interruption)?;
            asking.map(|join| Arc::new(join) as _)
        }
        PhysicalJoin::Hybrid(hybrid) => {
            let asking = asking_hash_join(hybrid.join(), interruption)?;
            asking.map(|join| Arc::new(hybrid.with_join(join)) as _)
        }
        // Without a filter it makes no pairs that are not in its result.
        PhysicalJoin::Vector(vector) if vector.join().filter().is_some() => {
            let asking = asking_hash_join(vector.join(), interruption)?;
            asking.map(|join| Arc::new(vector.with_join(join)) as _)
        }
        PhysicalJoin::Cross | PhysicalJoin::SortMerge(_) | PhysicalJoin::Vector(_) => None,
    })
}

fn asking_hash_join(
    join: &HashJoinExec,
    interruption: &Interruption,
) -> Result<Option<HashJoinExec>> {
    let filter = filter_of(join).map(|filter| asking_filter(&filter, interruption));
    let builder = |filter| HashJoinExecBuilder::from(join).with_filter(Some(filter));
    filter.map(|filter| builder(filter).build()).transpose()
}

/// The filter of a hash join. One whose result has no pairs, but rows of one side, takes all pairs of a batch before it gives a row: so it has
/// one that all pairs pass.
fn filter_of(join: &HashJoinExec) -> Option<JoinFilter> {
    if let Some(filter) = join.filter() {
        return Some(filter.clone());
    }
    let has_pairs = matches!(
        join.join_type(),
        JoinType::Inner | JoinType::Left | JoinType::Right | JoinType::Full
    );
    let all = || JoinFilter::new(lit(true), Vec::new(), Arc::new(Schema::empty()));
    (!has_pairs).then(all)
}

fn asking_filter(filter: &JoinFilter, interruption: &Interruption) -> JoinFilter {
    let expression = AskingFilter::new(Arc::clone(filter.expression()), interruption.clone());
    JoinFilter::new(
        Arc::new(expression),
        filter.column_indices().to_vec(),
        Arc::clone(filter.schema()),
    )
}
