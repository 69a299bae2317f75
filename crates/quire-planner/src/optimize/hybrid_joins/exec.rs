//! The operator.

use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::Partitioning;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::metrics::{
    BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet, RecordOutput, SpillMetrics,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, PlanProperties};
use futures::future::BoxFuture;
use futures::{TryStreamExt, stream};

use super::inputs::{JoinInputs, JoinPart, JoinTemplate};
use crate::optimize::join_stand_in::{JoinStandIn, JoinStandInExec};
use crate::optimize::shared_task::SharedTask;

/// The inputs of a join whose build side has been read.
enum FoundJoinInputs {
    InMemory(Arc<dyn ExecutionPlan>),
    /// Those of each partition of the result, until it is read.
    Parts(Vec<Mutex<Vec<JoinPart>>>),
}

/// A hash join whose build side may be larger than memory.
pub(in crate::optimize) type HybridHashJoinExec = JoinStandInExec<HybridJoin>;

pub(in crate::optimize) struct HybridJoin {
    join: Arc<HashJoinExec>,
    /// What the build side may take in memory.
    bytes_max: usize,
    properties: Arc<PlanProperties>,
    found: SharedTask<Arc<FoundJoinInputs>>,
}

impl HybridHashJoinExec {
    /// The same join; nothing if it is one that parts cannot be joined of: NOT IN over values that may be NULL asks for all rows of the other side.
    pub(in crate::optimize) fn of(join: &HashJoinExec, bytes_max: usize) -> Result<Option<Self>> {
        if join.null_aware || join.fetch().is_some() || join.on().is_empty() {
            return Ok(None);
        }
        let join = join
            .builder()
            .with_partition_mode(PartitionMode::CollectLeft);
        let hybrid = HybridJoin::new(join.build()?, bytes_max);
        Ok(Some(Self::new(hybrid)))
    }
}

impl HybridJoin {
    fn new(join: HashJoinExec, bytes_max: usize) -> Self {
        let of_join = join.properties();
        // Parts come in any order, and in any partition.
        let mut equivalences = of_join.eq_properties.clone();
        equivalences.clear_orderings();
        equivalences.clear_per_partition_constants();
        let partition_count = join.right().properties().partitioning.partition_count();
        let properties = PlanProperties::new(
            equivalences,
            Partitioning::UnknownPartitioning(partition_count),
            of_join.emission_type,
            of_join.boundedness,
        );
        Self {
            join: Arc::new(join),
            bytes_max,
            properties: Arc::new(properties),
            found: SharedTask::default(),
        }
    }

    /// What reads the inputs.
    fn template(&self, metrics: &ExecutionPlanMetricsSet) -> JoinTemplate {
        JoinTemplate {
            join: Arc::clone(&self.join),
            bytes_max: self.bytes_max,
            metrics: SpillMetrics::new(metrics, 0),
        }
    }

    /// The inputs. The first call has them read.
    fn found(
        &self,
        template: &JoinTemplate,
        context: &Arc<TaskContext>,
    ) -> BoxFuture<'static, Result<Arc<FoundJoinInputs>>> {
        self.found.result(|| {
            let (template, context) = (template.clone(), Arc::clone(context));
            let partition_count = self.properties.partitioning.partition_count();
            async move {
                match template.inputs(context).await? {
                    JoinInputs::InMemory(join) => Ok(Arc::new(FoundJoinInputs::InMemory(join))),
                    JoinInputs::Parts(parts) => {
                        let dealt = dealt(parts, partition_count);
                        Ok(Arc::new(FoundJoinInputs::Parts(dealt)))
                    }
                }
            }
        })
    }
}

/// Every partition of the result gets as many parts, give or take one.
fn dealt(parts: Vec<JoinPart>, partition_count: usize) -> Vec<Mutex<Vec<JoinPart>>> {
    let mut dealt: Vec<Vec<JoinPart>> = (0..partition_count).map(|_| Vec::new()).collect();
    for (number, part) in parts.into_iter().enumerate() {
        dealt[number % partition_count].push(part);
    }
    dealt.into_iter().map(Mutex::new).collect()
}

impl Debug for HybridJoin {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("HybridJoin")
            .field("join", &self.join)
            .finish_non_exhaustive()
    }
}

impl JoinStandIn for HybridJoin {
    const NAME: &'static str = "HybridHashJoinExec";
    const KEEPS_ORDER: bool = false;

    fn join(&self) -> &Arc<HashJoinExec> {
        &self.join
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn with_join(&self, join: HashJoinExec) -> Self {
        Self::new(join, self.bytes_max)
    }

    /// Only what is in parts is counted by itself.
    fn counted(&self) -> Option<MetricsSet> {
        match self.found.peek().as_deref() {
            Some(FoundJoinInputs::InMemory(join)) => join.metrics(),
            _ => self.join.metrics(),
        }
    }

    fn run(
        &self,
        metrics: &ExecutionPlanMetricsSet,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let template = self.template(metrics);
        let found = self.found(&template, &context);
        let schema = self.join.schema();
        let output = BaselineMetrics::new(metrics, partition);
        let rows = async move {
            match found.await?.as_ref() {
                FoundJoinInputs::InMemory(join) => join.execute(partition, context),
                FoundJoinInputs::Parts(parts) => {
                    let Some(parts) = parts.get(partition) else {
                        return internal_err!("a join has no partition {partition}");
                    };
                    let parts =
                        std::mem::take(&mut *parts.lock().unwrap_or_else(PoisonError::into_inner));
                    let rows = template.parts_joined(parts, 1, context);
                    let schema = rows.schema();
                    let counted = rows.inspect_ok(move |batch| {
                        batch.record_output(&output);
                    });
                    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, counted)) as _)
                }
            }
        };
        let rows = stream::once(rows).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}
