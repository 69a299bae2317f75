//! Operators that stand for a hash join: they have its inputs, its expressions and its statistics, and compute the same in another way.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterDescription, FilterPushdownPhase, FilterPushdownPropagation,
};
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, InputDistributionRequirements, PlanProperties,
    replace_children_if_necessary,
};

/// How such an operator computes.
pub(super) trait JoinStandIn: Debug + Send + Sync + Sized + 'static {
    const NAME: &'static str;
    /// Whether rows keep the order that the join promises.
    const KEEPS_ORDER: bool;

    /// What it stands for. It collects its build side, and is never executed itself.
    fn join(&self) -> &Arc<HashJoinExec>;

    fn properties(&self) -> &Arc<PlanProperties>;

    /// The same for another form of the join, in a state of its own.
    fn with_join(&self, join: HashJoinExec) -> Self;

    /// What the join that it runs has counted.
    fn counted(&self) -> Option<MetricsSet> {
        self.join().metrics()
    }

    /// The rows of a partition.
    fn run(
        &self,
        metrics: &ExecutionPlanMetricsSet,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream>;
}

/// The operator.
#[derive(Debug)]
pub(super) struct JoinStandInExec<S> {
    stand_in: S,
    metrics: ExecutionPlanMetricsSet,
}

impl<S: JoinStandIn> JoinStandInExec<S> {
    pub(super) fn new(stand_in: S) -> Self {
        Self {
            stand_in,
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// What it computes.
    pub(super) fn join(&self) -> &HashJoinExec {
        self.stand_in.join()
    }

    /// The operator for another form of the join.
    pub(super) fn with_join(&self, join: HashJoinExec) -> Self {
        Self::new(self.stand_in.with_join(join))
    }
}

impl<S: JoinStandIn> DisplayAs for JoinStandInExec<S> {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut Formatter<'_>) -> fmt::Result {
        struct Inner<'j>(&'j HashJoinExec, DisplayFormatType);
        impl fmt::Display for Inner<'_> {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                self.0.fmt_as(self.1, f)
            }
        }
        let join = self.join();
        let inner = Inner(join, format).to_string();
        let behind = inner.strip_prefix(join.name()).unwrap_or(&inner);
        write!(f, "{}{behind}", S::NAME)
    }
}

impl<S: JoinStandIn> ExecutionPlan for JoinStandInExec<S> {
    fn name(&self) -> &str {
        S::NAME
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.stand_in.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.join().children()
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        self.join().input_distribution_requirements()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        match S::KEEPS_ORDER {
            true => self.join().maintains_input_order(),
            false => vec![false; 2],
        }
    }

    fn dynamic_expressions_produced(&self) -> Vec<Arc<dyn PhysicalExpr>> {
        self.join().dynamic_expressions_produced()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.join().apply_expressions(f)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let join = self.join().builder().recompute_properties();
        let join = join.with_new_children(children)?.build()?;
        Ok(Arc::new(self.with_join(join)))
    }

    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        let join = self.join().builder().reset_state().build()?;
        Ok(Arc::new(self.with_join(join)))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.stand_in.run(&self.metrics, partition, context)
    }

    fn metrics(&self) -> Option<MetricsSet> {
        let mut metrics = self.stand_in.counted().unwrap_or_default();
        for metric in self.metrics.clone_inner().iter() {
            metrics.push(Arc::clone(metric));
        }
        Some(metrics)
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        self.join().child_stats_requests(partition)
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        self.join().statistics_from_inputs(inputs, args)
    }

    /// The join takes in columns that nobody needs. What it becomes is a join, or one below a projection of its own.
    fn try_swapping_with_projection(
        &self,
        projection: &ProjectionExec,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let Some(swapped) = self.join().try_swapping_with_projection(projection)? else {
            return Ok(None);
        };
        let stand_in = |plan: &Arc<dyn ExecutionPlan>| match plan.downcast_ref::<HashJoinExec>() {
            Some(join) => {
                let join = self.with_join(join.builder().build()?);
                Ok::<_, DataFusionError>(Some(Arc::new(join) as Arc<dyn ExecutionPlan>))
            }
            None => Ok(None),
        };
        if let Some(join) = stand_in(&swapped)? {
            return Ok(Some(join));
        }
        let below = match swapped.children().as_slice() {
            [input] => stand_in(input)?,
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
        self.join()
            .gather_filters_for_pushdown(phase, parent_filters, config)
    }

    fn handle_child_pushdown_result(
        &self,
        phase: FilterPushdownPhase,
        result: ChildPushdownResult,
        config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let mut result = self
            .join()
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
