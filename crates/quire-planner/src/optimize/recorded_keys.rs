//! Has the scans of a join's probe side test the keys of its build side by bits: see [`BuildKeyRecord`].

use std::fmt::{self, Formatter};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{NullEquality, Result};
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use futures::{Stream, StreamExt};

use super::hybrid_joins::HybridHashJoinExec;
use super::passed_rows::{PassedRows, RowPassing};
use crate::scan::{BuildKeyRecord, BuildKeyRecorder, record_keys};

/// One key of the build side, and where it is recorded.
type RecordedKey = (Arc<dyn PhysicalExpr>, Arc<BuildKeyRecord>);

/// Records keys of the rows.
#[derive(Clone, Debug)]
pub(super) struct RecordedKeys {
    keys: Vec<RecordedKey>,
}

/// The join with a record of its keys; `None` if no scan needs one.
pub(super) fn with_records(
    plan: &Arc<dyn ExecutionPlan>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let hybrid = plan.downcast_ref::<HybridHashJoinExec>();
    let hash = plan.downcast_ref::<HashJoinExec>();
    let Some(join) = hash.or(hybrid.map(HybridHashJoinExec::join)) else {
        return Ok(None);
    };
    let keys = recorded_keys(join)?;
    if keys.is_empty() {
        return Ok(None);
    }
    let build = RecordedKeys { keys }.over(Arc::clone(join.left()))?;
    let children = vec![build, Arc::clone(join.right())];
    replace_children_if_necessary(Arc::clone(plan), children).map(Some)
}

/// The keys of a join that scans of its probe side compare with stored integers.
fn recorded_keys(join: &HashJoinExec) -> Result<Vec<RecordedKey>> {
    let mut keys = Vec::new();
    // Each part of a divided build side has its own keys. A `NOT IN` has to see the NULLs of its probe side.
    if *join.partition_mode() != PartitionMode::CollectLeft
        || join.null_aware
        || join.null_equality() != NullEquality::NullEqualsNothing
    {
        return Ok(keys);
    }
    let filters = join.dynamic_expressions_produced();
    let filter = match filters.as_slice() {
        [filter] => filter.expression_id(),
        _ => None,
    };
    let Some(filter) = filter else {
        return Ok(keys);
    };
    let schema = join.left().schema();
    for (number, (key, _)) in join.on().iter().enumerate() {
        let data_type = key.data_type(&schema)?;
        if BuildKeyRecorder::records(&data_type) {
            let records = record_keys(join.right(), filter, number, &data_type);
            keys.extend(records.into_iter().map(|record| (Arc::clone(key), record)));
        }
    }
    Ok(keys)
}

impl RowPassing for RecordedKeys {
    const NAME: &'static str = "RecordedKeys";
    const KEEPS_ORDER: bool = true;
    const WANTS_PARTITIONS: bool = false;

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        let properties = Arc::clone(input.properties());
        Ok(Arc::new(PassedRows::new(input, self.clone(), properties)))
    }

    fn describe(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let keys: Vec<String> = self.keys.iter().map(|(key, _)| key.to_string()).collect();
        write!(f, "{}: [{}]", Self::NAME, keys.join(", "))
    }

    fn pass(
        &self,
        rows: SendableRecordBatchStream,
        _: usize,
        context: &TaskContext,
    ) -> SendableRecordBatchStream {
        let recorders = self.keys.iter().filter_map(|(key, record)| {
            let recorder = BuildKeyRecorder::new(record, context.memory_pool())?;
            Some((Arc::clone(key), recorder))
        });
        Box::pin(RecordingStream {
            recorders: recorders.collect(),
            rows,
        })
    }
}

/// The rows of an input, whose keys are recorded.
struct RecordingStream {
    recorders: Vec<(Arc<dyn PhysicalExpr>, BuildKeyRecorder)>,
    rows: SendableRecordBatchStream,
}

impl RecordingStream {
    fn record(&mut self, batch: &RecordBatch) -> Result<()> {
        for (key, recorder) in &mut self.recorders {
            let keys = key.evaluate(batch)?.into_array(batch.num_rows())?;
            recorder.add(keys.as_ref())?;
        }
        Ok(())
    }
}

impl Stream for RecordingStream {
    type Item = Result<RecordBatch>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let stream = self.get_mut();
        let next = stream.rows.poll_next_unpin(context);
        match &next {
            Poll::Ready(Some(Ok(batch))) => {
                if let Err(error) = stream.record(batch) {
                    return Poll::Ready(Some(Err(error)));
                }
            }
            // The join fills its hash table, and tells the scans, after it has seen the end.
            Poll::Ready(None) => {
                let recorders = stream.recorders.drain(..);
                recorders.for_each(|(_, recorder)| recorder.finish());
            }
            Poll::Ready(Some(Err(_))) | Poll::Pending => {}
        }
        next
    }
}

impl RecordBatchStream for RecordingStream {
    fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }
}
