//! What an aggregation reads: a scan, and projections above it.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use quire_tables::ColumnTable;

use super::super::source::ColumnScan;

/// The operators below an aggregation.
pub(super) struct AggregateInput<'a> {
    /// From the scan upwards.
    pub(super) projections: Vec<&'a Arc<dyn ExecutionPlan>>,
    pub(super) leaf: &'a Arc<dyn ExecutionPlan>,
    pub(super) scan: &'a ColumnScan,
}

impl<'a> AggregateInput<'a> {
    /// `None` if other operators are there, or another source of rows.
    pub(super) fn of(mut plan: &'a Arc<dyn ExecutionPlan>) -> Option<Self> {
        let mut projections = Vec::new();
        while let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
            projections.push(plan);
            plan = projection.input();
        }
        projections.reverse();
        let scan = plan.downcast_ref::<DataSourceExec>()?.data_source();
        Some(Self {
            projections,
            leaf: plan,
            scan: scan.downcast_ref::<ColumnScan>()?,
        })
    }

    pub(super) fn table(&self) -> &ColumnTable {
        &self.scan.table
    }

    /// The level of the aggregation's own expressions.
    pub(super) fn top(&self) -> usize {
        self.projections.len()
    }

    /// What expressions read that are above so many projections.
    pub(super) fn schema(&self, level: usize) -> SchemaRef {
        match level.checked_sub(1) {
            Some(below) => self.projections[below].schema(),
            None => self.leaf.schema(),
        }
    }

    /// The expression, above one projection less, that a column stands for; `None` if the scan has the column.
    pub(super) fn beneath(
        &self,
        column: &Column,
        level: usize,
    ) -> Option<&'a Arc<dyn PhysicalExpr>> {
        let below = self.projections.get(level.checked_sub(1)?)?;
        let projection = below.downcast_ref::<ProjectionExec>()?;
        Some(&projection.expr().get(column.index())?.expr)
    }

    /// The place in the table of a column of the scan.
    pub(super) fn table_column(&self, index: usize) -> Option<usize> {
        let column = *self.scan.projection.get(index)?;
        (column < self.scan.table.definition().columns.len()).then_some(column)
    }

    /// Whether a column of the table has NULLs in row groups.
    pub(super) fn has_nulls(&self, column: usize) -> bool {
        self.table().stored_null_count(column) != Some(0)
    }

    /// The column of the scan that an expression above all projections is.
    pub(super) fn scan_column(&self, expr: &Arc<dyn PhysicalExpr>) -> Option<usize> {
        let (mut expr, mut level) = (expr, self.top());
        loop {
            let column = expr.downcast_ref::<Column>()?;
            if level == 0 {
                return Some(column.index());
            }
            (expr, level) = (self.beneath(column, level)?, level - 1);
        }
    }
}

/// The projections over another source of the same rows.
pub(super) fn projected(
    projections: &[Arc<dyn ExecutionPlan>],
    leaf: Arc<dyn ExecutionPlan>,
) -> Result<Arc<dyn ExecutionPlan>> {
    projections.iter().try_fold(leaf, |input, projection| {
        replace_children_if_necessary(Arc::clone(projection), vec![input])
    })
}
