//! Rows split by their keys into temporary files: those of a side of a join, or the states of groups.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{BatchCoalescer, take_record_batch};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::Result;
use datafusion::common::hash_utils::{RandomState, create_hashes};
use datafusion::execution::spill_file::SpillFile;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::utils::evaluate_expressions_to_arrays;
use datafusion::physical_plan::SpillManager;
use datafusion::physical_plan::metrics::SpillMetrics;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, TryStreamExt, stream};

/// Parts that rows are split into.
pub(super) const PART_COUNT: usize = 16;
/// Parts are split so often. What is in one part then has the same key, or nearly all of it, and no hash tells it apart.
pub(super) const LEVELS_MAX: u64 = 4;
/// Rows that are written to a file at a time, at most.
const WRITTEN_ROWS_MAX: usize = 1024;
/// A text or its place.
const VIEW_BYTES: usize = 16;
/// Seeds begin here, so that they are not those by which rows are distributed to threads: all rows of a thread would be in few parts.
const FIRST_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// How rows are split.
#[derive(Clone)]
pub(super) struct PartSplit {
    pub(super) schema: SchemaRef,
    pub(super) keys: Vec<Arc<dyn PhysicalExpr>>,
    /// How often its rows have been split before.
    pub(super) level: u64,
    pub(super) metrics: SpillMetrics,
    /// Bytes of rows that wait to be written, in all parts.
    pub(super) waiting_bytes_max: usize,
}

/// The rows with one hash of their keys, modulo [`PART_COUNT`].
pub(super) struct SpilledPart {
    manager: SpillManager,
    files: Vec<Arc<dyn SpillFile>>,
}

impl SpilledPart {
    /// The rows, in any order.
    pub(super) fn read(&self) -> Result<SendableRecordBatchStream> {
        let files = self.files.iter();
        let streams = files.map(|file| {
            let file = Arc::clone(file);
            self.manager.read_spill_as_stream_unbuffered(file, None)
        });
        let streams = streams.collect::<Result<Vec<_>>>()?;
        let rows = stream::iter(streams).flatten();
        let schema = Arc::clone(self.manager.schema());
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    /// The same part of the same rows, read by another thread.
    pub(super) fn merge(&mut self, other: Self) {
        self.files.extend(other.files);
    }
}

impl PartSplit {
    /// Splits all rows of a stream.
    pub(super) async fn split(
        &self,
        mut rows: SendableRecordBatchStream,
        context: &TaskContext,
    ) -> Result<Vec<SpilledPart>> {
        let mut parts = self.writer(context);
        while let Some(batch) = rows.try_next().await? {
            parts.write(&batch)?;
        }
        parts.finish()
    }

    /// Splits batches as they come.
    pub(super) fn writer(&self, context: &TaskContext) -> PartsWriter {
        let manager = SpillManager::new(
            context.runtime_env(),
            self.metrics.clone(),
            Arc::clone(&self.schema),
        );
        let manager = manager.with_compression_type(context.session_config().spill_compression());
        let waiting_bytes_max = self.waiting_bytes_max / PART_COUNT;
        let writers = (0..PART_COUNT).map(|_| PartWriter::new(&manager, waiting_bytes_max));
        PartsWriter {
            split: self.clone(),
            writers: writers.collect(),
        }
    }

    /// The rows of each part.
    fn places(&self, batch: &RecordBatch) -> Result<Vec<Vec<u32>>> {
        let keys = evaluate_expressions_to_arrays(&self.keys, batch)?;
        let mut hashes = vec![0; batch.num_rows()];
        let state = RandomState::with_seed(FIRST_SEED.wrapping_add(self.level));
        create_hashes(&keys, &state, &mut hashes)?;
        let mut places = vec![Vec::new(); PART_COUNT];
        for (row, hash) in (0..).zip(&hashes) {
            places[*hash as usize % PART_COUNT].push(row);
        }
        Ok(places)
    }
}

/// Writes rows into their parts.
pub(super) struct PartsWriter {
    split: PartSplit,
    writers: Vec<PartWriter>,
}

impl PartsWriter {
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let places = self.split.places(batch)?;
        for (writer, rows) in self.writers.iter_mut().zip(places) {
            if !rows.is_empty() {
                writer.write(take_record_batch(batch, &UInt32Array::from(rows))?)?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Vec<SpilledPart>> {
        self.writers.into_iter().map(PartWriter::finish).collect()
    }
}

/// Appends a batch to a file, or ends it. DataFusion does not export the type of its file.
type FileWriter = Box<dyn FnMut(Option<&RecordBatch>) -> Result<Option<Arc<dyn SpillFile>>> + Send>;

/// Writes the rows of one part.
struct PartWriter {
    manager: SpillManager,
    waiting: BatchCoalescer,
    waiting_bytes: usize,
    waiting_bytes_max: usize,
    /// Nothing as long as no batch is full.
    file: Option<FileWriter>,
}

impl PartWriter {
    fn new(manager: &SpillManager, waiting_bytes_max: usize) -> Self {
        Self {
            manager: manager.clone(),
            waiting: BatchCoalescer::new(Arc::clone(manager.schema()), WRITTEN_ROWS_MAX),
            waiting_bytes: 0,
            waiting_bytes_max,
            file: None,
        }
    }

    fn write(&mut self, rows: RecordBatch) -> Result<()> {
        self.waiting_bytes += rows.columns().iter().map(value_bytes).sum::<usize>();
        self.waiting.push_batch(rows)?;
        if self.waiting_bytes > self.waiting_bytes_max {
            self.waiting.finish_buffered_batch()?;
        }
        self.write_completed()
    }

    fn write_completed(&mut self) -> Result<()> {
        while let Some(batch) = self.waiting.next_completed_batch() {
            self.waiting_bytes = 0;
            let file = match &mut self.file {
                Some(file) => file,
                None => self.file.insert(new_file(&self.manager)?),
            };
            file(Some(&batch))?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<SpilledPart> {
        self.waiting.finish_buffered_batch()?;
        self.write_completed()?;
        let file = self.file.as_mut().map(|file| file(None)).transpose()?;
        Ok(SpilledPart {
            manager: self.manager,
            files: file.flatten().into_iter().collect(),
        })
    }
}

/// What the values of an array take by themselves: texts may lie in buffers of many others.
pub(super) fn value_bytes(values: &ArrayRef) -> usize {
    match values.data_type() {
        DataType::Utf8View => {
            values.len() * VIEW_BYTES + values.as_string_view().total_buffer_bytes_used()
        }
        DataType::BinaryView => {
            values.len() * VIEW_BYTES + values.as_binary_view().total_buffer_bytes_used()
        }
        _ => values.get_array_memory_size(),
    }
}

fn new_file(manager: &SpillManager) -> Result<FileWriter> {
    let mut file = manager.create_in_progress_file("part of the rows of an operator")?;
    Ok(Box::new(move |batch| match batch {
        Some(batch) => file.append_batch(batch).map(|_| None),
        None => file.finish(),
    }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::HashMap;

    use datafusion::arrow::array::{Int64Array, StringViewArray};
    use datafusion::arrow::datatypes::{Field, Int64Type, Schema};
    use datafusion::physical_expr::expressions::Column;
    use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;

    use super::*;

    fn split(level: u64) -> PartSplit {
        let fields = vec![
            Field::new("k", DataType::Int64, true),
            Field::new("t", DataType::Utf8View, true),
        ];
        PartSplit {
            schema: Arc::new(Schema::new(fields)),
            keys: vec![Arc::new(Column::new("k", 0))],
            level,
            metrics: SpillMetrics::new(&ExecutionPlanMetricsSet::new(), 0),
            waiting_bytes_max: 1 << 20,
        }
    }

    /// Rows `first..first + count`, each key three times in a row and every fifth NULL.
    fn batch(split: &PartSplit, first: i64, count: i64) -> RecordBatch {
        let rows = || first..first + count;
        let keys: Int64Array = rows().map(|row| (row % 5 > 0).then_some(row / 3)).collect();
        let texts = rows().map(|row| format!("a text that is not short {row}"));
        let texts = StringViewArray::from_iter_values(texts);
        let columns: Vec<ArrayRef> = vec![Arc::new(keys), Arc::new(texts)];
        RecordBatch::try_new(Arc::clone(&split.schema), columns).unwrap()
    }

    /// DataFusion's files are read by tokio.
    fn block_on<T>(future: impl Future<Output = Result<T>>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(future).unwrap()
    }

    /// The part of each key, and the rows of all parts.
    fn parts_of_keys(level: u64, batch_rows: i64) -> (HashMap<Option<i64>, usize>, Vec<String>) {
        let split = split(level);
        let batches: Vec<_> = (0..6000 / batch_rows)
            .map(|number| Ok(batch(&split, number * batch_rows, batch_rows)))
            .collect();
        let schema = Arc::clone(&split.schema);
        let rows = RecordBatchStreamAdapter::new(schema, stream::iter(batches));
        let context = TaskContext::default();
        let parts = block_on(split.split(Box::pin(rows), &context));
        assert_eq!(parts.len(), PART_COUNT);
        let (mut places, mut texts) = (HashMap::new(), Vec::new());
        for (number, part) in parts.iter().enumerate() {
            let read: Vec<RecordBatch> = block_on(part.read().unwrap().try_collect());
            for batch in read {
                let keys = batch.column(0).as_primitive::<Int64Type>();
                for key in keys {
                    assert_eq!(*places.entry(key).or_insert(number), number, "{key:?}");
                }
                let values = batch.column(1).as_string_view();
                texts.extend(values.iter().flatten().map(str::to_owned));
            }
        }
        texts.sort();
        (places, texts)
    }

    #[test]
    fn rows_with_the_same_key_are_in_the_same_part() {
        let (places, texts) = parts_of_keys(0, 1000);
        let mut expected: Vec<_> = (0..6000)
            .map(|row| format!("a text that is not short {row}"))
            .collect();
        expected.sort();
        assert_eq!(texts, expected);
        // However the rows come, and by another hash at another level.
        assert_eq!(parts_of_keys(0, 300).0, places);
        let again = parts_of_keys(1, 1000).0;
        let moved = places.iter().filter(|(key, part)| again[*key] != **part);
        assert!(moved.count() > places.len() / 2);
    }
}
