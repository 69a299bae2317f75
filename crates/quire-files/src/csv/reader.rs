//! Streams a CSV file as record batches, parsed on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Schema, SchemaRef};
use quire_text::temporal::TimeZoneRules;

use super::super::control::{CopyControl, CopyPhase, CopyProgress};
use super::super::error::{BadRecord, CopyError};
use super::super::pipeline::{ParallelPipeline, Stage};
use super::chunk::{
    BadRecords, BlockVisitor, ChunkText, ParsedRecords, RecordFailure, RecordFormat, walk,
};
use super::column::ColumnBuilder;
use super::options::TextLimit;
use super::splitter::{CsvChunk, Splitter};

/// A batch is closed at the first block that makes it at least this long.
const BATCH_ROWS: usize = 65_536;

/// What to read of a file, and as what.
pub(super) struct ReadPlan {
    pub format: RecordFormat,
    /// All columns of the file.
    pub schema: SchemaRef,
    /// Columns wanted, by index.
    pub projection: Vec<usize>,
    pub text_limits: Vec<Option<TextLimit>>,
    pub zone: TimeZoneRules,
    pub thread_count: usize,
    /// Bytes of parsed batches that may wait for the consumer.
    pub budget_bytes: usize,
    pub bytes_total: Option<u64>,
}

/// Record batches of a CSV file, in file order.
///
/// Memory: at most `thread_count` chunks being parsed (text and arrays), plus parsed batches of
/// `8 × thread_count` chunks' size waiting, plus one record longer than a chunk.
pub struct CsvReader {
    pipeline: ParallelPipeline<Parsed>,
    skipped: BadRecords,
    control: CopyControl,
    progress: CopyProgress,
}

/// Records left out under [`super::OnError::SkipRow`].
#[derive(Debug, Clone, Copy)]
pub struct Skipped<'a> {
    /// How many so far.
    pub count: u64,
    /// The first ten of them.
    pub first: &'a [BadRecord],
}

impl CsvReader {
    pub(super) fn start(
        splitter: Splitter,
        plan: ReadPlan,
        control: CopyControl,
    ) -> Result<Self, CopyError> {
        let fields: Vec<_> = plan
            .projection
            .iter()
            .map(|&column| plan.schema.field(column).clone().with_nullable(true))
            .collect();
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let (threads, budget) = (plan.thread_count, plan.budget_bytes);
        let bytes_total = plan.bytes_total;
        // Fails now, not in a worker, for a type that CSV cannot have.
        new_builders(&plan, 0)?;
        let splitter = Mutex::new(splitter);
        let stage = ReadStage {
            splitter,
            plan,
            schema,
            batch_rows: 0.into(),
        };
        let pipeline = ParallelPipeline::start(stage, threads, budget, control.clone());
        let phase = CopyPhase::Reading;
        let progress = CopyProgress {
            phase,
            row_count: 0,
            bytes_done: 0,
            bytes_total,
        };
        Ok(Self {
            pipeline,
            skipped: BadRecords::default(),
            control,
            progress,
        })
    }

    /// The next batch, never an empty one; `None` at the end of the file. Batches have at most
    /// about 66,500 rows.
    ///
    /// # Errors
    /// The first error in file order. Nothing comes after it.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, CopyError> {
        while let Some(parsed) = self.pipeline.next()? {
            self.skipped.merge(parsed.bad);
            self.progress.bytes_done += parsed.byte_count as u64;
            let row_count = parsed.batch.as_ref().map_or(0, RecordBatch::num_rows);
            self.progress.row_count += row_count as u64;
            self.control.report(self.progress);
            if let Some(batch) = parsed.batch.filter(|batch| batch.num_rows() > 0) {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    /// The bad records left out so far.
    pub fn skipped(&self) -> Skipped<'_> {
        Skipped {
            count: self.skipped.count,
            first: &self.skipped.first,
        }
    }
}

impl Iterator for CsvReader {
    type Item = Result<RecordBatch, CopyError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

struct Parsed {
    batch: Option<RecordBatch>,
    bad: BadRecords,
    /// Bytes of the file this item finishes.
    byte_count: usize,
}

struct ReadStage {
    splitter: Mutex<Splitter>,
    plan: ReadPlan,
    schema: SchemaRef,
    /// Rows of a recent batch, so that the next one's arrays rarely grow.
    batch_rows: AtomicUsize,
}

impl Stage for ReadStage {
    type Task = CsvChunk;
    type Item = Parsed;

    fn next_task(&self) -> Result<Option<CsvChunk>, CopyError> {
        self.splitter
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next_chunk()
    }

    fn run(
        &self,
        chunk: CsvChunk,
        emit: &mut dyn FnMut(Parsed, usize) -> bool,
    ) -> Result<(), CopyError> {
        let chunk = ChunkText::new(chunk);
        let mut bad = BadRecords::default();
        let mut visitor = BatchVisitor {
            builders: new_builders(&self.plan, self.batch_rows.load(Ordering::Relaxed))?,
            row_count: 0,
            failed_rows: Vec::new(),
            stage: self,
            emit,
        };
        walk(&chunk, &self.plan.format, &mut bad, &mut visitor)?;
        let batch = visitor.finish()?;
        // Chunks differ a little; a sixteenth more rarely has to grow.
        let rows = batch.num_rows();
        self.batch_rows
            .store((rows + rows / 16).min(2 * BATCH_ROWS), Ordering::Relaxed);
        let bytes = batch.get_array_memory_size();
        let byte_count = chunk.byte_count();
        (visitor.emit)(
            Parsed {
                batch: Some(batch),
                bad,
                byte_count,
            },
            bytes,
        );
        Ok(())
    }

    fn panicked(&self, detail: String) -> CopyError {
        CopyError::Internal {
            file: Arc::clone(&self.plan.format.file),
            detail,
        }
    }
}

fn new_builders(plan: &ReadPlan, capacity: usize) -> Result<Vec<ColumnBuilder>, CopyError> {
    let new = |&column: &usize| {
        let limit = plan.text_limits.get(column).cloned().flatten();
        ColumnBuilder::new(
            column,
            plan.schema.field(column),
            limit,
            &plan.zone,
            capacity,
        )
    };
    plan.projection.iter().map(new).collect()
}

struct BatchVisitor<'a> {
    builders: Vec<ColumnBuilder>,
    row_count: usize,
    /// Rows of the growing batch to leave out.
    failed_rows: Vec<usize>,
    stage: &'a ReadStage,
    emit: &'a mut dyn FnMut(Parsed, usize) -> bool,
}

impl BlockVisitor for BatchVisitor<'_> {
    fn parse(&mut self, block: &ParsedRecords<'_>) -> Vec<RecordFailure> {
        let mut failures = Vec::new();
        for builder in &mut self.builders {
            builder.append(block, &mut failures);
        }
        failures
    }

    fn keep(&mut self, block: &ParsedRecords<'_>, failed_rows: &[usize]) -> Result<(), CopyError> {
        self.failed_rows
            .extend(failed_rows.iter().map(|row| self.row_count + row));
        self.row_count += block.row_count();
        if self.row_count >= BATCH_ROWS {
            let batch = self.finish()?;
            let bytes = batch.get_array_memory_size();
            let parsed = Parsed {
                batch: Some(batch),
                bad: BadRecords::default(),
                byte_count: 0,
            };
            (self.emit)(parsed, bytes);
        }
        Ok(())
    }
}

impl BatchVisitor<'_> {
    fn finish(&mut self) -> Result<RecordBatch, CopyError> {
        let columns = self
            .builders
            .iter_mut()
            .map(ColumnBuilder::finish)
            .collect();
        let row_count = std::mem::take(&mut self.row_count);
        let options = RecordBatchOptions::new().with_row_count(Some(row_count));
        let schema = Arc::clone(&self.stage.schema);
        let internal = |error: arrow::error::ArrowError| self.stage.panicked(error.to_string());
        let batch = RecordBatch::try_new_with_options(schema, columns, &options);
        let batch = batch.map_err(internal)?;
        if self.failed_rows.is_empty() {
            return Ok(batch);
        }
        let mut kept = vec![true; row_count];
        for row in self.failed_rows.drain(..) {
            kept[row] = false;
        }
        filter_record_batch(&batch, &BooleanArray::from(kept)).map_err(internal)
    }
}
