//! The operator of a recursion.

use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, InputDistributionRequirements,
    PlanProperties,
};

use super::round_rows::RoundRows;
use super::rounds::Rounds;
use super::work_table::{WorkTable, WorkTableScan};

/// The rows of the first term, then those of the recursive term, which is executed for the rows of the round before until a round has none.
#[derive(Debug, Clone)]
pub(super) struct RecursiveQuery {
    name: String,
    first: Arc<dyn ExecutionPlan>,
    recursive: Arc<dyn ExecutionPlan>,
    is_distinct: bool,
    metrics: ExecutionPlanMetricsSet,
    properties: Arc<PlanProperties>,
}

impl RecursiveQuery {
    pub(super) fn of(query: &RecursiveQueryExec) -> Self {
        Self {
            name: query.name().to_owned(),
            first: Arc::clone(query.static_term()),
            recursive: Arc::clone(query.recursive_term()),
            is_distinct: query.is_distinct(),
            metrics: ExecutionPlanMetricsSet::new(),
            properties: Arc::clone(query.properties()),
        }
    }
}

/// The recursive term of the recursion called `name`, which reads `table`. Of two recursions around a place that shares rows, the inner one
/// comes last: its rounds are the shorter ones.
fn reading(
    term: Arc<dyn ExecutionPlan>,
    name: &str,
    table: &Arc<WorkTable>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let term = term.transform_up(|node| {
        if let Some(rows) = node.downcast_ref::<RoundRows>() {
            let plan = reading(Arc::clone(rows.plan()), name, table)?;
            let rows = rows.in_execution(plan, table);
            return Ok(Transformed::yes(Arc::new(rows) as _));
        }
        let scan = node.downcast_ref::<WorkTableScan>();
        let scan = scan.and_then(|scan| scan.in_execution(name, table));
        Ok(match scan {
            Some(scan) => Transformed::yes(Arc::new(scan) as _),
            None => Transformed::no(node),
        })
    })?;
    Ok(term.data)
}

impl DisplayAs for RecursiveQuery {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name, is_distinct, ..
        } = self;
        write!(f, "RecursiveQuery: name={name}, is_distinct={is_distinct}")
    }
}

impl ExecutionPlan for RecursiveQuery {
    fn name(&self) -> &str {
        "RecursiveQuery"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.first, &self.recursive]
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition; 2])
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![false; 2]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false; 2]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Ok([first, recursive]) = <[_; 2]>::try_from(children) else {
            return internal_err!("a recursive query has two terms");
        };
        let mut query = Arc::unwrap_or_clone(self);
        (query.first, query.recursive) = (first, recursive);
        query.metrics = ExecutionPlanMetricsSet::new();
        Ok(Arc::new(query))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        // A work table of its own for each execution: two sessions may execute one plan.
        let table = Arc::new(WorkTable::default());
        let recursive = reading(Arc::clone(&self.recursive), &self.name, &table)?;
        let first = self.first.execute(partition, Arc::clone(&context))?;
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let rounds = Rounds::new(first, recursive, table, self.is_distinct, context)?;
        let rows = rounds.into_stream(metrics);
        let schema = self.schema();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
