//! The operator that stands for a partial aggregation over grouping sets: its input has the groups of all keys.

use std::fmt::{self, Formatter};
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use futures::{StreamExt, TryStreamExt, stream};

use super::cascade::SetCascade;
use super::merging::{SetExpansion, merging};
use crate::optimize::batches_once::batches_once;
use crate::optimize::hashed_groups::hashed_where_on;
use crate::optimize::switches::is_on;
use crate::scan::{AggregateStandIn, StandInExec};

/// The operator.
pub(super) type StagedSetsExec = StandInExec<StagedSets>;

#[derive(Debug)]
pub(super) struct StagedSets {
    /// What it stands for.
    pub(super) aggregate: AggregateExec,
    /// The states of the groups of all keys.
    pub(super) groups: Arc<dyn ExecutionPlan>,
}

impl AggregateStandIn for StagedSets {
    const NAME: &'static str = "StagedSetsExec";
    const WANTS_PARTITIONS: bool = false;

    fn aggregate(&self) -> &AggregateExec {
        &self.aggregate
    }

    fn input(&self) -> &Arc<dyn ExecutionPlan> {
        &self.groups
    }

    fn over(&self, groups: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(StandInExec::new(Self {
            aggregate: self.aggregate.clone(),
            groups,
        })))
    }

    fn describe(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "sets={}, ", self.aggregate.group_expr().groups().len())
    }

    fn run(
        &self,
        metrics: &ExecutionPlanMetricsSet,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let output = BaselineMetrics::new(metrics, partition);
        let elapsed = output.clone();
        let aggregate = self.aggregate.clone();
        let mut groups = self.groups.execute(partition, Arc::clone(&context))?;
        let states = async move {
            while let Some(batch) = groups.next().await {
                let batch = batch?;
                if batch.num_rows() > 0 {
                    return sets_of(&aggregate, batch, groups, elapsed, context);
                }
            }
            without_rows(aggregate, context)
        };
        let states = stream::once(states).try_flatten();
        let counted = states.inspect_ok(move |batch| output.record_output(batch.num_rows()));
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            self.aggregate.schema(),
            counted,
        )))
    }
}

/// The states of the sets, from those of groups.
fn sets_of(
    aggregate: &AggregateExec,
    first: RecordBatch,
    others: SendableRecordBatchStream,
    metrics: BaselineMetrics,
    context: Arc<TaskContext>,
) -> Result<SendableRecordBatchStream> {
    let groups = first.schema();
    let all = stream::iter([Ok(first)]).chain(others);
    let all: SendableRecordBatchStream = Box::pin(RecordBatchStreamAdapter::new(groups, all));
    let is_hashed = is_on(context.session_config().options(), |ours| {
        ours.hashed_groups
    });
    if !is_hashed || !SetCascade::covers(aggregate)? {
        return merged(aggregate, all, context);
    }
    let cascade = SetCascade::new(aggregate, all, metrics, &context)?;
    let states = stream::try_unfold(cascade, SetCascade::next);
    let schema = aggregate.schema();
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, states)))
}

/// The states of the sets, each put together of those of all groups.
fn merged(
    aggregate: &AggregateExec,
    groups: SendableRecordBatchStream,
    context: Arc<TaskContext>,
) -> Result<SendableRecordBatchStream> {
    let expansion = SetExpansion::new(aggregate);
    let schema = Arc::clone(expansion.schema());
    let states = groups.map(move |batch| {
        let batches = expansion.expand(&batch?)?;
        Ok::<_, DataFusionError>(stream::iter(batches).map(Ok))
    });
    let states = RecordBatchStreamAdapter::new(schema, states.try_flatten());
    let merging = Arc::new(merging(aggregate, batches_once(Box::pin(states))?)?);
    let options = context.session_config().options();
    hashed_where_on(merging, options)?.execute(0, context)
}

/// What comes of no rows: the set without keys has a group nevertheless.
fn without_rows(
    aggregate: AggregateExec,
    context: Arc<TaskContext>,
) -> Result<SendableRecordBatchStream> {
    let nothing = Arc::new(EmptyExec::new(aggregate.input().schema()));
    replace_children_if_necessary(Arc::new(aggregate), vec![nothing])?.execute(0, context)
}
