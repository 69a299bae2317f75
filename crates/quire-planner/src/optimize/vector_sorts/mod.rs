//! Sorts of whole inputs by keys that are packed into words.
//!
//! DataFusion sorts each batch by its keys in a row format, and merges the batches row by row, and then the partitions. Here each partition packs its keys
//! into words ([`quire_vector::SortWords`]), in the ranges that the keys of all partitions have, sorts them digit by digit, and the sorted partitions
//! are merged by their words. Rows are put together in their order by several threads at once, a batch each. Where the rows find no memory,
//! DataFusion's operator, which spills, gets what has been read and what is left.
//!
//! Sorts with a limit stay DataFusion's: they keep few rows, and tell scans which others may be left out.

mod exec;
mod keys;
mod runs;

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
