//! The first rows of a join's probe side, read before its build side.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::common::{Result, internal_datafusion_err, internal_err};
use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::utils::evaluate_expressions_to_arrays;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::future::{Either, select};
use futures::{FutureExt, StreamExt, stream};
use tokio::sync::watch;

/// Bytes of early rows at most, and no more than one part of so many of the memory: the build side needs it, too.
const BYTES_MAX: usize = 64 << 20;
const POOL_SHARES: usize = 16;

/// The rows of all partitions, each to be taken once.
pub(super) struct EarlyProbe {
    schema: SchemaRef,
    partitions: Mutex<Vec<Option<EarlyRows>>>,
    is_whole: bool,
    /// For what is made of the keys.
    reservation: MemoryReservation,
}

struct EarlyRows {
    batches: Vec<RecordBatch>,
    /// What comes behind them, unless they are all.
    rest: Option<SendableRecordBatchStream>,
    reservation: MemoryReservation,
}

/// How much more all partitions may read, and whether they have come to that.
struct EarlyLimit {
    rows_left: AtomicUsize,
    bytes_left: AtomicUsize,
    is_over: watch::Sender<bool>,
}

impl EarlyLimit {
    fn new(rows_max: usize, pool: &Arc<dyn MemoryPool>) -> Self {
        let bytes_max = match pool.memory_limit() {
            MemoryLimit::Finite(bytes) => BYTES_MAX.min(bytes / POOL_SHARES),
            _ => BYTES_MAX,
        };
        Self {
            rows_left: AtomicUsize::new(rows_max),
            bytes_left: AtomicUsize::new(bytes_max),
            is_over: watch::Sender::new(false),
        }
    }

    /// Whether these rows were within the limit.
    fn take(&self, rows: usize, bytes: usize) -> bool {
        let taken = |left: &AtomicUsize, part: usize| {
            let take = |left: usize| left.checked_sub(part);
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                .is_ok()
        };
        taken(&self.rows_left, rows) && taken(&self.bytes_left, bytes)
    }

    fn end(&self) {
        self.is_over.send_replace(true);
    }
}

impl EarlyProbe {
    /// Reads all partitions side by side until they end, or have come to so many rows together, or there is no memory for them.
    pub(super) async fn read(
        probe: Arc<dyn ExecutionPlan>,
        rows_max: usize,
        context: Arc<TaskContext>,
    ) -> Result<Self> {
        let limit = Arc::new(EarlyLimit::new(rows_max, context.memory_pool()));
        let partitions = 0..probe.properties().partitioning.partition_count();
        let tasks = partitions.map(|partition| {
            let rows = probe.execute(partition, Arc::clone(&context))?;
            let reservation = reservation_of(&context);
            let read = EarlyRows::read(rows, Arc::clone(&limit), reservation);
            Ok(SpawnedTask::spawn(read))
        });
        let tasks = tasks.collect::<Result<Vec<_>>>()?;
        let mut partitions = Vec::with_capacity(tasks.len());
        for task in tasks {
            let ended = task.join().await;
            let rows = ended.map_err(|error| {
                internal_datafusion_err!("a partition of a join did not end: {error}")
            })?;
            partitions.push(Some(rows?));
        }
        let is_whole = |rows: &EarlyRows| rows.rest.is_none();
        Ok(Self {
            schema: probe.schema(),
            is_whole: partitions.iter().flatten().all(is_whole),
            partitions: Mutex::new(partitions),
            reservation: reservation_of(&context),
        })
    }

    /// Whether there is memory for so many bytes, which are held as long as the rows are.
    pub(super) fn reserve(&self, bytes: usize) -> bool {
        self.reservation.try_grow(bytes).is_ok()
    }

    /// Whether these are all rows of the probe side.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The values of some expressions in all rows, and how many rows there are.
    pub(super) fn values(
        &self,
        expressions: &[Arc<dyn PhysicalExpr>],
    ) -> Result<(Vec<ArrayRef>, usize)> {
        let partitions = self
            .partitions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let batches = partitions.iter().flatten().flat_map(|rows| &rows.batches);
        let (mut values, mut row_count) = (vec![Vec::new(); expressions.len()], 0);
        for batch in batches {
            row_count += batch.num_rows();
            let of_batch = evaluate_expressions_to_arrays(expressions, batch)?;
            values
                .iter_mut()
                .zip(of_batch)
                .for_each(|(all, more)| all.push(more));
        }
        if row_count == 0 {
            return Ok((Vec::new(), 0));
        }
        let values = values.iter().map(|arrays: &Vec<ArrayRef>| {
            let arrays: Vec<_> = arrays.iter().map(AsRef::as_ref).collect();
            Ok(concat(&arrays)?)
        });
        Ok((values.collect::<Result<_>>()?, row_count))
    }

    /// All rows of a partition: those that have been read, and what comes behind them.
    pub(super) fn take(&self, partition: usize) -> Result<SendableRecordBatchStream> {
        let mut partitions = self
            .partitions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let rows = partitions.get_mut(partition).and_then(Option::take);
        let Some(rows) = rows else {
            return internal_err!("partition {partition} of a probe side has been taken");
        };
        let EarlyRows {
            batches,
            rest,
            reservation,
        } = rows;
        let early = stream::iter(batches).map(move |batch| {
            // Dropped with the last of them.
            let _held = &reservation;
            Ok(batch)
        });
        let rest = stream::iter(rest).flatten();
        let schema = Arc::clone(&self.schema);
        let rows = RecordBatchStreamAdapter::new(schema, early.chain(rest));
        Ok(Box::pin(rows))
    }
}

fn reservation_of(context: &TaskContext) -> MemoryReservation {
    let consumer = MemoryConsumer::new("early rows of a join");
    consumer.register(context.memory_pool())
}

impl EarlyRows {
    async fn read(
        mut rows: SendableRecordBatchStream,
        limit: Arc<EarlyLimit>,
        reservation: MemoryReservation,
    ) -> Result<Self> {
        let mut is_over = limit.is_over.subscribe();
        let mut batches = Vec::new();
        let mut counted = RecordBatchMemoryCounter::new();
        loop {
            let over = is_over.wait_for(|is_over| *is_over).map(drop);
            let next = match select(rows.next(), pin!(over)).await {
                Either::Left((Some(batch), _)) => batch?,
                Either::Left((None, _)) => {
                    return Ok(Self {
                        batches,
                        rest: None,
                        reservation,
                    });
                }
                // A batch that is under way is not lost: the stream has it.
                Either::Right(_) => break,
            };
            let bytes = counted.count_batch(&next);
            let is_within =
                limit.take(next.num_rows(), bytes) && reservation.try_grow(bytes).is_ok();
            batches.push(next);
            if !is_within {
                limit.end();
                break;
            }
        }
        Ok(Self {
            batches,
            rest: Some(rows),
            reservation,
        })
    }
}
