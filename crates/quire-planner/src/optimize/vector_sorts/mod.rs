//! Sorts of whole inputs by keys that are packed into words.
//!
//! DataFusion sorts each batch by its keys in a row format, merges the batches of a partition, and then the partitions, which copies each row three times.
//! Here a partition is cut into runs ([`partition`]). A run packs its keys into words ([`quire_vector::SortWords`]) in the ranges that the keys of
//! all runs have, so that few bits tell rows apart, is sorted digit by digit, and its columns are put into that order while they are in the caches
//! ([`runs`]). All runs are merged at once by a tree of losers, while several threads put the rows together, a batch each ([`merge`]). Where memory is
//! scarce, runs are written to disk and read back batch by batch ([`spilled_runs`]); if there are more of them than memory has place for, some are merged
//! into longer ones first.
//!
//! Of a sort with a limit each partition keeps the first rows that it has seen so far, and tells the scans below it which others may be left out
//! ([`top_rows`]). All rows, or the first ones, are kept of each partition, as a window or a merge join wants them, or of all together.

mod exec;
mod job;
mod keys;
mod merge;
mod partition;
mod runs;
mod sort_keys;
mod spilled_runs;
mod top_rows;

use std::sync::Arc;

use datafusion::physical_expr_common::physical_expr::is_volatile;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;

use super::own_rule::OwnRule;
use exec::VectorSortExec;

/// Puts the operator in the place of sorts, and of merges of sorted partitions with these sorts.
pub(super) fn rule() -> OwnRule {
    OwnRule::of_operators("vector_sorts", |plan| Ok(vector_sort(plan)))
        .switched(|options| options.vector_sorts)
}

fn vector_sort(plan: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    if let Some(merge) = plan.downcast_ref::<SortPreservingMergeExec>() {
        // From the leaves up: a sort below has been replaced.
        let sorted = merge.input().downcast_ref::<VectorSortExec>()?;
        let sort = sorted.sort();
        let is_same =
            !sorted.is_whole() && merge.expr() == sort.expr() && merge.fetch() == sort.fetch();
        return is_same.then(|| Arc::new(VectorSortExec::merged(Arc::clone(sort))) as _);
    }
    let sort = plan.downcast_ref::<SortExec>()?;
    let input = sort.input();
    let (schema, partitions) = (input.schema(), &input.properties().partitioning);
    let mut types = sort.expr().iter().map(|key| key.expr.data_type(&schema));
    let are_packed = types.all(|data_type| data_type.is_ok_and(|it| keys::is_supported(&it)));
    let is_of_partitions = sort.preserve_partitioning() || partitions.partition_count() == 1;
    // Keys are computed again of rows that are read back from disk.
    let is_repeatable = !sort.expr().iter().any(|key| is_volatile(&key.expr));
    // Rows without columns have no arrays to put in order.
    let has_columns = !schema.fields().is_empty();
    let is_taken = are_packed && is_of_partitions && is_repeatable && has_columns;
    is_taken.then(|| Arc::new(VectorSortExec::of_partitions(sort.clone())) as _)
}
