//! A row table of one snapshot.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Result, Statistics};
use datafusion::datasource::source::DataSourceExec;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use quire_functions::PlannerCosts;
use quire_tables::{RowTable, ScanRowSource};

use super::access::{FilterReader, RowAccess, external};
use super::known_look_ups::KnownLookUps;
use super::source::RowScanSource;
use crate::statistics::TableProfile;

/// Name of the column with the key of each row, where there is one.
pub const ROW_KEY_COLUMN: &str = "quire row key";

/// Keys of rows.
pub type RowKeys = Arc<[Box<[u8]>]>;

/// The table, as queries read it, or as the target of a change: then each row has its key in a last column.
pub struct RowTableProvider {
    table: Arc<RowTable>,
    schema: SchemaRef,
    /// Only these rows.
    only: Option<RowKeys>,
    profile: OnceLock<TableProfile>,
    known_look_ups: Arc<KnownLookUps>,
}

/// The schema of a table whose rows show their keys.
pub(crate) fn with_row_key(table: &Schema) -> SchemaRef {
    let mut fields: Vec<Arc<Field>> = table.fields().to_vec();
    let key = Field::new(ROW_KEY_COLUMN, DataType::BinaryView, false);
    fields.push(Arc::new(key));
    Arc::new(Schema::new(fields))
}

impl std::fmt::Debug for RowTableProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RowTableProvider({})", self.table.definition().name)
    }
}

impl RowTableProvider {
    /// The table, with what is known of its columns.
    pub fn new(table: Arc<RowTable>) -> Self {
        Self {
            schema: Arc::clone(table.arrow_schema()),
            table,
            only: None,
            profile: OnceLock::new(),
            known_look_ups: Arc::default(),
        }
    }

    /// Rows and columns, as far as they are known.
    pub(crate) fn profile(&self) -> &TableProfile {
        self.profile
            .get_or_init(|| TableProfile::of_rows(&self.table))
    }

    /// What looking up its rows costs, as far as the order of joins has needed it.
    pub(super) fn known_look_ups(&self) -> &Arc<KnownLookUps> {
        &self.known_look_ups
    }

    /// The table, if all of its rows are read without their keys.
    pub(crate) fn whole_table(&self) -> Option<&Arc<RowTable>> {
        let is_whole = self.only.is_none() && self.row_key_column().is_none();
        is_whole.then_some(&self.table)
    }

    /// Whether only rows with certain keys are read.
    pub(crate) fn is_of_some_rows(&self) -> bool {
        self.only.is_some()
    }

    /// The column that shows the key of each row.
    pub(crate) fn row_key_column(&self) -> Option<usize> {
        let count = self.table.arrow_schema().fields().len();
        (self.schema.fields().len() > count).then_some(count)
    }

    /// The table with the keys of its rows; `only` restricts it to some.
    pub fn target(table: Arc<RowTable>, only: Option<RowKeys>) -> Self {
        Self {
            schema: with_row_key(table.arrow_schema()),
            table,
            only,
            profile: OnceLock::new(),
            known_look_ups: Arc::default(),
        }
    }
}

#[async_trait]
impl TableProvider for RowTableProvider {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn statistics(&self) -> Option<Statistics> {
        Some(self.profile().to_statistics(&self.schema))
    }

    /// Filters narrow a scan, and are evaluated above it.
    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let reader = FilterReader::with_defaults(&self.table)?;
        let support = |filter: &&Expr| {
            if reader.is_useful(filter) {
                TableProviderFilterPushDown::Inexact
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
        let access = match &self.only {
            Some(keys) => RowAccess {
                source: ScanRowSource::Keys(Arc::clone(keys)),
                rows: keys.len() as u64,
            },
            None => {
                let options = Arc::clone(state.config().options());
                let costs = PlannerCosts::of(&options).model;
                let reader = FilterReader::new(&self.table, options)?;
                reader.access(filters, &costs)?
            }
        };
        let all = || (0..self.schema.fields().len()).collect();
        let projection: Vec<usize> = projection.cloned().unwrap_or_else(all);
        let target = state.config().target_partitions();
        let source = RowScanSource::new(Arc::clone(&self.table), &self.schema, projection, access)?
            .with_limit(limit.filter(|_| filters.is_empty()))
            .counted_by(state.config().get_extension())
            .spread_over(target)
            .map_err(external)?;
        Ok(DataSourceExec::from_data_source(source))
    }
}
