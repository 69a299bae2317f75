//! A place that reads the rows of a shared subplan.
//!
//! Whichever place is read first starts a task that runs the subplan and keeps its rows. The task does not depend on the place that started it:
//! a join that reads one place to its end before another one does not wait for itself. Where there is no memory for the rows, each place runs
//! the subplan by itself.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, reset_plan_states};
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, execute_stream,
};
use futures::future::BoxFuture;
use futures::{StreamExt, TryStreamExt, stream};

use crate::optimize::materialized_rows::{MaterializedRows, is_out_of_memory};
use crate::optimize::shared_task::SharedTask;

/// The rows, or nothing if there is no memory for them.
type FoundRows = Option<Arc<MaterializedRows>>;

/// The rows of a subplan in one statement.
pub(in crate::optimize) struct SubplanRows {
    plan: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
    /// Of the subplan among those of the statement.
    number: usize,
    statistics: Arc<Statistics>,
    found: SharedTask<FoundRows>,
}

impl SubplanRows {
    /// `plan` may know more of its columns than `schema`: that they are without NULLs.
    pub(in crate::optimize) fn new(
        plan: Arc<dyn ExecutionPlan>,
        schema: SchemaRef,
        number: usize,
    ) -> Result<Arc<Self>> {
        let statistics = StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new())?;
        Ok(Arc::new(Self {
            plan,
            schema,
            number,
            statistics,
            found: SharedTask::default(),
        }))
    }

    /// The rows, as soon as they are known. The first call has them computed.
    fn found(&self, context: &Arc<TaskContext>) -> BoxFuture<'static, Result<FoundRows>> {
        self.found.result(|| {
            let (plan, schema) = (Arc::clone(&self.plan), Arc::clone(&self.schema));
            let context = Arc::clone(context);
            async move {
                match MaterializedRows::of(plan, &schema, context).await {
                    Ok(rows) => Ok(Some(Arc::new(rows))),
                    Err(error) if is_out_of_memory(&error) => Ok(None),
                    Err(error) => Err(error),
                }
            }
        })
    }
}

/// A place that reads the rows.
pub(in crate::optimize) struct SharedSubplanExec {
    /// Its plan is no child: rules could change it in one place and not in another.
    rows: Arc<SubplanRows>,
    /// The first place shows the subplan.
    is_first: bool,
    properties: Arc<PlanProperties>,
}

impl SharedSubplanExec {
    /// A place that deals the rows to so many partitions.
    pub(in crate::optimize) fn new(
        rows: Arc<SubplanRows>,
        is_first: bool,
        partition_count: usize,
    ) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&rows.schema)),
            Partitioning::UnknownPartitioning(partition_count),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Self {
            rows,
            is_first,
            properties: Arc::new(properties),
        }
    }

    /// What `EXPLAIN` shows below the place.
    pub(super) fn shown_plan(&self) -> Option<&Arc<dyn ExecutionPlan>> {
        self.is_first.then_some(&self.rows.plan)
    }

    /// What is computed once.
    pub(in crate::optimize) fn plan(&self) -> &Arc<dyn ExecutionPlan> {
        &self.rows.plan
    }

    fn partition_count(&self) -> usize {
        self.properties.partitioning.partition_count()
    }
}

impl fmt::Debug for SubplanRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubplanRows")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for SharedSubplanExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedSubplanExec")
            .field("number", &self.rows.number)
            .finish_non_exhaustive()
    }
}

impl DisplayAs for SharedSubplanExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.rows.number;
        write!(f, "SharedSubplanExec: subplan={number}")
    }
}

impl ExecutionPlan for SharedSubplanExec {
    fn name(&self) -> &str {
        "SharedSubplanExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    /// The rows are those of the statement, in each round of a recursion, too.
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let (rows, partition_count) = (Arc::clone(&self.rows), self.partition_count());
        let batches = async move {
            match rows.found(&context).await? {
                Some(found) => {
                    let batches = found.read().skip(partition).enumerate();
                    let dealt = batches.filter_map(move |(position, batch)| {
                        let is_own = position.is_multiple_of(partition_count);
                        std::future::ready(is_own.then_some(batch))
                    });
                    Ok(dealt.boxed())
                }
                None if partition == 0 => {
                    let plan = reset_plan_states(Arc::clone(&rows.plan))?;
                    let schema = Arc::clone(&rows.schema);
                    let batches = execute_stream(plan, context)?;
                    let named = move |batch: Result<RecordBatch>| {
                        Ok(batch?.with_schema(Arc::clone(&schema))?)
                    };
                    Ok(batches.map(named).boxed())
                }
                None => Ok::<_, DataFusionError>(stream::empty().boxed()),
            }
        };
        let batches = stream::once(batches).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            self.schema(),
            batches,
        )))
    }

    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        if args.partition().is_some() {
            return Ok(Arc::new(Statistics::new_unknown(&self.schema())));
        }
        Ok(Arc::clone(&self.rows.statistics))
    }
}
