//! Rows that are computed once, and read in several places.
//!
//! A plan that stands in two places is run twice. Where it calls a volatile function, the places would have other rows, and `nextval` would be
//! called for each. [`SharedPlan`] stands for such a plan, and looks to the rules like a table.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DFSchemaRef, DataFusionError, Result};
use datafusion::execution::session_state::SessionState;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use futures::{TryStreamExt, stream};
use tokio::sync::OnceCell;

use super::materialized_rows::MaterializedRows;

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
pub(super) struct SharedPlan {
    pub(super) plan: Arc<LogicalPlan>,
    /// Whether the logical rules are done with it.
    pub(super) is_optimized: bool,
}

impl SharedPlan {
    /// A subplan of a plan that the logical rules are done with.
    pub(super) fn optimized(plan: LogicalPlan) -> Self {
        Self {
            plan: Arc::new(plan),
            is_optimized: true,
        }
    }

    pub(super) fn node(self) -> LogicalPlan {
        LogicalPlan::Extension(Extension {
            node: Arc::new(self),
        })
    }

    /// The plan, as one that is computed once if it calls a volatile function. One that reads rows further out is another for each of them.
    pub(super) fn if_volatile(plan: Arc<LogicalPlan>) -> Result<Arc<LogicalPlan>> {
        if is_volatile(&plan)? && plan.all_out_ref_exprs().is_empty() {
            let shared = Self {
                plan,
                is_optimized: false,
            };
            Ok(Arc::new(shared.node()))
        } else {
            Ok(plan)
        }
    }

    /// The same for all places.
    pub(super) fn address(&self) -> usize {
        Arc::as_ptr(&self.plan).addr()
    }
}

/// Whether the plan calls a function that has another value at each call.
pub(super) fn is_volatile(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expression| {
            found |= expression.is_volatile();
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(found)
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
        self.plan.schema()
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
