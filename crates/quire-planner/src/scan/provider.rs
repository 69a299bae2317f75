//! A column table of one snapshot.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, Result, Statistics};
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::utils::split_conjunction;
use datafusion::physical_plan::ExecutionPlan;
use quire_error::interruption::Interruption;
use quire_functions::QuireOptions;
use quire_tables::ColumnTable;

use super::predicate::{ScanFilter, cost_rank};
use super::pushable::is_pushable;
use super::rows::with_row_key;
use super::source::ColumnScan;
use super::stored_tests::StoredColumns;
use crate::statistics::TableProfile;

/// The table, and what is known of its values; as the target of a change each row has its key in a last column.
pub struct ColumnTableProvider {
    table: Arc<ColumnTable>,
    schema: SchemaRef,
    profile: Arc<TableProfile>,
    options: QuireOptions,
}

impl std::fmt::Debug for ColumnTableProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ColumnTableProvider({})", self.table.definition().name)
    }
}

impl ColumnTableProvider {
    pub fn new(table: Arc<ColumnTable>, options: QuireOptions) -> Self {
        let profile = Arc::new(TableProfile::of_table(&table));
        Self {
            schema: Arc::clone(table.arrow_schema()),
            table,
            profile,
            options,
        }
    }

    /// The table with the keys of its rows.
    pub fn target(table: Arc<ColumnTable>, options: QuireOptions) -> Self {
        Self {
            schema: with_row_key(table.arrow_schema()),
            ..Self::new(table, options)
        }
    }

    pub(crate) fn table(&self) -> &Arc<ColumnTable> {
        &self.table
    }

    /// What the optimizer may know of the values.
    pub(crate) fn profile(&self) -> &Arc<TableProfile> {
        &self.profile
    }

    fn stored_columns(&self, state: &dyn Session) -> Option<Arc<StoredColumns>> {
        let interruption = Interruption::of(state.config_options());
        let columns = StoredColumns::of(&self.table, interruption);
        self.options.stored_tests.then(|| Arc::new(columns))
    }

    fn scan_filters(
        &self,
        state: &dyn Session,
        filters: &[Expr],
        stored: Option<&Arc<StoredColumns>>,
    ) -> Result<Vec<Arc<ScanFilter>>> {
        let schema = self.table.arrow_schema();
        let df_schema = DFSchema::try_from(schema.as_ref().clone())?;
        let mut conjuncts: Vec<Arc<dyn PhysicalExpr>> = Vec::new();
        for filter in filters {
            let expr = state.create_physical_expr(filter.clone(), &df_schema)?;
            conjuncts.extend(split_conjunction(&expr).into_iter().cloned());
        }
        conjuncts.sort_by_cached_key(|expr| cost_rank(expr, schema));
        let prunes_zones = self.options.zone_pruning;
        let filter = |expr| {
            let filter = ScanFilter::new(expr, schema, prunes_zones)?;
            Ok(Arc::new(filter.with_stored_columns(stored)))
        };
        conjuncts.into_iter().map(filter).collect()
    }
}

#[async_trait]
impl TableProvider for ColumnTableProvider {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn statistics(&self) -> Option<Statistics> {
        Some(self.profile.to_statistics(&self.schema))
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let support = |filter: &&Expr| {
            if self.options.filter_pushdown && is_pushable(filter, self.table.arrow_schema()) {
                TableProviderFilterPushDown::Exact
            } else {
                TableProviderFilterPushDown::Unsupported
            }
        };
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let stored = self.stored_columns(state);
        let scan_filters = self.scan_filters(state, filters, stored.as_ref())?;
        let all = || (0..self.schema.fields().len()).collect();
        let projection = projection.cloned().unwrap_or_else(all);
        let profile = if filters.is_empty() {
            Arc::clone(&self.profile)
        } else {
            Arc::new(self.profile.filtered(filters))
        };
        let table = Arc::clone(&self.table);
        let source = ColumnScan::new(table, &self.schema, projection, scan_filters, profile)?
            .with_options(&self.options)
            .with_stored_columns(stored)
            .with_limit(limit)
            .counted_by(state.config().get_extension())
            .spread_over(state.config().target_partitions());
        Ok(DataSourceExec::from_data_source(source))
    }
}
