//! Which columns of an input hold no value twice.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::Column;
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{Expr, LogicalPlan};
use quire_error::interruption::Interruption;
use quire_tables::{ColumnTable, TableDefinition};

use crate::optimize::column_origin::column_origin;
use crate::scan::{ColumnTableProvider, RowTableProvider};

/// Whether no two rows of the input have the same value in this column, NULL aside. What cannot be read is found by the scan, and that the statement
/// is cancelled by the next step of planning.
pub(super) fn is_unique(input: &LogicalPlan, column: &Column, interruption: &Interruption) -> bool {
    let goes_on = || interruption.check().is_ok();
    match stored(input, column) {
        Some(UniqueCandidate::OfRows(definition, place)) => definition.has_unique_key(&[place]),
        Some(UniqueCandidate::OfColumns(table, place)) => {
            table.is_unique(place, &goes_on).unwrap_or(false)
        }
        None => false,
    }
}

/// Whether a column that [`is_unique`] is never NULL.
pub(super) fn has_no_null(input: &LogicalPlan, column: &Column) -> bool {
    match stored(input, column) {
        Some(UniqueCandidate::OfRows(definition, place)) => {
            let column = definition.columns.get(place);
            column.is_some_and(|column| !column.nullable)
        }
        Some(UniqueCandidate::OfColumns(table, place)) => {
            let column = table.definition().columns.get(place);
            let is_stored = || !table.is_changed().unwrap_or(true);
            column.is_some_and(|column| !column.nullable)
                || is_stored() && table.stored_null_count(place) == Some(0)
        }
        None => false,
    }
}

/// A column of a table, by its place.
enum UniqueCandidate {
    OfRows(Arc<TableDefinition>, usize),
    OfColumns(Arc<ColumnTable>, usize),
}

fn stored(input: &LogicalPlan, column: &Column) -> Option<UniqueCandidate> {
    let origin = column_origin(input, column).filter(|origin| !origin.is_repeated)?;
    let provider: Arc<dyn TableProvider> = source_as_provider(&origin.scan.source).ok()?;
    if let Some(rows) = provider.downcast_ref::<RowTableProvider>() {
        let definition = Arc::clone(rows.whole_table()?.definition());
        let place = definition.column_index(&origin.name)?;
        return Some(UniqueCandidate::OfRows(definition, place));
    }
    let table = provider.downcast_ref::<ColumnTableProvider>()?.table();
    let place = table.definition().column_index(&origin.name)?;
    Some(UniqueCandidate::OfColumns(Arc::clone(table), place))
}

/// Whether the input is a table with all of its rows, or with none. What reads no column, as `'a' = 'a'`, has not been simplified yet.
pub(super) fn is_whole_table(input: &LogicalPlan) -> bool {
    let is_constant = |filter: &Expr| filter.column_refs().is_empty() && !filter.is_volatile();
    match input {
        LogicalPlan::TableScan(scan) => {
            scan.filters.iter().all(is_constant) && scan.fetch.is_none()
        }
        LogicalPlan::Filter(filter) => {
            is_constant(&filter.predicate) && is_whole_table(&filter.input)
        }
        LogicalPlan::SubqueryAlias(alias) => is_whole_table(&alias.input),
        LogicalPlan::Projection(projection) => {
            !projection.expr.iter().any(Expr::is_volatile) && is_whole_table(&projection.input)
        }
        _ => false,
    }
}
