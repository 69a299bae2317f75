//! The groups of a partition before those of all partitions are put together.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::metrics::BaselineMetrics;
use futures::StreamExt;

use super::hashed_states::{HashedStates, Taken, TakenGroups};

/// A partial aggregation under way. It may hand on a group more than once: when its memory is used up, it begins anew.
pub(super) struct PartialGroups {
    input: SendableRecordBatchStream,
    groups: HashedStates,
    schema: SchemaRef,
    batch_rows: usize,
    metrics: BaselineMetrics,
    reduction: Reduction,
    /// Groups that are being handed on.
    taken: Option<TakenGroups>,
    state: InputState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum InputState {
    /// Rows are put into groups.
    Grouping,
    /// Rows are handed on, each as a group.
    Passing,
    Ended,
}

/// Whether groups are so many that it is not worth while to look for them before all partitions come together.
struct Reduction {
    rows: usize,
    rows_min: usize,
    ratio_max: f64,
}

impl Reduction {
    fn new(passes_rows: bool, context: &TaskContext) -> Self {
        let options = &context.session_config().options().execution;
        Self {
            rows: 0,
            rows_min: match passes_rows {
                true => options.skip_partial_aggregation_probe_rows_threshold,
                false => usize::MAX,
            },
            ratio_max: options.skip_partial_aggregation_probe_ratio_threshold,
        }
    }

    fn is_too_small(&self, group_count: usize) -> bool {
        self.rows >= self.rows_min && group_count as f64 > self.ratio_max * self.rows as f64
    }
}

impl PartialGroups {
    pub(super) fn new(
        input: SendableRecordBatchStream,
        groups: HashedStates,
        schema: SchemaRef,
        metrics: BaselineMetrics,
        context: &TaskContext,
    ) -> Self {
        Self {
            input,
            schema,
            batch_rows: context.session_config().batch_size(),
            metrics,
            reduction: Reduction::new(groups.passes_rows(), context),
            groups,
            taken: None,
            state: InputState::Grouping,
        }
    }

    /// The next batch of states, and what comes behind it.
    pub(super) async fn next(mut self) -> Result<Option<(RecordBatch, Self)>> {
        loop {
            if let Some(batch) = self.taken.as_mut().and_then(Iterator::next) {
                return Ok(Some((batch?, self)));
            }
            self.taken = None;
            if self.state == InputState::Ended {
                return Ok(None);
            }
            let batch = self.input.next().await.transpose()?;
            let elapsed = self.metrics.elapsed_compute().clone();
            let _timed = elapsed.timer();
            let Some(batch) = batch else {
                self.groups.add_groups_without_rows(&self.input.schema())?;
                self.take()?;
                self.state = InputState::Ended;
                continue;
            };
            if self.state == InputState::Passing {
                let states = self.groups.states_of_rows(&batch, &self.schema)?;
                return Ok(Some((states, self)));
            }
            self.add(&batch)?;
        }
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        self.groups.add(batch)?;
        self.reduction.rows += batch.num_rows();
        if self.reduction.is_too_small(self.groups.group_count()) {
            self.state = InputState::Passing;
            return self.take();
        }
        if self.groups.reserve().is_err() {
            self.reduction.rows = 0;
            return self.take();
        }
        Ok(())
    }

    fn take(&mut self) -> Result<()> {
        self.taken = self
            .groups
            .take(Taken::States, &self.schema, self.batch_rows)?;
        Ok(())
    }
}
