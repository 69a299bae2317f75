//! The rounds of a recursion: each reads what the one before has found.

use std::mem;
use std::sync::Arc;

use datafusion::arrow::array::{BooleanArray, RecordBatch};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::group_values::{GroupValues, new_group_values};
use datafusion::physical_plan::aggregates::order::GroupOrdering;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::metrics::{BaselineMetrics, RecordOutput};
use futures::{Stream, StreamExt, stream};

use super::work_table::WorkTable;

/// A recursion that is under way.
pub(super) struct Rounds {
    /// Rows of this round.
    rows: SendableRecordBatchStream,
    /// What this round has found so far: the work table of the next one.
    found: Vec<RecordBatch>,
    recursive: Arc<dyn ExecutionPlan>,
    table: Arc<WorkTable>,
    /// Bytes of the work table, and of what is found beside it.
    table_memory: MemoryReservation,
    found_memory: MemoryReservation,
    known: Option<KnownRows>,
    context: Arc<TaskContext>,
}

impl Rounds {
    /// The first round has the rows of the first term.
    pub(super) fn new(
        first: SendableRecordBatchStream,
        recursive: Arc<dyn ExecutionPlan>,
        table: Arc<WorkTable>,
        is_distinct: bool,
        context: Arc<TaskContext>,
    ) -> Result<Self> {
        let memory = || MemoryConsumer::new("recursive query").register(context.memory_pool());
        let known = is_distinct.then(|| KnownRows::new(first.schema(), memory()));
        Ok(Self {
            rows: first,
            found: Vec::new(),
            recursive,
            table,
            table_memory: memory(),
            found_memory: memory(),
            known: known.transpose()?,
            context,
        })
    }

    pub(super) fn into_stream(
        self,
        metrics: BaselineMetrics,
    ) -> impl Stream<Item = Result<RecordBatch>> {
        let rows = stream::try_unfold(self, Self::next);
        rows.map(move |batch| batch.record_output(&metrics))
    }

    /// The next rows, with the rounds that are left; none if a round has found nothing.
    async fn next(mut self) -> Result<Option<(RecordBatch, Self)>> {
        loop {
            match self.rows.next().await.transpose()? {
                Some(batch) => {
                    let batch = match &mut self.known {
                        Some(known) => known.new_rows(&batch)?,
                        None => batch,
                    };
                    if batch.num_rows() > 0 {
                        self.found_memory.try_grow(batch.get_array_memory_size())?;
                        self.found.push(batch.clone());
                        return Ok(Some((batch, self)));
                    }
                }
                None if self.found.is_empty() => return Ok(None),
                None => self.start_round()?,
            }
        }
    }

    fn start_round(&mut self) -> Result<()> {
        self.table.set(mem::take(&mut self.found));
        // The rows of the round before are gone.
        self.table_memory.free();
        mem::swap(&mut self.table_memory, &mut self.found_memory);
        let recursive = reset_plan_states(Arc::clone(&self.recursive))?;
        self.rows = recursive.execute(0, Arc::clone(&self.context))?;
        Ok(())
    }
}

/// All rows that a recursion with UNION has found.
struct KnownRows {
    groups: Box<dyn GroupValues>,
    memory: MemoryReservation,
    group_indices: Vec<usize>,
}

impl KnownRows {
    fn new(schema: SchemaRef, memory: MemoryReservation) -> Result<Self> {
        Ok(Self {
            groups: new_group_values(schema, &GroupOrdering::None)?,
            memory,
            group_indices: Vec::new(),
        })
    }

    /// The rows of the batch that were not known, each once.
    fn new_rows(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut known_count = self.groups.len();
        self.group_indices.clear();
        self.groups
            .intern(batch.columns(), &mut self.group_indices)?;
        self.memory.try_resize(self.groups.size())?;
        // Groups are numbered as they come: a new row has a number that no row before it has.
        let is_new = self.group_indices.iter().map(|&group| {
            let is_new = group >= known_count;
            known_count = known_count.max(group + 1);
            is_new
        });
        let is_new: BooleanArray = is_new.map(Some).collect();
        Ok(filter_record_batch(batch, &is_new)?)
    }
}
