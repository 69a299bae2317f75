//! External tables in a plan: their columns become such as SQL knows.

mod types;

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use quire_error::Error;

use crate::external::{ExternalRows, ExternalTable};

/// Rows that are converted and handed on at a time.
const BATCH_ROWS: usize = 8192;

/// An external table of one statement.
#[derive(Debug)]
pub struct ExternalTableProvider {
    table: Arc<dyn ExternalTable>,
    /// As SQL sees it.
    schema: SchemaRef,
}

impl ExternalTableProvider {
    pub fn new(name: &str, table: Arc<dyn ExternalTable>) -> std::result::Result<Self, Error> {
        let fields = table.schema();
        let field = |field: &Arc<Field>| {
            let data_type = types::of_sql(field.data_type())
                .ok_or_else(|| types::unknown_type(name, field.name(), field.data_type()))?;
            Ok(Field::new(field.name(), data_type, true))
        };
        let fields = fields.fields().iter().map(field);
        let fields = fields.collect::<std::result::Result<Vec<_>, Error>>()?;
        let schema = Arc::new(Schema::new(fields));
        Ok(Self { table, schema })
    }
}

#[async_trait]
impl TableProvider for ExternalTableProvider {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    fn statistics(&self) -> Option<Statistics> {
        let row_count = self.table.row_count()?;
        let mut statistics = Statistics::new_unknown(&self.schema);
        statistics.num_rows = Precision::Exact(row_count);
        Some(statistics)
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
        let schema: SchemaRef = Arc::new(self.schema.project(&projection)?);
        let partition = ExternalPartition {
            table: Arc::clone(&self.table),
            projection,
            schema: Arc::clone(&schema),
        };
        let exec =
            StreamingTableExec::try_new(schema, vec![Arc::new(partition)], None, [], false, limit)?;
        Ok(Arc::new(exec))
    }
}

/// The table's one partition.
struct ExternalPartition {
    table: Arc<dyn ExternalTable>,
    projection: Vec<usize>,
    schema: SchemaRef,
}

impl fmt::Debug for ExternalPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExternalPartition")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

impl PartitionStream for ExternalPartition {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let rows = ConvertedRows {
            source: ExternalSource::Table(Arc::clone(&self.table)),
            rest: None,
            projection: self.projection.clone(),
            schema: Arc::clone(&self.schema),
        };
        let external = |error| DataFusionError::External(Box::new(error));
        let stream = futures::stream::iter(rows.map(move |item| item.map_err(external)));
        let schema = Arc::clone(&self.schema);
        Box::pin(RecordBatchStreamAdapter::new(schema, stream))
    }
}

enum ExternalSource {
    /// Nothing has been read.
    Table(Arc<dyn ExternalTable>),
    Rows(ExternalRows),
    Ended,
}

/// The rows as SQL sees them. Reading them may wait for something; the thread's other tasks go elsewhere meanwhile.
struct ConvertedRows {
    source: ExternalSource,
    /// What is left of a batch.
    rest: Option<RecordBatch>,
    projection: Vec<usize>,
    schema: SchemaRef,
}

impl ConvertedRows {
    fn next_batch(&mut self) -> std::result::Result<Option<RecordBatch>, Error> {
        if let ExternalSource::Table(table) = &self.source {
            self.source = ExternalSource::Rows(table.read()?);
        }
        loop {
            if let Some(rest) = self.rest.take().filter(|rest| rest.num_rows() > 0) {
                let row_count = rest.num_rows().min(BATCH_ROWS);
                if row_count < rest.num_rows() {
                    self.rest = Some(rest.slice(row_count, rest.num_rows() - row_count));
                }
                return self.converted(&rest.slice(0, row_count)).map(Some);
            }
            let ExternalSource::Rows(rows) = &mut self.source else {
                return Ok(None);
            };
            match rows.next() {
                Some(batch) => self.rest = Some(batch?),
                None => self.source = ExternalSource::Ended,
            }
        }
    }

    fn converted(&self, batch: &RecordBatch) -> std::result::Result<RecordBatch, Error> {
        let column =
            |(field, position): (&Arc<Field>, &usize)| -> std::result::Result<ArrayRef, Error> {
                let found = batch.columns().get(*position).ok_or_else(|| {
                    let text = "a batch of an external table has fewer columns than its schema";
                    Error::new("22000", text)
                })?;
                types::converted(found, field)
            };
        let columns = self.schema.fields().iter().zip(&self.projection);
        let columns = columns
            .map(column)
            .collect::<std::result::Result<Vec<_>, Error>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let schema = Arc::clone(&self.schema);
        Ok(RecordBatch::try_new_with_options(
            schema, columns, &options,
        )?)
    }
}

impl Iterator for ConvertedRows {
    type Item = std::result::Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = tokio::task::block_in_place(|| self.next_batch());
        if next.is_err() {
            self.source = ExternalSource::Ended;
            self.rest = None;
        }
        next.transpose()
    }
}
