//! Streams a Parquet file as record batches, row groups decoded on several threads.
//!
//! The bytes are not trusted: what the Parquet library refuses is an error, and should it panic
//! on a damaged file, that is contained and becomes the same error.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;

use super::super::control::{CopyControl, CopyPhase, CopyProgress};
use super::super::error::CopyError;
use super::super::pipeline::{ParallelPipeline, Stage, panic_text};
use super::convert::convert;
use super::types::column_types;

const BATCH_ROWS: usize = 16_384;
/// Decoded batches that may wait for the consumer, per thread.
const BUDGET_BYTES: usize = 64 << 20;

/// An opened Parquet file whose columns all have SQL types.
pub struct ParquetFile {
    path: PathBuf,
    shown_name: Arc<str>,
    metadata: ArrowReaderMetadata,
    schema: SchemaRef,
    byte_count: u64,
}

impl ParquetFile {
    /// Opens a file and reads its footer.
    ///
    /// # Errors
    /// A missing file, a directory, a file that is no Parquet file or damaged, a column that has
    /// no SQL type (named).
    pub fn open(path: &Path) -> Result<Self, CopyError> {
        let shown_name: Arc<str> = path.to_string_lossy().into();
        let failed = |source| CopyError::io("open", &shown_name, source);
        let file = File::open(path).map_err(failed)?;
        let file_metadata = file.metadata().map_err(failed)?;
        if file_metadata.is_dir() {
            return Err(CopyError::Directory { file: shown_name });
        }
        let byte_count = file_metadata.len();
        if byte_count == 0 {
            return Err(CopyError::Empty { file: shown_name });
        }
        let opened = catch_unwind(AssertUnwindSafe(|| footer(&file, byte_count)));
        let opened = opened.unwrap_or_else(|payload| Err(FooterError::from(panic_text(&payload))));
        let (metadata, schema) = opened.map_err(|error| CopyError::Parquet {
            file: Arc::clone(&shown_name),
            column: error.column,
            problem: error.problem,
        })?;
        Ok(Self {
            path: path.to_owned(),
            shown_name,
            metadata,
            schema,
            byte_count,
        })
    }

    /// Columns in the types of the batches.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Rows, as the footer says.
    pub fn row_count(&self) -> u64 {
        let rows = self.metadata.metadata().file_metadata().num_rows();
        u64::try_from(rows).unwrap_or(0)
    }

    /// Streams all rows; with a projection, only these columns are read, in this order.
    ///
    /// # Errors
    /// A projection beyond the last column.
    pub fn read(
        &self,
        projection: Option<&[usize]>,
        thread_count: usize,
        control: &CopyControl,
    ) -> Result<ParquetReader, CopyError> {
        let all: Vec<usize> = (0..self.schema.fields().len()).collect();
        let projection = projection.unwrap_or(&all).to_vec();
        let schema = self
            .schema
            .project(&projection)
            .map_err(|error| CopyError::Option {
                message: format!("\"{}\": {error}", self.shown_name),
            })?;
        let schema: SchemaRef = Arc::new(schema);
        let stage = RowGroupStage {
            path: self.path.clone(),
            shown_name: Arc::clone(&self.shown_name),
            metadata: self.metadata.clone(),
            schema,
            projection,
            next: AtomicUsize::new(0),
            control: control.clone(),
        };
        let threads = thread_count.max(1);
        let pipeline =
            ParallelPipeline::start(stage, threads, BUDGET_BYTES * threads, control.clone());
        let phase = CopyPhase::Reading;
        let bytes_total = Some(self.byte_count);
        let progress = CopyProgress {
            phase,
            row_count: 0,
            bytes_done: 0,
            bytes_total,
        };
        let row_count = self.row_count();
        Ok(ParquetReader {
            pipeline,
            control: control.clone(),
            progress,
            row_count,
        })
    }
}

struct FooterError {
    column: Option<String>,
    problem: String,
}

impl From<String> for FooterError {
    fn from(detail: String) -> Self {
        Self {
            column: None,
            problem: damaged(&detail),
        }
    }
}

impl From<ParquetError> for FooterError {
    fn from(error: ParquetError) -> Self {
        Self::from(error.to_string())
    }
}

fn damaged(detail: &str) -> String {
    format!("not a Parquet file, truncated or damaged: {detail}")
}

/// Reads and checks the footer; returns how to read the file and the schema of the batches.
fn footer(file: &File, byte_count: u64) -> Result<(ArrowReaderMetadata, SchemaRef), FooterError> {
    let natural = ArrowReaderMetadata::load(file, ArrowReaderOptions::new())?;
    check_ranges(natural.metadata(), byte_count)?;
    let columns = natural
        .metadata()
        .file_metadata()
        .schema_descr()
        .root_schema()
        .get_fields();
    let mut read_fields = Vec::new();
    let mut target_fields = Vec::new();
    for (field, column) in natural.schema().fields().iter().zip(columns) {
        let types = column_types(field.data_type(), column).map_err(|problem| FooterError {
            column: Some(field.name().clone()),
            problem,
        })?;
        read_fields.push(field.as_ref().clone().with_data_type(types.read));
        target_fields.push(Field::new(field.name(), types.target, true));
    }
    let read_schema = Schema::new_with_metadata(read_fields, natural.schema().metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(read_schema));
    let metadata = ArrowReaderMetadata::try_new(Arc::clone(natural.metadata()), options)?;
    Ok((metadata, Arc::new(Schema::new(target_fields))))
}

/// Every column chunk must lie inside the file, so that no later read believes a wrong length.
fn check_ranges(metadata: &ParquetMetaData, byte_count: u64) -> Result<(), FooterError> {
    let mut row_count = 0i64;
    for (index, row_group) in metadata.row_groups().iter().enumerate() {
        let rows = row_group.num_rows();
        row_count = match row_count.checked_add(rows) {
            Some(sum) if rows >= 0 => sum,
            _ => return Err(format!("row group {index} has {rows} rows").into()),
        };
        for column in row_group.columns() {
            let (start, length) = column.byte_range();
            if start.checked_add(length).is_none_or(|end| end > byte_count) {
                let name = column.column_path().string();
                let message = format!("column {name} of row group {index} lies beyond the end");
                return Err(message.into());
            }
        }
    }
    if row_count != metadata.file_metadata().num_rows() {
        let told = metadata.file_metadata().num_rows();
        return Err(format!("the row groups have {row_count} rows, not {told}").into());
    }
    Ok(())
}

/// Record batches of a Parquet file, in file order.
///
/// Memory: one row group's compressed columns and one batch per thread, plus at most 64 MiB of
/// decoded batches per thread waiting.
pub struct ParquetReader {
    pipeline: ParallelPipeline<RecordBatch>,
    control: CopyControl,
    progress: CopyProgress,
    row_count: u64,
}

impl ParquetReader {
    /// The next batch of at most 16,384 rows; `None` at the end.
    ///
    /// # Errors
    /// The first error in file order. Nothing comes after it.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, CopyError> {
        let batch = self.pipeline.next()?;
        if let Some(batch) = &batch {
            let progress = &mut self.progress;
            progress.row_count += batch.num_rows() as u64;
            let total = u128::from(progress.bytes_total.unwrap_or(0));
            let done = total * u128::from(progress.row_count) / u128::from(self.row_count.max(1));
            progress.bytes_done = u64::try_from(done).unwrap_or(u64::MAX);
            self.control.report(*progress);
        }
        Ok(batch)
    }
}

impl Iterator for ParquetReader {
    type Item = Result<RecordBatch, CopyError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

struct RowGroupStage {
    path: PathBuf,
    shown_name: Arc<str>,
    metadata: ArrowReaderMetadata,
    schema: SchemaRef,
    projection: Vec<usize>,
    next: AtomicUsize,
    control: CopyControl,
}

impl Stage for RowGroupStage {
    type Task = usize;
    type Item = RecordBatch;

    fn next_task(&self) -> Result<Option<usize>, CopyError> {
        let row_group = self.next.fetch_add(1, Ordering::Relaxed);
        Ok((row_group < self.metadata.metadata().num_row_groups()).then_some(row_group))
    }

    fn run(
        &self,
        row_group: usize,
        emit: &mut dyn FnMut(RecordBatch, usize) -> bool,
    ) -> Result<(), CopyError> {
        let file = File::open(&self.path);
        let file = file.map_err(|e| CopyError::io("open", &self.shown_name, e))?;
        let schema = self.metadata.metadata().file_metadata().schema_descr();
        let mask = ProjectionMask::roots(schema, self.projection.iter().copied());
        let reader =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                .with_row_groups(vec![row_group])
                .with_projection(mask)
                .with_batch_size(BATCH_ROWS)
                .build()
                .map_err(|error| self.damaged_group(row_group, &error.to_string()))?;
        for batch in reader {
            self.control.check()?;
            let batch = batch.map_err(|e| self.damaged_group(row_group, &e.to_string()))?;
            let batch = self.convert_batch(&batch)?;
            let bytes = batch.get_array_memory_size();
            if !emit(batch, bytes) {
                break;
            }
        }
        Ok(())
    }

    fn panicked(&self, detail: String) -> CopyError {
        let problem = damaged(&detail);
        CopyError::Parquet {
            file: Arc::clone(&self.shown_name),
            column: None,
            problem,
        }
    }
}

impl RowGroupStage {
    fn damaged_group(&self, row_group: usize, detail: &str) -> CopyError {
        let problem = format!("row group {row_group} is truncated or damaged: {detail}");
        CopyError::Parquet {
            file: Arc::clone(&self.shown_name),
            column: None,
            problem,
        }
    }

    /// Columns in the order asked for, in the target types.
    fn convert_batch(&self, batch: &RecordBatch) -> Result<RecordBatch, CopyError> {
        let mut read_order = self.projection.clone();
        read_order.sort_unstable();
        read_order.dedup();
        let mut columns = Vec::with_capacity(self.projection.len());
        for (field, wanted) in self.schema.fields().iter().zip(&self.projection) {
            let position = read_order.binary_search(wanted).unwrap_or(0);
            columns.push(self.convert_column(batch, position, field.name(), field.data_type())?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
            .map_err(|error| self.panicked(error.to_string()))
    }

    fn convert_column(
        &self,
        batch: &RecordBatch,
        position: usize,
        name: &str,
        target: &DataType,
    ) -> Result<arrow::array::ArrayRef, CopyError> {
        let array = batch.columns().get(position);
        let array = array.ok_or_else(|| self.panicked(format!("column {name} is missing")))?;
        convert(array, target).map_err(|problem| CopyError::Parquet {
            file: Arc::clone(&self.shown_name),
            column: Some(name.to_owned()),
            problem,
        })
    }
}
