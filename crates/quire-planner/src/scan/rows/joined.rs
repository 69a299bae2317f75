//! A row table as one input of a join, and what it costs to read its rows or to look them up.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::Result;
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, LogicalPlan, TableScan};
use quire_exec::access::TableLookUps;
use quire_exec::costs::CostModel;
use quire_exec::tuple::ScanCost;
use quire_tables::RowTable;

use super::access::{FilterReader, external};
use super::known_look_ups::KnownLookUps;
use super::provider::RowTableProvider;

/// Rows of a table that pass filters, with some of its columns.
pub(crate) struct JoinedRows {
    table: Arc<RowTable>,
    known_look_ups: Arc<KnownLookUps>,
    filters: Vec<Expr>,
    /// The ordinals of the columns, in the order of the plan.
    ordinals: Vec<usize>,
}

impl JoinedRows {
    /// The table that `plan` reads; `None` if the plan does anything that a look-up cannot do, or reads something else.
    pub(crate) fn of(plan: &LogicalPlan) -> Option<Self> {
        match plan {
            LogicalPlan::SubqueryAlias(alias) => Self::of(&alias.input),
            LogicalPlan::Projection(projection) => {
                let input = Self::of(&projection.input)?;
                let schema = projection.input.schema();
                let ordinal = |expr: &Expr| {
                    let place = schema.index_of_column(expr.try_as_col()?).ok()?;
                    input.ordinals.get(place).copied()
                };
                let ordinals: Option<Vec<usize>> = projection.expr.iter().map(ordinal).collect();
                Some(Self {
                    ordinals: ordinals?,
                    ..input
                })
            }
            // Filters name columns as the table does.
            LogicalPlan::Filter(filter) if is_named_by_table(&filter.input) => {
                let mut input = Self::of(&filter.input)?;
                // Those that narrow the scan stand above it, too.
                for part in split_conjunction(&filter.predicate) {
                    if !input.filters.contains(part) {
                        input.filters.push(part.clone());
                    }
                }
                Some(input)
            }
            LogicalPlan::TableScan(scan) => Self::of_scan(scan),
            _ => None,
        }
    }

    fn of_scan(scan: &TableScan) -> Option<Self> {
        let provider = source_as_provider(&scan.source).ok()?;
        let provider: &Arc<dyn TableProvider> = &provider;
        let provider = provider.downcast_ref::<RowTableProvider>()?;
        let table = provider.whole_table().filter(|_| scan.fetch.is_none())?;
        let live = table.layout().live_ordinals();
        let ordinals = match &scan.projection {
            Some(columns) => {
                let columns = columns.iter().map(|column| live.get(*column).copied());
                columns.collect::<Option<Vec<usize>>>()?
            }
            None => live.to_vec(),
        };
        Some(Self {
            table: Arc::clone(table),
            known_look_ups: Arc::clone(provider.known_look_ups()),
            filters: scan.filters.clone(),
            ordinals,
        })
    }

    /// The ordinal in the table of a column of the plan.
    pub(crate) fn ordinal(&self, column: usize) -> Option<usize> {
        self.ordinals.get(column).copied()
    }

    /// The ordinals of the primary key, and whether each descends.
    pub(crate) fn primary_key(&self) -> Vec<(usize, bool)> {
        let key = self.table.definition().primary_key.as_ref();
        let columns = key.into_iter().flat_map(|key| &key.columns);
        columns
            .map(|part| (part.column, part.is_descending))
            .collect()
    }

    /// What the tuple engine takes to read the rows, of which there are about `rows`.
    pub(crate) fn scan_cost(&self, rows: f64, costs: &CostModel) -> Result<ScanCost> {
        let reader = FilterReader::with_defaults(&self.table)?;
        reader.scan_cost(&self.filters, (rows, &self.ordinals), costs)
    }

    /// What it takes to look rows up where joins may give the columns of these ordinals; nothing where no key begins with one of them.
    pub(crate) fn look_ups(
        &self,
        may_be_given: &[usize],
        costs: &CostModel,
    ) -> Result<Option<Arc<TableLookUps>>> {
        let known = self.known_look_ups.find(&self.table, may_be_given, costs);
        known.map_err(external)
    }
}

fn is_named_by_table(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Filter(filter) => is_named_by_table(&filter.input),
        LogicalPlan::SubqueryAlias(alias) => is_named_by_table(&alias.input),
        LogicalPlan::TableScan(_) => true,
        _ => false,
    }
}
