//! The operator.

use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{Partitioning, PhysicalExpr};
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterDescription, FilterPushdownPhase, FilterPushdownPropagation,
};
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::metrics::{
    BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet, RecordOutput, SpillMetrics,
};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, InputDistributionRequirements, PlanProperties,
    replace_children_if_necessary,
};
use futures::future::{BoxFuture, Shared};
use futures::{FutureExt, TryStreamExt, stream};

use super::inputs::{JoinInputs, JoinPart, JoinTemplate};

/// The inputs of a join, as soon as the build side has been read.
type FoundInputs = std::result::Result<Arc<FoundJoinInputs>, Arc<DataFusionError>>;

enum FoundJoinInputs {
    InMemory(Arc<dyn ExecutionPlan>),
    /// Those of each partition of the result, until it is read.
    Parts(Vec<Mutex<Vec<JoinPart>>>),
}

/// A hash join whose build side may be larger than memory.
pub(in crate::optimize) struct HybridHashJoinExec {
    /// Collects its build side, and is never executed itself.
    join: Arc<HashJoinExec>,
    /// What the build side may take in memory.
    bytes_max: usize,
    properties: Arc<PlanProperties>,
    /// Of parts. What is in memory is counted by the join.
    metrics: ExecutionPlanMetricsSet,
    found: Mutex<Option<Shared<BoxFuture<'static, FoundInputs>>>>,
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
        Ok(Some(Self::new(join.build()?, bytes_max)))
    }

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
            metrics: ExecutionPlanMetricsSet::new(),
            found: Mutex::new(None),
        }
    }

    /// What it computes.
    pub(in crate::optimize) fn join(&self) -> &HashJoinExec {
        &self.join
    }

    /// The operator for another form of the join.
    pub(in crate::optimize) fn with_join(&self, join: HashJoinExec) -> Self {
        Self::new(join, self.bytes_max)
    }

    fn template(&self) -> JoinTemplate {
        JoinTemplate {
            join: Arc::clone(&self.join),
            bytes_max: self.bytes_max,
            metrics: SpillMetrics::new(&self.metrics, 0),
        }
    }

    /// The inputs. The first call has them read.
    fn found(&self, context: &Arc<TaskContext>) -> Shared<BoxFuture<'static, FoundInputs>> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let start = || {
            let (template, context) = (self.template(), Arc::clone(context));
            let partition_count = self.properties.partitioning.partition_count();
            let inputs = async move {
                match template.inputs(context).await.map_err(Arc::new)? {
                    JoinInputs::InMemory(join) => Ok(Arc::new(FoundJoinInputs::InMemory(join))),
                    JoinInputs::Parts(parts) => {
                        let dealt = dealt(parts, partition_count);
                        Ok(Arc::new(FoundJoinInputs::Parts(dealt)))
                    }
                }
            };
            inputs.boxed().shared()
        };
        found.get_or_insert_with(start).clone()
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

impl Debug for HybridHashJoinExec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("HybridHashJoinExec")
            .field("join", &self.join)
            .finish_non_exhaustive()
    }
}

impl DisplayAs for HybridHashJoinExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut Formatter<'_>) -> fmt::Result {
        struct Inner<'j>(&'j HashJoinExec, DisplayFormatType);
        impl fmt::Display for Inner<'_> {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                self.0.fmt_as(self.1, f)
            }
        }
        let inner = Inner(&self.join, format).to_string();
        let behind = inner.strip_prefix(self.join.name()).unwrap_or(&inner);
        write!(f, "HybridHashJoinExec{behind}")
    }
}

impl ExecutionPlan for HybridHashJoinExec {
    fn name(&self) -> &str {
        "HybridHashJoinExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.join.children()
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        self.join.input_distribution_requirements()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![false; 2]
    }

    fn dynamic_expressions_produced(&self) -> Vec<Arc<dyn PhysicalExpr>> {
        self.join.dynamic_expressions_produced()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.join.apply_expressions(f)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let join = self.join.builder().recompute_properties();
        let join = join.with_new_children(children)?.build()?;
        Ok(Arc::new(self.with_join(join)))
    }

    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(
            self.with_join(self.join.builder().reset_state().build()?),
        ))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let found = self.found(&context);
        let template = self.template();
        let output = BaselineMetrics::new(&self.metrics, partition);
        let rows = async move {
            match found.await.map_err(DataFusionError::Shared)?.as_ref() {
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
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        let mut metrics = self.join.metrics().unwrap_or_default();
        for metric in self.metrics.clone_inner().iter() {
            metrics.push(Arc::clone(metric));
        }
        Some(metrics)
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        self.join.child_stats_requests(partition)
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        self.join.statistics_from_inputs(inputs, args)
    }

    /// The join takes in columns that nobody needs. What it becomes is a join, or one below a projection of its own.
    fn try_swapping_with_projection(
        &self,
        projection: &ProjectionExec,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let Some(swapped) = self.join.try_swapping_with_projection(projection)? else {
            return Ok(None);
        };
        let hybrid = |plan: &Arc<dyn ExecutionPlan>| match plan.downcast_ref::<HashJoinExec>() {
            Some(join) => {
                let join = self.with_join(join.builder().build()?);
                Ok::<_, DataFusionError>(Some(Arc::new(join) as Arc<dyn ExecutionPlan>))
            }
            None => Ok(None),
        };
        if let Some(join) = hybrid(&swapped)? {
            return Ok(Some(join));
        }
        let below = match swapped.children().as_slice() {
            [input] => hybrid(input)?,
            _ => None,
        };
        let below = below.map(|join| replace_children_if_necessary(swapped, vec![join]));
        below.transpose()
    }

    fn gather_filters_for_pushdown(
        &self,
        phase: FilterPushdownPhase,
        parent_filters: Vec<Arc<dyn PhysicalExpr>>,
        config: &ConfigOptions,
    ) -> Result<FilterDescription> {
        self.join
            .gather_filters_for_pushdown(phase, parent_filters, config)
    }

    fn handle_child_pushdown_result(
        &self,
        phase: FilterPushdownPhase,
        result: ChildPushdownResult,
        config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let mut result = self
            .join
            .handle_child_pushdown_result(phase, result, config)?;
        if let Some(updated) = &result.updated_node {
            let Some(join) = updated.downcast_ref::<HashJoinExec>() else {
                return internal_err!("a hash join has become {}", updated.name());
            };
            result.updated_node = Some(Arc::new(self.with_join(join.builder().build()?)));
        }
        Ok(result)
    }
}
