//! What the scans of a plan will read, told before the plan runs.

use std::sync::Arc;

use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::execution_plan::EmissionType;
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use quire_kv::{progress::Phase, progress::StatementWork};

use super::rows::RowScanSource;
use super::source::ColumnScan;

/// What is known of the leaves of a plan.
#[derive(Default)]
struct LeafFacts {
    /// Rows of the tables that are read to their end.
    rows: u64,
    has_tables: bool,
    /// Whether some leaf may be left before its end, or has a length that nobody knows.
    is_partial: bool,
    has_others: bool,
}

/// Says how many rows the plan will read, if that can be known.
pub fn announce(plan: &Arc<dyn ExecutionPlan>, work: &StatementWork) {
    // Planning is over, and may have looked into files.
    if work
        .progress()
        .is_some_and(|progress| progress.phase == Phase::Inferring)
    {
        work.begin(Phase::Reading, None);
    }
    let mut leaves = LeafFacts::default();
    leaves.add(plan, false);
    let is_known = !(leaves.is_partial || (leaves.has_tables && leaves.has_others));
    work.foresee(is_known.then_some(leaves.rows), 0);
}

impl LeafFacts {
    /// Adds those of a plan that is perhaps left before its end.
    fn add(&mut self, plan: &Arc<dyn ExecutionPlan>, may_end_early: bool) {
        let may_end_early = !needs_all(plan) && (may_end_early || plan.fetch().is_some());
        let children = plan.children();
        if children.is_empty() {
            self.add_leaf(plan, may_end_early);
        }
        for child in children {
            self.add(child, may_end_early);
        }
    }

    fn add_leaf(&mut self, leaf: &Arc<dyn ExecutionPlan>, may_end_early: bool) {
        let source = leaf.downcast_ref::<DataSourceExec>();
        let source = source.map(|leaf| leaf.data_source());
        let columns = source.and_then(|source| source.downcast_ref::<ColumnScan>());
        let rows = source.and_then(|source| source.downcast_ref::<RowScanSource>());
        self.is_partial |= may_end_early;
        let expected = match (columns, rows) {
            (Some(scan), _) => scan.expected_rows(),
            (_, Some(scan)) => Some(scan.expected_rows()),
            (None, None) => {
                self.has_others |= !leaf.is::<EmptyExec>() && !leaf.is::<PlaceholderRowExec>();
                return;
            }
        };
        self.has_tables = true;
        self.is_partial |= expected.is_none();
        self.rows = self.rows.saturating_add(expected.unwrap_or(0));
    }
}

/// Whether all input of a node is read before its first row comes out.
fn needs_all(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.pipeline_behavior() == EmissionType::Final
}
