//! The work table: the rows that the last round of a recursion found, which all places of the recursive term read.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::memory::MemoryStream;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use tokio::sync::OnceCell;

use crate::optimize::materialized_rows::MaterializedRows;

/// What the places of a recursive term read in a round.
#[derive(Debug, Default)]
pub(super) struct WorkTable(Mutex<Round>);

#[derive(Debug, Default)]
struct Round {
    /// Rows of the last round. The recursion that sets them counts their memory.
    rows: Vec<RecordBatch>,
    kept: HashMap<usize, Arc<OnceCell<MaterializedRows>>>,
}

impl WorkTable {
    fn round(&self) -> MutexGuard<'_, Round> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a round, which reads `rows`.
    pub(super) fn set(&self, rows: Vec<RecordBatch>) {
        let kept = HashMap::new();
        *self.round() = Round { rows, kept };
    }

    fn rows(&self) -> Vec<RecordBatch> {
        self.round().rows.clone()
    }

    /// The rows that the places called `id` share in this round, which the first of them computes.
    pub(super) fn kept_rows(&self, id: usize) -> Arc<OnceCell<MaterializedRows>> {
        Arc::clone(self.round().kept.entry(id).or_default())
    }
}

/// What a plan knows of the work table of the recursion called `name`.
#[derive(Debug)]
pub(super) struct WorkTableReference {
    name: String,
    schema: SchemaRef,
}

impl WorkTableReference {
    pub(super) fn new(name: &str, schema: SchemaRef) -> Self {
        let name = name.to_owned();
        Self { name, schema }
    }
}

#[async_trait]
impl TableProvider for WorkTableReference {
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
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = match projection {
            Some(columns) => Arc::new(self.schema.project(columns)?),
            None => Arc::clone(&self.schema),
        };
        let known = EquivalenceProperties::new(Arc::clone(&schema));
        let properties = PlanProperties::new(
            known,
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        let properties = properties.with_scheduling_type(SchedulingType::Cooperative);
        Ok(Arc::new(WorkTableScan {
            name: self.name.clone(),
            schema,
            columns: projection.cloned(),
            table: None,
            properties: Arc::new(properties),
        }))
    }
}

/// A place of the recursive term that reads the work table.
#[derive(Debug, Clone)]
pub(super) struct WorkTableScan {
    name: String,
    schema: SchemaRef,
    columns: Option<Vec<usize>>,
    /// Known once the recursion is executed.
    table: Option<Arc<WorkTable>>,
    properties: Arc<PlanProperties>,
}

impl WorkTableScan {
    /// The same place in an execution of the recursion called `name`.
    pub(super) fn in_execution(&self, name: &str, table: &Arc<WorkTable>) -> Option<Self> {
        let table = (self.name == name).then(|| Arc::clone(table))?;
        let mut scan = self.clone();
        scan.table = Some(table);
        Some(scan)
    }
}

impl DisplayAs for WorkTableScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkTableScan: name={}", self.name)
    }
}

impl ExecutionPlan for WorkTableScan {
    fn name(&self) -> &str {
        "WorkTableScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(table) = &self.table else {
            return internal_err!("the work table {} is read outside of its query", self.name);
        };
        let rows =
            MemoryStream::try_new(table.rows(), Arc::clone(&self.schema), self.columns.clone())?;
        Ok(Box::pin(cooperative(rows)))
    }
}
