//! The row tables that a statement reads.

use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::LogicalPlan;
use quire_error::Error;
use quire_tables::{RowTable, Snapshot};

use crate::sql::dml::TARGET_TABLE;

/// The row tables of a snapshot, and the one whose rows are changed, by the names that plans have for them.
#[derive(Clone)]
pub(in crate::sql) struct RowTables {
    snapshot: Snapshot,
    target: Option<Arc<RowTable>>,
}

impl RowTables {
    pub(in crate::sql) fn of(snapshot: &Snapshot) -> Self {
        Self {
            snapshot: snapshot.clone(),
            target: None,
        }
    }

    /// The same for a statement that changes rows of `target`.
    pub(in crate::sql) fn with_target(snapshot: &Snapshot, target: &Arc<RowTable>) -> Self {
        Self {
            snapshot: snapshot.clone(),
            target: Some(Arc::clone(target)),
        }
    }

    pub(in crate::sql) fn find(&self, name: &str) -> Option<Arc<RowTable>> {
        match &self.target {
            Some(target) if name == TARGET_TABLE => Some(Arc::clone(target)),
            _ => self.snapshot.row_table(name).ok()?,
        }
    }

    fn has(&self, name: &str) -> bool {
        let is_target = self.target.is_some() && name == TARGET_TABLE;
        is_target || self.snapshot.row_table_entry(name).is_some()
    }

    /// Whether a query reads row tables, and no other ones. What is a view is not known yet.
    pub(in crate::sql) fn are_all_of(&self, plan: &LogicalPlan) -> Result<bool, Error> {
        let (mut scans, mut others) = (0, 0);
        plan.apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node {
                scans += 1;
                let is_view = scan.source.get_logical_plan().is_some();
                others += usize::from(!is_view && !self.has(scan.table_name.table()));
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(scans > 0 && others == 0)
    }
}
