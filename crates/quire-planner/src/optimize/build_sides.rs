//! Hash joins build their table from the side that is expected to be smaller.
//!
//! DataFusion compares the bytes that the statistics of both sides say, and those of a join's result are far from what it makes: TPC-DS's Q37 built a table of
//! 1.4 million keys to look 14 rows up in it. Rows and the widths of their types are compared here, and a side is exchanged only where the other one is
//! clearly smaller.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::HashJoinExec;

use crate::optimize::row_sizes::RowSizes;

/// How many times as large the build side must be for the sides to be exchanged: estimates are as wrong as that.
const TIMES_LARGER: usize = 2;

/// The join with its smaller side as the build side, if that is the other one. Before anything is placed below joins for them.
pub(super) fn smaller_build_side(
    plan: &Arc<dyn ExecutionPlan>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(join) = plan.downcast_ref::<HashJoinExec>() else {
        return Ok(None);
    };
    if !join.join_type().supports_swap() || join.null_aware {
        return Ok(None);
    }
    let bytes_of = |side: &Arc<dyn ExecutionPlan>| RowSizes::of(&**side).bytes_by_types();
    let (Some(build_bytes), Some(probe_bytes)) = (bytes_of(join.left()), bytes_of(join.right()))
    else {
        return Ok(None);
    };
    if build_bytes / TIMES_LARGER <= probe_bytes {
        return Ok(None);
    }
    join.swap_inputs(*join.partition_mode()).map(Some)
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{Int64Array, RecordBatch};
    use datafusion::catalog::memory::{DataSourceExec, MemorySourceConfig};
    use datafusion::common::{JoinType, NullEquality};
    use datafusion::physical_expr::expressions::col;
    use datafusion::physical_plan::joins::PartitionMode;

    use super::*;

    fn keys(name: &str, row_count: i64) -> Arc<dyn ExecutionPlan> {
        let values = Arc::new((0..row_count).collect::<Int64Array>());
        let batch = RecordBatch::try_from_iter([(name, values as _)]).unwrap();
        let schema = batch.schema();
        let rows = MemorySourceConfig::try_new(&[vec![batch]], schema, None).unwrap();
        DataSourceExec::from_data_source(rows)
    }

    /// The rows of the build and the probe side of a join of such sides, if they are exchanged.
    fn exchanged(build_rows: i64, probe_rows: i64, kind: JoinType) -> Option<(usize, usize)> {
        let (build, probe) = (keys("a", build_rows), keys("b", probe_rows));
        let on = vec![(
            col("a", &build.schema()).unwrap(),
            col("b", &probe.schema()).unwrap(),
        )];
        let mode = PartitionMode::CollectLeft;
        let equality = NullEquality::NullEqualsNothing;
        let join =
            HashJoinExec::try_new(build, probe, on, None, &kind, None, mode, equality, false);
        let mut plan = smaller_build_side(&(Arc::new(join.unwrap()) as _)).unwrap()?;
        // A projection puts the columns back into their order.
        while !plan.is::<HashJoinExec>() {
            plan = Arc::clone(plan.children()[0]);
        }
        let rows = |side: usize| RowSizes::of(&**plan.children()[side]).row_count;
        Some((rows(0)?, rows(1)?))
    }

    #[test]
    fn only_a_clearly_smaller_side_becomes_the_build_side() {
        for kind in [JoinType::Inner, JoinType::Left, JoinType::LeftSemi] {
            assert_eq!(exchanged(1000, 10, kind), Some((10, 1000)), "{kind}");
            assert_eq!(exchanged(1000, 600, kind), None, "{kind}");
            assert_eq!(exchanged(10, 1000, kind), None, "{kind}");
        }
    }
}
