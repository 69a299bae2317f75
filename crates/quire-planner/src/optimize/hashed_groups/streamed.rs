//! Groups that are handed on while there are more rows to come: those of a partition before those of all partitions are put together, and those of an
//! input in the order of the keys.

use std::collections::VecDeque;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::metrics::BaselineMetrics;
use futures::StreamExt;

use super::hashed_states::{HashedStates, Taken, TakenGroups};

/// How groups are handed on.
#[derive(Clone, Copy)]
pub(super) struct Streaming {
    /// States may be handed on more than once for a group: when the memory is used up, it begins anew. Results come once.
    pub(super) taken: Taken,
    /// Whether the input is in the order of the keys: a group ends where the next one begins.
    pub(super) is_ordered: bool,
    /// So many groups are enough, whichever they are.
    pub(super) groups_max: Option<usize>,
}

/// How many groups are enough, if a limit says so; nothing if the limit is one for the first groups in an order.
pub(super) fn groups_max(aggregate: &AggregateExec) -> Option<Option<usize>> {
    match aggregate.limit_options() {
        Some(limit) if limit.descending().is_some() => None,
        limit => Some(limit.map(|limit| limit.limit())),
    }
}

/// An aggregation under way.
pub(super) struct StreamedGroups {
    input: SendableRecordBatchStream,
    groups: HashedStates,
    streaming: Streaming,
    schema: SchemaRef,
    batch_rows: usize,
    metrics: BaselineMetrics,
    reduction: Reduction,
    /// Groups that are being handed on.
    taken: VecDeque<TakenGroups>,
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

impl StreamedGroups {
    pub(super) fn new(
        input: SendableRecordBatchStream,
        groups: HashedStates,
        streaming: Streaming,
        schema: SchemaRef,
        metrics: BaselineMetrics,
        context: &TaskContext,
    ) -> Self {
        let passes_rows = streaming.taken == Taken::States && groups.passes_rows();
        Self {
            input,
            streaming,
            schema,
            batch_rows: context.session_config().batch_size(),
            metrics,
            reduction: Reduction::new(passes_rows, context),
            groups,
            taken: VecDeque::new(),
            state: InputState::Grouping,
        }
    }

    /// The next batch of groups, and what comes behind it.
    pub(super) async fn next(mut self) -> Result<Option<(RecordBatch, Self)>> {
        loop {
            while let Some(first) = self.taken.front_mut() {
                match first.next() {
                    Some(batch) => return Ok(Some((batch?, self))),
                    None => drop(self.taken.pop_front()),
                }
            }
            if self.state == InputState::Ended {
                return Ok(None);
            }
            let batch = self.input.next().await.transpose()?;
            let elapsed = self.metrics.elapsed_compute().clone();
            let _timed = elapsed.timer();
            let Some(batch) = batch else {
                self.groups.add_groups_without_rows(&self.input.schema())?;
                self.take_last()?;
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
        let count = self.groups.group_count();
        if self.streaming.groups_max.is_some_and(|max| count >= max) {
            return self.take_last();
        }
        if self.reduction.is_too_small(count) {
            self.state = InputState::Passing;
            return self.take();
        }
        if self.streaming.is_ordered && count > self.batch_rows {
            self.take_ended()?;
        }
        match (self.groups.reserve(), self.streaming.taken) {
            (Ok(()), _) => Ok(()),
            (Err(_), Taken::States) => {
                self.reduction.rows = 0;
                self.take()
            }
            // What is left is the group that is open.
            (Err(_), Taken::Results) => {
                self.take_ended()?;
                self.groups.reserve()
            }
        }
    }

    fn take(&mut self) -> Result<()> {
        let taken = self
            .groups
            .take(self.streaming.taken, &self.schema, self.batch_rows)?;
        self.taken.extend(taken);
        Ok(())
    }

    fn take_last(&mut self) -> Result<()> {
        self.state = InputState::Ended;
        self.take()
    }

    fn take_ended(&mut self) -> Result<()> {
        let taken = self
            .groups
            .take_ended(self.streaming.taken, &self.schema, self.batch_rows)?;
        self.taken.extend(taken);
        Ok(())
    }
}
