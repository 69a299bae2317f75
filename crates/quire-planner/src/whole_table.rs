//! Plans whose rows are those of a table as it is.

use std::sync::Arc;

use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{Expr, LogicalPlan};
use quire_tables::ColumnTable;

use crate::scan::ColumnTableProvider;

/// The column table of which a plan gives all rows, and which of its columns each column of the plan is; `None` if the plan does anything besides choosing and
/// naming columns.
pub fn rows_of_column_table(plan: &LogicalPlan) -> Option<(Arc<ColumnTable>, Vec<usize>)> {
    match plan {
        LogicalPlan::SubqueryAlias(alias) => rows_of_column_table(&alias.input),
        LogicalPlan::Projection(projection) => {
            let (table, columns) = rows_of_column_table(&projection.input)?;
            let schema = projection.input.schema();
            let place = |expr: &Expr| {
                let column = unnamed(expr).try_as_col()?;
                columns.get(schema.index_of_column(column).ok()?).copied()
            };
            let columns: Option<Vec<usize>> = projection.expr.iter().map(place).collect();
            Some((table, columns?))
        }
        LogicalPlan::TableScan(scan) if scan.filters.is_empty() && scan.fetch.is_none() => {
            let provider = source_as_provider(&scan.source).ok()?;
            let table = provider.downcast_ref::<ColumnTableProvider>()?.table();
            let count = table.definition().columns.len();
            let columns = match &scan.projection {
                Some(columns) => columns.clone(),
                None => (0..count).collect(),
            };
            // The key of a row, which targets of changes have, is no column.
            let are_stored = columns.iter().all(|column| *column < count);
            are_stored.then(|| (Arc::clone(table), columns))
        }
        _ => None,
    }
}

/// What an expression names.
fn unnamed(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => unnamed(&alias.expr),
        _ => expr,
    }
}
