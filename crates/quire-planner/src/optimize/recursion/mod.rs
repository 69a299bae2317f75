//! `WITH RECURSIVE` whose recursive term reads the rows of the round before in several places.
//!
//! SQL allows one reference, but unnesting makes two of it: the rows themselves, and the distinct values of their columns for which a
//! subquery is evaluated ([`super::unnesting`]). DataFusion's work table hands its rows to one reader and refuses a plan with two.
//! Ours keeps them for the whole round: [`with_own_table`] puts [`work_table::WorkTableScan`] in the place of DataFusion's scans, and
//! [`own_recursion`] puts [`execute::RecursiveQuery`] in the place of its operator.

mod execute;
mod round_rows;
mod rounds;
mod work_table;

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::datasource::cte_worktable::CteWorkTable;
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;

use execute::RecursiveQuery;
pub(super) use round_rows::RoundRows;
use work_table::WorkTableReference;

/// The node with references to our rows of the round before.
pub(super) fn with_own_table(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::TableScan(mut scan) = node else {
        return Ok(Transformed::no(node));
    };
    let provider = source_as_provider(&scan.source).ok();
    let table = provider
        .as_ref()
        .and_then(|it| it.downcast_ref::<CteWorkTable>());
    let Some(table) = table else {
        return Ok(Transformed::no(LogicalPlan::TableScan(scan)));
    };
    let table = WorkTableReference::new(table.name(), table.schema());
    scan.source = provider_as_source(Arc::new(table));
    Ok(Transformed::yes(LogicalPlan::TableScan(scan)))
}

/// Whether the plan has rows of the round before.
pub(super) fn reads_work_table(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|node| {
        let LogicalPlan::TableScan(scan) = node else {
            return Ok(false);
        };
        let provider = source_as_provider(&scan.source).ok();
        Ok(provider.is_some_and(|it| it.downcast_ref::<WorkTableReference>().is_some()))
    })
}

/// Our operator, in place of DataFusion's.
pub(super) fn own_recursion(plan: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    let query = plan.downcast_ref::<RecursiveQueryExec>()?;
    Some(Arc::new(RecursiveQuery::of(query)))
}
