//! The way to the rows that filters leave: the primary key, an index, or all rows.
//!
//! Both executors choose their access path by the same conditions and prices ([`quire_exec::access`]). `IN`, `OR` and `LIKE` with a
//! prefix become ranges of a key.

use std::sync::{Arc, LazyLock};

use datafusion::common::config::ConfigOptions;
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr_rewriter::unnormalize_col;
use quire_error::Error;
use quire_exec::access::{choose, is_of_columns};
use quire_exec::costs::CostModel;
use quire_exec::plan::{Environment, Expression};
use quire_exec::tuple::{ScanCost, scan_cost};
use quire_tables::{RowScanError, RowTable, ScanRowSource};

use crate::expression::{ExpressionTranslator, Slots};

/// How to find rows, and how many are expected.
#[derive(Debug, Clone)]
pub(super) struct RowAccess {
    pub(super) source: ScanRowSource,
    pub(super) rows: u64,
}

/// For the question whether a filter is useful, which no setting of a session decides. They take long to make.
static DEFAULT_OPTIONS: LazyLock<Arc<ConfigOptions>> = LazyLock::new(Arc::default);

/// Translates the filters of a table to expressions of the row executor.
pub(super) struct FilterReader<'t> {
    table: &'t RowTable,
    schema: DFSchema,
    options: Arc<ConfigOptions>,
}

impl<'t> FilterReader<'t> {
    /// For filters that are only asked whether they are useful.
    pub(super) fn with_defaults(table: &'t RowTable) -> Result<Self> {
        Self::new(table, Arc::clone(&DEFAULT_OPTIONS))
    }

    pub(super) fn new(table: &'t RowTable, options: Arc<ConfigOptions>) -> Result<Self> {
        Ok(Self {
            table,
            schema: DFSchema::try_from(table.arrow_schema().as_ref().clone())?,
            options,
        })
    }

    /// A filter over the columns of the table's Arrow schema; `None` if the row executor has no expression for it.
    fn condition(&self, filter: &Expr) -> Option<Expression> {
        let mut translator = ExpressionTranslator {
            schema: &self.schema,
            slots: &mut Slots::All,
            options: &self.options,
            columns: None,
            aggregates: None,
            beyond: None,
        };
        translator.node(&unnormalize_col(filter.clone()))
    }

    /// Whether a scan can use the filter to read less.
    pub(super) fn is_useful(&self, filter: &Expr) -> bool {
        let ordinals = self.table.layout().live_ordinals();
        let condition = self.condition(filter);
        condition.is_some_and(|condition| is_of_columns(self.table, ordinals, &condition))
    }

    /// Those filters that the row executor has expressions for.
    fn conditions(&self, filters: &[Expr]) -> Vec<Expression> {
        let filters = filters.iter();
        filters
            .filter_map(|filter| self.condition(filter))
            .collect()
    }

    /// What the tuple engine takes to read the rows that pass all filters, about so many, and to decode these columns of them.
    pub(super) fn scan_cost(
        &self,
        filters: &[Expr],
        (rows, ordinals): (f64, &[usize]),
        costs: &CostModel,
    ) -> Result<ScanCost> {
        let conditions = self.conditions(filters);
        let conditions: Vec<&Expression> = conditions.iter().collect();
        scan_cost(self.table, &conditions, (rows, ordinals), costs).map_err(external)
    }

    /// The cheapest way to the rows that pass all filters.
    pub(super) fn access(&self, filters: &[Expr], costs: &CostModel) -> Result<RowAccess> {
        let conditions = self.conditions(filters);
        let conditions: Vec<&Expression> = conditions.iter().collect();
        let ordinals = self.table.layout().live_ordinals();
        // Without parameters: values of parameters are literals when a scan is planned.
        let environment = Environment::new(&[]);
        let choice = choose(self.table, ordinals, &conditions, &environment, costs);
        let choice = choice.map_err(external)?;
        Ok(RowAccess {
            source: choice.source(),
            rows: choice.row_estimate(),
        })
    }
}

pub(super) fn external(error: RowScanError) -> DataFusionError {
    DataFusionError::External(Box::new(Error::from(error)))
}
