//! The operator that stands for a partial aggregation of stored integers.
//!
//! The operator that it stands for still aggregates what does not come as vectors. Both leave partial states; the final aggregation puts them together, as it does with those of several partitions.

use std::fmt::{self, Formatter};
use std::pin::Pin;
use std::sync::{Arc, OnceLock, PoisonError};
use std::task::{Context, Poll};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::config::ConfigOptions;
use datafusion::common::{Result, internal_err};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet};
use datafusion::physical_plan::streaming::StreamingTableExec;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use futures::stream::Fuse;
use futures::{Stream, StreamExt};

use super::super::aggregate_stand_in::{AggregateStandIn, StandInExec};
use super::super::source::ColumnScan;
use super::super::stream::SharedScan;
use super::fold::VectorAggregation;
use super::input::projected;
use super::keys::VectorKeys;
use super::rest::{FoldedStates, RestRows};
use super::states::StateShape;

/// The operator.
pub(crate) type VectorAggregateExec = StandInExec<VectorStandIn>;

/// A step of planning that the options of a session may switch off.
pub(crate) type PlanRewrite =
    fn(Arc<dyn ExecutionPlan>, &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>>;

#[derive(Clone)]
pub(crate) struct VectorStandIn {
    /// What it stands for, in mode Partial.
    pub(super) aggregate: Arc<AggregateExec>,
    /// Between the scan and the aggregate, from the scan upwards.
    pub(super) projections: Vec<Arc<dyn ExecutionPlan>>,
    pub(super) leaf: Arc<dyn ExecutionPlan>,
    pub(super) aggregation: VectorAggregation,
    pub(super) for_rest: PlanRewrite,
    /// The scan of one execution, common to its partitions.
    pub(super) scan: Arc<OnceLock<Arc<SharedScan>>>,
}

impl VectorStandIn {
    fn source(&self) -> Result<&ColumnScan> {
        let source = self.leaf.downcast_ref::<DataSourceExec>();
        match source.and_then(|source| source.data_source().downcast_ref::<ColumnScan>()) {
            Some(scan) => Ok(scan),
            None => internal_err!("a vector aggregation reads another source of rows"),
        }
    }

    /// Whether it hands on groups in the order of their only key, an integer that is never NULL, as far as the zones of the table tell.
    pub(crate) fn seems_in_order(&self) -> bool {
        match (&self.aggregation.keys, self.source()) {
            (VectorKeys::Window(key), Ok(scan)) => {
                !key.has_nulls && scan.table.seems_in_order_of(key.column)
            }
            _ => false,
        }
    }

    /// The operator that it stands for, over another source of the same rows.
    fn aggregate_over(&self, leaf: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        let input = projected(&self.projections, leaf)?;
        let aggregate = Arc::clone(&self.aggregate) as Arc<dyn ExecutionPlan>;
        replace_children_if_necessary(aggregate, vec![input])
    }
}

impl fmt::Debug for VectorStandIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VectorStandIn")
            .field("aggregate", &self.aggregate)
            .finish_non_exhaustive()
    }
}

impl AggregateStandIn for VectorStandIn {
    const NAME: &'static str = "VectorAggregateExec";
    const WANTS_PARTITIONS: bool = false;

    fn aggregate(&self) -> &AggregateExec {
        &self.aggregate
    }

    fn input(&self) -> &Arc<dyn ExecutionPlan> {
        &self.leaf
    }

    /// Over anything but the scan that it was made for it is what it stands for.
    fn over(&self, leaf: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        let table = self.source().map(|scan| Arc::clone(&scan.table));
        let over = Self {
            leaf,
            scan: Arc::default(),
            ..self.clone()
        };
        match (table, over.source()) {
            (Ok(old), Ok(new)) if Arc::ptr_eq(&old, &new.table) => {
                Ok(Arc::new(StandInExec::new(over)))
            }
            _ => over.aggregate_over(Arc::clone(&over.leaf)),
        }
    }

    fn describe(&self, _: &mut Formatter<'_>) -> fmt::Result {
        Ok(())
    }

    fn run(
        &self,
        metrics: &ExecutionPlanMetricsSet,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let source = self.source()?;
        let batch_rows = context.session_config().batch_size();
        let scan = self.scan.get_or_init(|| source.shared(batch_rows));
        let metrics = BaselineMetrics::new(metrics, partition);
        let folded = FoldedStates::default();
        let rest = RestRows {
            scan: Arc::clone(scan),
            aggregation: self.aggregation.clone(),
            schema: self.leaf.schema(),
            states: StateShape {
                schema: self.aggregate.schema(),
                batch_rows,
            },
            folded: Arc::clone(&folded),
            scan_metrics: BaselineMetrics::new(&source.metrics, partition),
            metrics: metrics.clone(),
        };
        let schema = self.leaf.schema();
        let rows =
            StreamingTableExec::try_new(schema, vec![Arc::new(rest)], None, [], false, None)?;
        let rest = self.aggregate_over(Arc::new(rows))?;
        let rest = (self.for_rest)(rest, context.session_config().options())?;
        let rest = rest.execute(0, context)?;
        Ok(Box::pin(PartialStates {
            rest: rest.fuse(),
            folded,
            schema: self.aggregate.schema(),
            metrics,
        }))
    }
}

/// The partial states of a partition: those of its vectors as soon as they are there, and those of the rest.
struct PartialStates {
    /// Its input aggregates the vectors.
    rest: Fuse<SendableRecordBatchStream>,
    folded: FoldedStates,
    schema: SchemaRef,
    metrics: BaselineMetrics,
}

impl PartialStates {
    fn next_folded(&self) -> Option<RecordBatch> {
        let mut folded = self.folded.lock().unwrap_or_else(PoisonError::into_inner);
        folded.pop_front()
    }
}

impl Stream for PartialStates {
    type Item = Result<RecordBatch>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let stream = self.get_mut();
        let next = match stream.next_folded() {
            Some(batch) => Poll::Ready(Some(Ok(batch))),
            // Vectors may have been aggregated while no other row has come.
            None => match stream.rest.poll_next_unpin(context) {
                Poll::Ready(Some(next)) => Poll::Ready(Some(next)),
                other => match stream.next_folded() {
                    Some(batch) => Poll::Ready(Some(Ok(batch))),
                    None => other,
                },
            },
        };
        if let Poll::Ready(Some(Ok(batch))) = &next {
            stream.metrics.record_output(batch.num_rows());
        }
        next
    }
}

impl RecordBatchStream for PartialStates {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
