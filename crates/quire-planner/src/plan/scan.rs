//! Scans of our own tables.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::DFSchema;
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::TableScan;
use quire_exec::plan::{Expression, Plan, PlanColumn, PlanNode, ScanNode};

use super::relation::RelationTranslator;
use super::untranslated::Untranslated;
use crate::expression::Slots;
use crate::scan::{ColumnTableProvider, RowTableProvider};

impl RelationTranslator<'_> {
    /// A scan of the wanted columns, and of those that only its conditions need; these do not come out.
    pub(super) fn scan(&mut self, scan: &TableScan) -> Result<Plan, Untranslated> {
        let table = table_name(scan).ok_or_else(|| {
            Untranslated::Node(format!("scan of {}, which is no table", scan.table_name))
        })?;
        let schema = scan.source.schema();
        let qualified = DFSchema::try_from_qualified_schema(scan.table_name.clone(), &schema)
            .map_err(|error| Untranslated::Node(error.to_string()))?;
        let wanted = match &scan.projection {
            Some(projection) => projection.clone(),
            None => (0..schema.fields().len()).collect(),
        };
        let wanted_count = wanted.len();
        let mut slots = Slots::Wanted(wanted);
        let filters = scan.filters.iter();
        let conditions = filters.map(|filter| self.translate(filter, &qualified, None, &mut slots));
        let conditions = conditions.collect::<Result<Vec<_>, _>>()?;
        let mut columns = slots.wanted().to_vec();
        let read = columns.iter().map(|column| {
            let field = schema.field(*column);
            PlanColumn {
                name: field.name().clone(),
                data_type: field.data_type().clone(),
                nullable: field.is_nullable(),
            }
        });
        let read = read.collect();
        if let Some(key) = row_key(scan)? {
            let shown = columns.iter_mut().filter(|column| **column == key);
            shown.for_each(|column| *column = ScanNode::ROW_KEY);
        }
        let plan = Plan {
            columns: read,
            node: PlanNode::Scan(ScanNode {
                table,
                columns,
                conditions,
            }),
        };
        Ok(first_columns(plan, wanted_count))
    }
}

/// The name of the table; `None` for files, views of the system and the like.
fn table_name(scan: &TableScan) -> Option<String> {
    let provider = source_as_provider(&scan.source).ok()?;
    let provider: &Arc<dyn TableProvider> = &provider;
    let is_ours = provider.downcast_ref::<RowTableProvider>().is_some()
        || provider.downcast_ref::<ColumnTableProvider>().is_some();
    is_ours.then(|| scan.table_name.table().to_owned())
}

/// Where a row table that is changed shows the keys of its rows.
fn row_key(scan: &TableScan) -> Result<Option<usize>, Untranslated> {
    let provider = source_as_provider(&scan.source).ok();
    let provider = provider.as_ref();
    let rows = provider.and_then(|it| it.downcast_ref::<RowTableProvider>());
    if rows.is_some_and(RowTableProvider::is_of_some_rows) {
        Err(Untranslated::Node("scan of some rows".to_owned()))
    } else {
        Ok(rows.and_then(RowTableProvider::row_key_column))
    }
}

fn first_columns(plan: Plan, count: usize) -> Plan {
    if plan.columns.len() == count {
        return plan;
    }
    let shown = plan.columns.iter().enumerate().take(count);
    let outputs = shown.filter_map(|(slot, column)| {
        let expression = Expression::Column {
            slot,
            kind: column.kind()?,
            nullable: column.nullable,
        };
        Some((column.clone(), expression))
    });
    let outputs = outputs.collect();
    plan.project(outputs)
}
