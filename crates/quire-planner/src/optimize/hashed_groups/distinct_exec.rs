//! The operator that replaces an aggregation of distinct rows together with the aggregation below it that finds them.
//!
//! DataFusion computes `count(DISTINCT x) … GROUP BY k` as `count(x) … GROUP BY k` of the rows of `SELECT DISTINCT k, x`. With two operators each row is hashed
//! and looked up twice by all its keys, and the distinct rows are materialized in between. [`DistinctStates`] does both in one pass.
//! If memory runs out, the distinct rows are partitioned into temporary files, and both aggregations run partition by partition.

use std::fmt::{self, Formatter};
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::aggregates::{
    AggregateExec, AggregateInputMode, AggregateOutputMode, evaluate_group_by,
};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, SpillMetrics};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ExecutionPlan, InputDistributionRequirements, InputOrderMode, replace_children_if_necessary,
};
use futures::{StreamExt, TryStreamExt, stream};

use super::distinct_states::{DistinctColumns, DistinctStates};
use super::exec::HashedGroups;
use super::hashed_states::Taken;
use crate::optimize::spilled_parts::PartsWriter;
use crate::scan::{AggregateStandIn, StandInExec, counted_rows, stand_in_over};

/// The operator.
pub(super) type DistinctAggregateExec = StandInExec<DistinctGroups>;

#[derive(Clone, Debug)]
pub(super) struct DistinctGroups {
    /// The aggregation of the distinct rows.
    groups: HashedGroups,
    /// Its input, which finds them.
    distinct: HashedGroups,
    columns: DistinctColumns,
}

impl DistinctGroups {
    /// `None` if `aggregate` does not aggregate distinct rows by some of their columns.
    pub(super) fn new(aggregate: &AggregateExec) -> Option<Self> {
        let groups = HashedGroups::new(aggregate)?;
        let distinct = HashedGroups::new(aggregate.input().downcast_ref()?)?;
        let takes_rows = aggregate.mode().input_mode() == AggregateInputMode::Raw;
        let are_distinct = distinct.aggregate.mode().output_mode() == AggregateOutputMode::Final
            && distinct.aggregate.aggr_expr().is_empty();
        let is_simple = [&groups, &distinct].iter().all(|one| {
            one.aggregate.group_expr().is_single()
                && one.aggregate.limit_options().is_none()
                && *one.aggregate.input_order_mode() == InputOrderMode::Linear
        });
        let keys = aggregate.group_expr().expr().iter();
        let keys = keys.map(|(key, _)| key.downcast_ref::<Column>().map(Column::index));
        let columns =
            DistinctColumns::new(&distinct.aggregate.schema(), keys.collect::<Option<_>>()?)?;
        (takes_rows && are_distinct && is_simple).then_some(Self {
            groups,
            distinct,
            columns,
        })
    }

    fn taken(&self) -> Taken {
        match self.groups.aggregate.mode().output_mode() {
            AggregateOutputMode::Partial => Taken::States,
            AggregateOutputMode::Final => Taken::Results,
        }
    }

    fn states(&self, context: &TaskContext) -> Result<DistinctStates> {
        let groups = self.groups.states(context)?;
        Ok(DistinctStates::new(self.columns.clone(), groups))
    }

    /// Rows of the input as the rows among which distinct ones are looked for.
    fn rows(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let aggregate = &self.distinct.aggregate;
        match <[_; 1]>::try_from(evaluate_group_by(aggregate.group_expr(), batch)?) {
            Ok([columns]) => Ok(RecordBatch::try_new(aggregate.schema(), columns)?),
            Err(_) => internal_err!("distinct rows have one grouping set"),
        }
    }

    /// What the aggregation computes of the distinct rows of a partition's input.
    async fn results(
        self,
        mut input: SendableRecordBatchStream,
        metrics: BaselineMetrics,
        spill_metrics: SpillMetrics,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let batch_rows = context.session_config().batch_size();
        let elapsed = metrics.elapsed_compute().clone();
        let whole = self.distinct.whole(metrics.clone(), spill_metrics.clone());
        let write = |states: DistinctStates, parts: &mut PartsWriter| {
            let mut rows = states.into_rows(whole.state_schema()?, batch_rows)?;
            rows.try_for_each(|rows| parts.write(&rows?))
        };
        let mut states = self.states(&context)?;
        let mut parts: Option<PartsWriter> = None;
        while let Some(batch) = input.next().await {
            let _timed = elapsed.timer();
            states.add(&self.rows(&batch?)?)?;
            if states.reserve().is_err() {
                let parts = match &mut parts {
                    Some(parts) => parts,
                    None => parts.insert(whole.split(0)?.writer(&context)),
                };
                let full = std::mem::replace(&mut states, self.states(&context)?);
                write(full, parts)?;
            }
        }
        drop(input);
        let schema = self.groups.aggregate.schema();
        let Some(mut parts) = parts else {
            let _timed = elapsed.timer();
            let taken = states.take(self.taken(), &schema, batch_rows)?;
            let batches = stream::iter(taken.into_iter().flatten());
            return Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)));
        };
        write(states, &mut parts)?;
        let distinct = whole.of_parts(parts.finish()?, 1, Arc::clone(&context));
        self.groups
            .of_rows(distinct, metrics, spill_metrics, context)
    }
}

impl AggregateStandIn for DistinctGroups {
    const NAME: &'static str = "DistinctAggregateExec";
    const WANTS_PARTITIONS: bool = true;

    fn aggregate(&self) -> &AggregateExec {
        &self.groups.aggregate
    }

    fn input(&self) -> &Arc<dyn ExecutionPlan> {
        self.distinct.aggregate.input()
    }

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        let distinct = Arc::clone(&self.distinct.aggregate) as Arc<dyn ExecutionPlan>;
        let distinct = replace_children_if_necessary(distinct.reset_state()?, vec![input])?;
        stand_in_over(
            &self.groups.aggregate,
            distinct,
            |aggregate| match Self::new(&aggregate) {
                Some(over) => Ok(over),
                None => internal_err!("an aggregation of distinct rows has become another"),
            },
        )
    }

    fn distribution(&self) -> InputDistributionRequirements {
        self.distinct.aggregate.input_distribution_requirements()
    }

    fn describe(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let schema = self.distinct.aggregate.schema();
        let values = self.columns.values().iter();
        let values: Vec<&str> = values
            .map(|&column| schema.field(column).name().as_str())
            .collect();
        write!(f, "distinct=[{}], ", values.join(", "))
    }

    fn run(
        &self,
        metrics: &ExecutionPlanMetricsSet,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let input = self.input().execute(partition, Arc::clone(&context))?;
        let spill_metrics = SpillMetrics::new(metrics, partition);
        let metrics = BaselineMetrics::new(metrics, partition);
        let results = self
            .clone()
            .results(input, metrics.clone(), spill_metrics, context);
        let rows = stream::once(results).try_flatten();
        let schema = self.groups.aggregate.schema();
        Ok(counted_rows(rows, schema, metrics))
    }
}
