//! Hash joins by an index of our own over the build side.
//!
//! DataFusion chains the rows of equal hashes, compares the keys of all pairs by arrays of their own, and copies each row of the result twice: once
//! as its columns are taken, once into a batch of the usual size. Here a key has a number: of integers that lie close together its rank
//! ([`quire_vector::KeyRanks`]), of others its group ([`quire_vector::GroupTable`]); the rows of a number lie together ([`quire_vector::RowLists`]).
//! A batch of the probe side all of whose rows match once, as those behind the join's filter mostly do, passes on its columns as they are.
//!
//! Joins without keys are nested loops over the same index ([`keyless`]).
//!
//! A build side of unknown size is partitioned as the probe side is, and each partition has an index of its own.
//!
//! What stays DataFusion's: joins with keys of types that are not packed ([`super::packed_keys`]).

mod build_side;
mod early_probe;
mod exec;
mod join_index;
mod join_shape;
mod keyless;
mod matched_rows;
mod probe;
mod probe_rows;
mod pushed_filter;
mod transferred_keys;

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};

pub(super) use exec::VectorHashJoinExec;
pub(super) use transferred_keys::rule as rule_of_transfer;

use exec::VectorJoin;
use join_index::JoinKeys;

use super::own_rule::OwnRule;
use super::row_sizes::RowSizes;
use super::switches::is_on;

/// Puts the operator in the place of hash joins.
pub(super) fn rule() -> OwnRule {
    OwnRule::of_operators("vector_joins", vector_join).switched(|options| options.vector_joins)
}

/// Puts the operator in the place of hash joins for `NOT IN`. There is no switch: DataFusion's may hand the keys of its build side to the scan of the
/// other, where NULL is no such key and is lost.
pub(super) fn rule_of_not_in() -> OwnRule {
    OwnRule::of_operators("not_in", |plan| {
        let join = plan.downcast_ref::<HashJoinExec>();
        match join.is_some_and(|join| join.null_aware) {
            true => vector_join(plan),
            false => Ok(None),
        }
    })
}

/// The index of one thread over a build side of this size takes less time than to divide the rows of both sides.
const COLLECTED_BYTES_MAX: usize = 1 << 30;

/// A join whose build side is collected, in place of one that divides both sides, if it is to have an index. Before anything is placed below joins for them.
pub(super) fn collecting_rule() -> OwnRule {
    OwnRule::of_operators("collected_build_sides", collecting)
        .switched(|options| options.vector_joins)
}

fn collecting(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let join = plan.downcast_ref::<HashJoinExec>();
    let Some(join) = join.filter(|join| *join.partition_mode() == PartitionMode::Partitioned)
    else {
        return Ok(None);
    };
    if !is_covered(join) || JoinKeys::of(join)?.is_none() {
        return Ok(None);
    }
    let bytes = RowSizes::of(join.left().as_ref()).bytes_by_types();
    if bytes.is_none_or(|bytes| bytes > COLLECTED_BYTES_MAX) {
        return Ok(None);
    }
    let collecting = join
        .builder()
        .with_partition_mode(PartitionMode::CollectLeft);
    collecting.build_exec().map(Some)
}

/// What takes the place of a join that a running operator has made, unless the options say that it stays.
pub(super) fn vector_join_where_on(
    plan: Arc<dyn ExecutionPlan>,
    options: &ConfigOptions,
) -> Result<Arc<dyn ExecutionPlan>> {
    if !is_on(options, |ours| ours.vector_joins) {
        return Ok(plan);
    }
    Ok(vector_join(&plan)?.unwrap_or(plan))
}

/// What takes the place of a join; `None` if it stays.
fn vector_join(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let keyless = keyless::with_common_key(plan.as_ref())?;
    let Some(join) = keyless.as_ref().or_else(|| plan.downcast_ref()) else {
        return Ok(None);
    };
    if !is_covered(join) || *join.partition_mode() == PartitionMode::Auto {
        return Ok(None);
    }
    let Some(keys) = JoinKeys::of(join)? else {
        return Ok(None);
    };
    let join = VectorJoin::new(join.builder().build()?, keys);
    Ok(Some(Arc::new(VectorHashJoinExec::new(join))))
}

fn is_covered(join: &HashJoinExec) -> bool {
    let is_whole = *join.partition_mode() == PartitionMode::CollectLeft && join.filter().is_none();
    (is_whole || !join.null_aware) && join.fetch().is_none()
}
