//! Rows that are computed once, and read in several places.
//!
//! A plan that stands in two places is run twice. Where it calls a volatile function, the places would have other rows, and `nextval` would be
//! called for each. [`SharedPlan`] stands for such a plan, and looks to the rules like a table.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, DataFusionError, Result, internal_err};
use datafusion::execution::session_state::SessionState;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{
    Expr, Extension, LogicalPlan, UserDefinedLogicalNode, UserDefinedLogicalNodeCore,
};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use futures::{TryStreamExt, stream};
use tokio::sync::OnceCell;

use super::materialized_rows::MaterializedRows;
use super::recursion::{RoundRows, reads_work_table};

/// The rows of a plan, computed when the first place reads them.
pub struct SharedRows {
    schema: SchemaRef,
    state: SessionState,
    plan: LogicalPlan,
    found: OnceCell<MaterializedRows>,
}

impl fmt::Debug for SharedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedRows")
    }
}

impl SharedRows {
    pub fn new(state: SessionState, plan: LogicalPlan) -> Arc<Self> {
        Arc::new(Self {
            schema: Arc::clone(plan.schema().inner()),
            state,
            plan,
            found: OnceCell::new(),
        })
    }

    /// A table that has the rows.
    pub fn table(self: Arc<Self>) -> Result<StreamingTable> {
        let schema = Arc::clone(&self.schema);
        StreamingTable::try_new(schema, vec![Arc::new(SharedRowsReader(self))])
    }

    async fn find(&self) -> Result<MaterializedRows> {
        let plan = self.state.create_physical_plan(&self.plan).await?;
        MaterializedRows::of(plan, &self.schema, self.state.task_ctx()).await
    }
}

/// A place that reads the rows.
#[derive(Debug)]
struct SharedRowsReader(Arc<SharedRows>);

impl PartitionStream for SharedRowsReader {
    fn schema(&self) -> &SchemaRef {
        &self.0.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let rows = Arc::clone(&self.0);
        let schema = Arc::clone(&rows.schema);
        let found = async move {
            let found = rows.found.get_or_try_init(|| rows.find()).await?;
            Ok::<_, DataFusionError>(found.read())
        };
        let batches = stream::once(found).try_flatten();
        Box::pin(RecordBatchStreamAdapter::new(schema, batches))
    }
}

/// A plan whose rows are computed once for all places that have this node.
#[derive(Debug, Clone)]
pub(super) struct SharedPlan(Arc<LogicalPlan>);

impl SharedPlan {
    /// The plan, as one that is computed once if it calls a volatile function. One that reads rows further out is another for each of them.
    pub(super) fn if_volatile(plan: Arc<LogicalPlan>) -> Result<Arc<LogicalPlan>> {
        if is_volatile(&plan)? && plan.all_out_ref_exprs().is_empty() {
            Ok(Arc::new(LogicalPlan::Extension(Extension {
                node: Arc::new(Self(plan)),
            })))
        } else {
            Ok(plan)
        }
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

fn is_volatile(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|node| {
        let mut found = false;
        node.apply_expressions(|expression| {
            found |= expression.is_volatile();
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(found)
    })
}

impl PartialEq for SharedPlan {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for SharedPlan {}

impl PartialOrd for SharedPlan {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.address().partial_cmp(&other.address())
    }
}

impl Hash for SharedPlan {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl UserDefinedLogicalNodeCore for SharedPlan {
    fn name(&self) -> &str {
        "Shared"
    }

    /// None that the rules could change in one place and not in another.
    fn inputs(&self) -> Vec<&LogicalPlan> {
        Vec::new()
    }

    fn schema(&self) -> &DFSchemaRef {
        self.0.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shared")
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, _: Vec<LogicalPlan>) -> Result<Self> {
        Ok(self.clone())
    }
}

/// Plans the places of [`SharedPlan`] in one statement.
#[derive(Debug, Default)]
pub(super) struct SharedRowsPlanner(Mutex<HashMap<usize, Arc<SharedRows>>>);

#[async_trait]
impl ExtensionPlanner for SharedRowsPlanner {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        _: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        _: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let Some(shared) = node.as_any().downcast_ref::<SharedPlan>() else {
            return Ok(None);
        };
        let Some(state) = session.as_any().downcast_ref::<SessionState>() else {
            return internal_err!("shared rows have a state of another kind");
        };
        if reads_work_table(&shared.0)? {
            let plan = state.create_physical_plan(&shared.0).await?;
            let schema = Arc::clone(shared.0.schema().inner());
            return Ok(Some(Arc::new(RoundRows::new(
                plan,
                schema,
                shared.address(),
            ))));
        }
        let rows = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let rows = known.entry(shared.address());
            let rows =
                rows.or_insert_with(|| SharedRows::new(state.clone(), shared.0.as_ref().clone()));
            Arc::clone(rows)
        };
        let scan = rows.table()?.scan(session, None, &[], None).await?;
        Ok(Some(scan))
    }
}
