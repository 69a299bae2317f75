//! A file, or a table of another database, as a source of rows, and as a table of one statement.

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
use quire_sources::definition::SourceTableName;
use quire_sources::{SourceDatabase, SourceError};
use quire_sql::file_relations::FileRelation;

use super::options::FileFormat;

/// Batches in file order.
pub(super) type FileRows =
    Box<dyn Iterator<Item = std::result::Result<RecordBatch, CopyError>> + Send>;

/// Batches of a statement's table, in its order.
type SourceRows = Box<dyn Iterator<Item = std::result::Result<RecordBatch, Error>> + Send>;

/// An opened file, or a table of an opened database.
enum SourceFile {
    Csv(CsvFile),
    Parquet(ParquetFile),
    Database(SourceDatabase, SourceTableName),
}

/// What another database says, as an error of the statement.
pub(in crate::sql) fn of_source(error: SourceError) -> Error {
    Error::new(error.sqlstate(), error.to_string())
}

impl SourceFile {
    fn open(relation: &FileRelation) -> std::result::Result<Self, Error> {
        let path = Path::new(&relation.location);
        if SourceDatabase::recognizes(&relation.location) {
            return Self::open_database(relation);
        }
        if let Some(table) = &relation.table {
            let location = &relation.location;
            let text = format!("\"{location}\" is no database that has tables such as \"{table}\"");
            let hint = "Tables are those of SQLite files and of postgresql://user:password@host/database; a CSV or Parquet file is a table itself.";
            return Err(Error::new("42P01", text).with_hint(hint));
        }
        Ok(match FileFormat::of_path(path) {
            FileFormat::Csv => Self::Csv(CsvFile::open(path, CsvOptions::default(), None)?),
            FileFormat::Parquet => Self::Parquet(ParquetFile::open(path)?),
        })
    }

    /// The table that is named; a database with a single table needs no name.
    fn open_database(relation: &FileRelation) -> std::result::Result<Self, Error> {
        let database = SourceDatabase::open(&relation.location).map_err(of_source)?;
        let table = match &relation.table {
            Some(name) => database.find(name).map_err(of_source)?,
            None => only_table(&database)?,
        };
        Ok(Self::Database(database, table))
    }

    fn schema(&self, control: &CopyControl) -> std::result::Result<SchemaRef, Error> {
        match self {
            SourceFile::Csv(file) => Ok(file.infer_schema(control)?),
            SourceFile::Parquet(file) => Ok(file.schema()),
            SourceFile::Database(database, table) => {
                let definition = database.definition(table, control).map_err(of_source)?;
                Ok(definition.schema())
            }
        }
    }

    /// The columns of `projection`, as positions in `schema`.
    fn rows(
        &self,
        schema: &SchemaRef,
        projection: &[usize],
        control: &CopyControl,
    ) -> std::result::Result<SourceRows, Error> {
        let of_file = |item: std::result::Result<RecordBatch, CopyError>| item.map_err(Error::from);
        Ok(match self {
            SourceFile::Csv(file) => {
                Box::new(file.read(schema, Some(projection), control)?.map(of_file))
            }
            SourceFile::Parquet(file) => {
                let rows = file.read(Some(projection), threads(), control)?;
                Box::new(rows.map(of_file))
            }
            SourceFile::Database(database, table) => {
                let rows = database.read(table, Some(projection), control);
                Box::new(rows.map_err(of_source)?.map(|item| item.map_err(of_source)))
            }
        })
    }
}

/// The table of a database that has one.
fn only_table(database: &SourceDatabase) -> std::result::Result<SourceTableName, Error> {
    /// As many names are in a message.
    const NAMED_MAX: usize = 10;
    let mut tables = database.tables().map_err(of_source)?;
    if tables.len() == 1 {
        return Ok(tables.remove(0).name);
    }
    let names = tables.iter().take(NAMED_MAX);
    let names: Vec<String> = names.map(|table| table.name.to_string()).collect();
    let text = format!("\"{}\" has {} tables", database.name(), tables.len());
    let hint = format!(
        "Name one behind a point, as in 'file'.table: {}.",
        names.join(", ")
    );
    Err(Error::new("42P01", text).with_hint(hint))
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
    pub(super) fn open(
        relation: &FileRelation,
        control: CopyControl,
    ) -> std::result::Result<Self, Error> {
        let file = Arc::new(SourceFile::open(relation)?);
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
        let rows: SourceRows = match rows {
            Ok(rows) => rows,
            Err(error) => Box::new(std::iter::once(Err(error))),
        };
        let rows = BlockingRows(rows).map(|item| item.map_err(DataFusionError::from));
        let stream = futures::stream::iter(rows);
        Box::pin(RecordBatchStreamAdapter::new(
            Arc::clone(&self.schema),
            stream,
        ))
    }
}

/// Waits for the reader's threads without keeping others from this one.
struct BlockingRows(SourceRows);

impl Iterator for BlockingRows {
    type Item = std::result::Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        tokio::task::block_in_place(|| self.0.next())
    }
}
