//! A file as a source of rows, and as a table of one statement.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use quire_error::Error;
use quire_files::csv::{CsvFile, CsvOptions};
use quire_files::parquet::ParquetFile;
use quire_files::{CopyControl, CopyError};

use super::options::FileFormat;

/// Batches in file order.
pub(super) type FileRows =
    Box<dyn Iterator<Item = std::result::Result<RecordBatch, CopyError>> + Send>;

/// An opened file.
pub(super) enum SourceFile {
    Csv(CsvFile),
    Parquet(ParquetFile),
}

impl SourceFile {
    fn open(path: &Path) -> std::result::Result<Self, CopyError> {
        match FileFormat::of_path(path) {
            FileFormat::Csv => {
                CsvFile::open(path, CsvOptions::default(), None).map(SourceFile::Csv)
            }
            FileFormat::Parquet => ParquetFile::open(path).map(SourceFile::Parquet),
        }
    }

    fn schema(&self, control: &CopyControl) -> std::result::Result<SchemaRef, CopyError> {
        match self {
            SourceFile::Csv(file) => file.infer_schema(control),
            SourceFile::Parquet(file) => Ok(file.schema()),
        }
    }

    /// The columns of `projection`, as positions in `schema`.
    fn rows(
        &self,
        schema: &SchemaRef,
        projection: &[usize],
        control: &CopyControl,
    ) -> std::result::Result<FileRows, CopyError> {
        Ok(match self {
            SourceFile::Csv(file) => Box::new(file.read(schema, Some(projection), control)?),
            SourceFile::Parquet(file) => {
                Box::new(file.read(Some(projection), threads(), control)?)
            }
        })
    }
}

/// Threads that read a file.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The rows of a file.
pub(super) struct FileTable {
    file: Arc<SourceFile>,
    schema: SchemaRef,
    control: CopyControl,
}

impl FileTable {
    pub(super) fn open(path: &Path, control: CopyControl) -> std::result::Result<Self, Error> {
        let file = Arc::new(SourceFile::open(path)?);
        let schema = file.schema(&control)?;
        Ok(Self {
            file,
            schema,
            control,
        })
    }
}

impl fmt::Debug for FileTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileTable")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl TableProvider for FileTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let all = || (0..self.schema.fields().len()).collect();
        let projection = projection.cloned().unwrap_or_else(all);
        let schema: SchemaRef = Arc::new(Schema::new(self.schema.project(&projection)?.fields));
        let partition = FilePartition {
            file: Arc::clone(&self.file),
            file_schema: Arc::clone(&self.schema),
            projection,
            schema: Arc::clone(&schema),
            control: self.control.clone(),
        };
        let exec =
            StreamingTableExec::try_new(schema, vec![Arc::new(partition)], None, [], false, limit)?;
        Ok(Arc::new(exec))
    }
}

/// The file's one partition: its reader has threads of its own.
struct FilePartition {
    file: Arc<SourceFile>,
    file_schema: SchemaRef,
    projection: Vec<usize>,
    schema: SchemaRef,
    control: CopyControl,
}

impl fmt::Debug for FilePartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilePartition")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

impl PartitionStream for FilePartition {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let rows = self
            .file
            .rows(&self.file_schema, &self.projection, &self.control);
        let rows: FileRows = match rows {
            Ok(rows) => rows,
            Err(error) => Box::new(std::iter::once(Err(error))),
        };
        let rows = BlockingRows(rows)
            .map(|item| item.map_err(|error| DataFusionError::from(Error::from(error))));
        let stream = futures::stream::iter(rows);
        Box::pin(RecordBatchStreamAdapter::new(
            Arc::clone(&self.schema),
            stream,
        ))
    }
}

/// Waits for the reader's threads without keeping others from this one.
struct BlockingRows(FileRows);

impl Iterator for BlockingRows {
    type Item = std::result::Result<RecordBatch, CopyError>;

    fn next(&mut self) -> Option<Self::Item> {
        tokio::task::block_in_place(|| self.0.next())
    }
}
