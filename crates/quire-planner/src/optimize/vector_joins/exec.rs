//! The operator.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricBuilder};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{EmptyRecordBatchStream, ExecutionPlan, PlanProperties};
use futures::future::BoxFuture;
use futures::{FutureExt, TryStreamExt, stream};

use super::build_side::{BuildMetrics, BuildPart, IndexedBuildSide};
use super::early_probe::EarlyProbe;
use super::join_index::JoinKeys;
use super::join_shape::JoinShape;
use super::probe::{JoinProbe, ProbeMetrics};
use super::transferred_keys::TransferredKeys;
use crate::optimize::join_stand_in::{JoinStandIn, JoinStandInExec};
use crate::optimize::shared_task::SharedTask;

/// The operator.
pub(in crate::optimize) type VectorHashJoinExec = JoinStandInExec<VectorJoin>;

pub(in crate::optimize) struct VectorJoin {
    join: Arc<HashJoinExec>,
    keys: JoinKeys,
    /// One build side for all partitions, or one for each.
    builds: Vec<SharedTask<Arc<IndexedBuildSide>>>,
    /// Of a join whose probe side begins first.
    transferred: Option<TransferredKeys>,
    early: SharedTask<Arc<EarlyProbe>>,
}

impl VectorJoin {
    pub(super) fn new(join: HashJoinExec, keys: JoinKeys) -> Self {
        let left = join.left().properties().partitioning.partition_count();
        Self {
            transferred: TransferredKeys::of(&join),
            early: SharedTask::default(),
            join: Arc::new(join),
            keys,
            builds: (0..left).map(|_| SharedTask::default()).collect(),
        }
    }

    /// The first rows of the probe side, if they are read before the build side.
    fn early_probe(
        &self,
        context: &Arc<TaskContext>,
    ) -> Option<BoxFuture<'static, Result<Arc<EarlyProbe>>>> {
        let rows_max = self.transferred.as_ref()?.early_rows_max;
        Some(self.early.result(|| {
            let probe = Arc::clone(self.join.right());
            let read = EarlyProbe::read(probe, rows_max, Arc::clone(context));
            read.map(|rows| rows.map(Arc::new))
        }))
    }

    /// The build side of a partition. Where all have the same, the first call has it read.
    fn build_side(
        &self,
        metrics: &ExecutionPlanMetricsSet,
        partition: usize,
        context: &Arc<TaskContext>,
    ) -> Result<BoxFuture<'static, Result<Arc<IndexedBuildSide>>>> {
        let part = match self.join.partition_mode() {
            PartitionMode::Partitioned => BuildPart::Partition(partition),
            PartitionMode::CollectLeft | PartitionMode::Auto => BuildPart::Whole,
        };
        let Some(build) = self.builds.get(part.partition()) else {
            let (left, part) = (self.builds.len(), part.partition());
            return internal_err!("of a build side of {left} partitions, there is no {part}");
        };
        if part == BuildPart::Whole && self.builds.len() != 1 {
            let left = self.builds.len();
            return internal_err!("the build side of a join has {left} partitions");
        }
        Ok(build.result(|| {
            let metrics = BuildMetrics::new(metrics, partition);
            let (join, keys) = (Arc::clone(&self.join), self.keys.clone());
            let (transferred, early) = (self.transferred.clone(), self.early_probe(context));
            let context = Arc::clone(context);
            async move {
                if let (Some(transferred), Some(early)) = (transferred, early) {
                    transferred.publish(&join, keys.clone(), &*early.await?, &context)?;
                }
                let side = IndexedBuildSide::read(join, part, keys, metrics, context).await?;
                Ok(Arc::new(side))
            }
        }))
    }
}

impl Debug for VectorJoin {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("VectorJoin")
            .field("join", &self.join)
            .finish_non_exhaustive()
    }
}

impl JoinStandIn for VectorJoin {
    const NAME: &'static str = "VectorHashJoinExec";
    const KEEPS_ORDER: bool = true;

    fn join(&self) -> &Arc<HashJoinExec> {
        &self.join
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.join.properties()
    }

    fn with_join(&self, join: HashJoinExec) -> Self {
        Self::new(join, self.keys.clone())
    }

    fn run(
        &self,
        metrics: &ExecutionPlanMetricsSet,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let build = self.build_side(metrics, partition, &context)?;
        let shape = Arc::new(JoinShape::of(&self.join));
        let schema = Arc::clone(&shape.schema);
        let right = Arc::clone(self.join.right());
        let early = self.early_probe(&context);
        let output = BaselineMetrics::new(metrics, partition);
        let probe_metrics = ProbeMetrics {
            elapsed: output.elapsed_compute().clone(),
            rows: MetricBuilder::new(metrics).counter("input_rows", partition),
        };
        let rows = async move {
            let build = build.await?;
            // The scans of the probe side see the filter that the build side has left.
            let rows = match early {
                Some(early) => early.await?.take(partition)?,
                None => right.execute(partition, Arc::clone(&context))?,
            };
            // The stream is dropped, not left unopened: what divides rows among partitions would keep those of this one.
            if build.empties(shape.kind) {
                let nothing = EmptyRecordBatchStream::new(Arc::clone(&shape.schema));
                return Ok::<_, DataFusionError>(Box::pin(nothing) as SendableRecordBatchStream);
            }
            let schema = Arc::clone(&shape.schema);
            let batch_rows = context.session_config().batch_size();
            let probe = JoinProbe::new(shape, build, rows, batch_rows, probe_metrics);
            let results = stream::try_unfold(probe, JoinProbe::next);
            Ok(Box::pin(RecordBatchStreamAdapter::new(schema, results)) as _)
        };
        let rows = stream::once(rows).try_flatten();
        let counted = rows.inspect_ok(move |batch| output.record_output(batch.num_rows()));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, counted)))
    }
}
