//! Operators that pass on the rows of their one input, in their order.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::sort_expr::OrderingRequirements;
use datafusion::physical_plan::execution_plan::{CardinalityEffect, ChildrenPropertiesMode};
use datafusion::physical_plan::filter_pushdown::{
    ChildFilterDescription, FilterDescription, FilterPushdownPhase,
};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions,
};

/// What such an operator is for. The defaults are those of most.
pub(super) trait RowPassing: Debug + Send + Sync + Sized + 'static {
    const NAME: &'static str;
    /// Whether the order of the input is promised.
    const KEEPS_ORDER: bool = false;
    /// Whether more partitions of the input are worth while.
    const WANTS_PARTITIONS: bool = true;
    /// Whether filters of joins above go on to the input.
    const PASSES_FILTERS: bool = false;
    /// Whether it is known that the rows are as many as those of the input, and have their statistics.
    const KEEPS_STATISTICS: bool = true;

    /// The operator over an input, with what it promises of those rows.
    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>>;

    /// As `EXPLAIN` shows it.
    fn describe(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAME)
    }

    /// The order in which the rows of the input have to come.
    fn required_order(&self, _: &Arc<dyn ExecutionPlan>) -> Option<OrderingRequirements> {
        None
    }

    /// A filter that is tightened while the plan runs, for the scans of the input.
    fn dynamic_filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        None
    }

    /// The rows of a partition, from those of the input.
    fn pass(
        &self,
        rows: SendableRecordBatchStream,
        _partition: usize,
        _context: &TaskContext,
    ) -> SendableRecordBatchStream {
        rows
    }
}

/// The rows of an input, passed on for one purpose.
#[derive(Debug)]
pub(super) struct PassedRows<P> {
    pub(super) input: Arc<dyn ExecutionPlan>,
    pub(super) purpose: P,
    properties: Arc<PlanProperties>,
}

impl<P: RowPassing> PassedRows<P> {
    pub(super) fn new(
        input: Arc<dyn ExecutionPlan>,
        purpose: P,
        properties: Arc<PlanProperties>,
    ) -> Self {
        Self {
            input,
            purpose,
            properties,
        }
    }
}

impl<P: RowPassing> DisplayAs for PassedRows<P> {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut Formatter<'_>) -> fmt::Result {
        self.purpose.describe(f)
    }
}

impl<P: RowPassing> ExecutionPlan for PassedRows<P> {
    fn name(&self) -> &str {
        P::NAME
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![self.purpose.required_order(&self.input)]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![P::KEEPS_ORDER]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![P::WANTS_PARTITIONS]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match children.into_iter().next() {
            Some(input) => self.purpose.over(input),
            None => internal_err!("{} has one input", P::NAME),
        }
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
        let rows = self.input.execute(partition, Arc::clone(&context))?;
        Ok(self.purpose.pass(rows, partition, &context))
    }

    fn gather_filters_for_pushdown(
        &self,
        phase: FilterPushdownPhase,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        let passed = match P::PASSES_FILTERS {
            true => ChildFilterDescription::from_child(&filters, &self.input)?,
            false => ChildFilterDescription::all_unsupported(&filters),
        };
        let own = self.purpose.dynamic_filter();
        let own = own.filter(|_| matches!(phase, FilterPushdownPhase::Post));
        let own = own.into_iter().collect();
        Ok(FilterDescription::new().with_child(passed.with_self_filters(own)))
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        if P::KEEPS_STATISTICS {
            vec![ChildStats::At(partition)]
        } else {
            vec![ChildStats::Skip]
        }
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        _: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        match inputs.first() {
            Some(statistics) => Ok(Arc::clone(statistics)),
            None => internal_err!("{} has one input", P::NAME),
        }
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        if P::KEEPS_STATISTICS {
            CardinalityEffect::Equal
        } else {
            CardinalityEffect::Unknown
        }
    }
}
