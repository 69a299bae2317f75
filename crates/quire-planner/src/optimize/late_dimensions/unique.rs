//! Which columns of an input hold no value twice.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::{Column, Result};
use datafusion::datasource::source_as_provider;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{Expr, LogicalPlan};

use crate::optimize::column_origin::column_origin;
use crate::scan::{ColumnTableProvider, RowTableProvider};

/// Whether no two rows of the input have the same value in this column, NULL aside.
pub(super) fn is_unique(input: &LogicalPlan, column: &Column) -> Result<bool> {
    let Some(origin) = column_origin(input, column).filter(|origin| !origin.is_repeated) else {
        return Ok(false);
    };
    let Ok(provider) = source_as_provider(&origin.scan.source) else {
        return Ok(false);
    };
    let provider: &Arc<dyn TableProvider> = &provider;
    if let Some(rows) = provider.downcast_ref::<RowTableProvider>() {
        let definition = rows.whole_table().map(|table| table.definition());
        return Ok(definition.is_some_and(|definition| {
            let place = definition.column_index(&origin.name);
            place.is_some_and(|place| definition.has_unique_key(&[place]))
        }));
    }
    let Some(columns) = provider.downcast_ref::<ColumnTableProvider>() else {
        return Ok(false);
    };
    let table = columns.table();
    match table.definition().column_index(&origin.name) {
        Some(place) => {
            let proved = table.is_unique(place);
            proved.map_err(|error| DataFusionError::External(Box::new(error)))
        }
        None => Ok(false),
    }
}

/// Whether the input is a table with all of its rows.
pub(super) fn is_whole_table(input: &LogicalPlan) -> bool {
    match input {
        LogicalPlan::TableScan(scan) => scan.filters.is_empty() && scan.fetch.is_none(),
        LogicalPlan::SubqueryAlias(alias) => is_whole_table(&alias.input),
        LogicalPlan::Projection(projection) => {
            let is_column = |output: &Expr| matches!(output, Expr::Column(_));
            projection.expr.iter().all(is_column) && is_whole_table(&projection.input)
        }
        _ => false,
    }
}
