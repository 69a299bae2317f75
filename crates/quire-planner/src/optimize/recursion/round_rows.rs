//! Rows of a recursive term that are computed once in a round for all places that read them, as [`SharedRows`] are in a statement: they read
//! the work table and call a volatile function, so that no two executions have the same.
//!
//! [`SharedRows`]: super::super::SharedRows

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, reset_plan_states};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{TryStreamExt, stream};

use super::work_table::WorkTable;
use crate::optimize::materialized_rows::MaterializedRows;

/// A place that reads the rows of `plan`.
#[derive(Debug)]
pub(in crate::optimize) struct RoundRows {
    /// No child: rules could change it in one place and not in another.
    plan: Arc<dyn ExecutionPlan>,
    /// The same for all places that read the same rows.
    id: usize,
    table: Option<Arc<WorkTable>>,
    properties: Arc<PlanProperties>,
}

impl RoundRows {
    pub(in crate::optimize) fn new(
        plan: Arc<dyn ExecutionPlan>,
        schema: SchemaRef,
        id: usize,
    ) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Self {
            plan,
            id,
            table: None,
            properties: Arc::new(properties),
        }
    }

    pub(super) fn plan(&self) -> &Arc<dyn ExecutionPlan> {
        &self.plan
    }

    /// The same place in an execution of a recursion, whose rows are those of `plan`.
    pub(super) fn in_execution(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        table: &Arc<WorkTable>,
    ) -> Self {
        Self {
            plan,
            id: self.id,
            table: Some(Arc::clone(table)),
            properties: Arc::clone(&self.properties),
        }
    }
}

impl DisplayAs for RoundRows {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RoundRows")
    }
}

impl ExecutionPlan for RoundRows {
    fn name(&self) -> &str {
        "RoundRows"
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

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(table) = &self.table else {
            return internal_err!("rows of a round are read outside of a recursive query");
        };
        let kept = table.kept_rows(self.id);
        let (plan, schema) = (Arc::clone(&self.plan), self.schema());
        let batches = async move {
            let rows = kept.get_or_try_init(|| async {
                MaterializedRows::of(reset_plan_states(plan)?, &schema, context).await
            });
            Ok::<_, DataFusionError>(rows.await?.read())
        };
        let batches = stream::once(batches).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            self.schema(),
            batches,
        )))
    }
}
