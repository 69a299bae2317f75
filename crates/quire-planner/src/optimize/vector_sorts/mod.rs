//! Sorts of whole inputs by keys that are packed into words.
//!
//! DataFusion sorts each batch by its keys in a row format, merges the batches of a partition, and then the partitions, which copies each row three times.
//! Here a partition is cut into runs ([`partition`]). A run packs its keys into words ([`quire_vector::SortWords`]) in the ranges that the keys of
//! all runs have, so that few bits tell rows apart, is sorted digit by digit, and its columns are put into that order while they are in the caches
//! ([`runs`]). All runs are merged at once by a tree of losers, while several threads put the rows together, a batch each ([`merge`]). Where memory is
//! scarce, runs are written to disk and read back batch by batch ([`spilled_runs`]); if there are more of them than memory has place for, some are merged
//! into longer ones first.
//!
//! Sorts with a limit stay DataFusion's: they keep few rows, and tell scans which others may be left out.

mod exec;
mod job;
mod keys;
mod merge;
mod partition;
mod runs;
mod sort_keys;
mod spilled_runs;

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;

use super::own_rule::OwnRule;
use exec::VectorSortExec;

/// Puts the operator in the place of sorts, and of merges of sorted partitions with these sorts.
pub(super) fn rule() -> OwnRule {
    OwnRule::of_operators("vector_sorts", vector_sort).switched(|options| options.vector_sorts)
}

fn vector_sort(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let merge = plan.downcast_ref::<SortPreservingMergeExec>();
    // From the leaves up: the sorts below a merge have not been replaced, as they keep their partitions.
    let sort = match merge {
        Some(merge) if merge.fetch().is_some() => return Ok(None),
        Some(merge) => merge.input().downcast_ref::<SortExec>(),
        None => plan.downcast_ref::<SortExec>(),
    };
    let Some(sort) = sort.filter(|sort| sort.fetch().is_none()) else {
        return Ok(None);
    };
    let is_whole = match merge {
        Some(merge) => merge.expr() == sort.expr(),
        None => {
            let partitions = sort.input().properties().partitioning.partition_count();
            !sort.preserve_partitioning() && partitions == 1
        }
    };
    let schema = sort.input().schema();
    let mut types = sort.expr().iter().map(|key| key.expr.data_type(&schema));
    let are_packed = types.all(|data_type| data_type.is_ok_and(|it| keys::is_supported(&it)));
    if !is_whole || !are_packed {
        return Ok(None);
    }
    let input = Arc::clone(sort.input());
    let sorted = VectorSortExec::new(sort.expr().clone(), input)?;
    Ok(Some(Arc::new(sorted)))
}
