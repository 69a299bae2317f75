//! The operator that stands for a window. It has its properties, asks the same of its input, and gives the same rows in the same order.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics, internal_err};
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::window::WindowExpr;
use datafusion::physical_expr_common::sort_expr::OrderingRequirements;
use datafusion::physical_plan::execution_plan::{CardinalityEffect, ChildrenPropertiesMode};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, InputDistributionRequirements, PlanProperties,
    ReplaceChildrenOptions,
};
use futures::stream;

use super::calls::WindowCall;
use super::rows::WindowedRows;

/// The operator.
pub(in crate::optimize) struct SortedWindowsExec {
    /// What it stands for.
    window: Arc<dyn ExecutionPlan>,
    /// One of the functions: all have its keys.
    keys: Arc<dyn WindowExpr>,
    names: Vec<String>,
    calls: Vec<WindowCall>,
    metrics: ExecutionPlanMetricsSet,
}

impl SortedWindowsExec {
    /// `None` without functions. `calls` are these functions.
    pub(super) fn new(
        window: Arc<dyn ExecutionPlan>,
        functions: &[Arc<dyn WindowExpr>],
        calls: Vec<WindowCall>,
    ) -> Option<Self> {
        let name = |function: &Arc<dyn WindowExpr>| {
            let frame = function.get_window_frame();
            format!("{}: {frame}", function.name())
        };
        Some(Self {
            keys: Arc::clone(functions.first()?),
            names: functions.iter().map(name).collect(),
            window: Arc::clone(&window),
            calls,
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    pub(in crate::optimize) fn window(&self) -> &Arc<dyn ExecutionPlan> {
        &self.window
    }

    fn input(&self) -> Result<&Arc<dyn ExecutionPlan>> {
        match <[_; 1]>::try_from(self.window.children()) {
            Ok([input]) => Ok(input),
            Err(_) => internal_err!("a window has one input"),
        }
    }
}

impl Debug for SortedWindowsExec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("SortedWindowsExec")
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}

impl DisplayAs for SortedWindowsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "SortedWindowsExec: windows=[{}]", self.names.join(", "))
    }
}

impl ExecutionPlan for SortedWindowsExec {
    fn name(&self) -> &str {
        "SortedWindowsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.window.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.window.children()
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        self.window.input_distribution_requirements()
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        self.window.required_input_ordering()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        self.window.maintains_input_order()
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        self.window.benefits_from_input_partitioning()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.window.apply_expressions(f)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self {
            window: Arc::clone(&self.window).replace_children(children, options)?,
            keys: Arc::clone(&self.keys),
            names: self.names.clone(),
            calls: self.calls.clone(),
            metrics: ExecutionPlanMetricsSet::new(),
        }))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        self.replace_children(children, options)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let consumer = MemoryConsumer::new(format!("SortedWindowsExec[{partition}]"));
        let reservation = consumer.register(context.memory_pool());
        let rows = WindowedRows::new(
            self.input()?.execute(partition, context)?,
            self.schema(),
            self.keys.as_ref(),
            &self.calls,
            reservation,
            BaselineMetrics::new(&self.metrics, partition),
        )?;
        let batches = stream::try_unfold(rows, |mut rows| async move {
            let batch = rows.next().await?;
            Ok(batch.map(|batch| (batch, rows)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            self.schema(),
            batches,
        )))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        self.window.child_stats_requests(partition)
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        self.window.statistics_from_inputs(inputs, args)
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        self.window.cardinality_effect()
    }
}
