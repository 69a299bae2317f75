//! The functions that expressions may call, for the planner's code that reads them.

use std::sync::{Arc, LazyLock};

use datafusion::arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::{Result, TableReference, plan_err};
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::planner::{ContextProvider, ExprPlanner, TypePlanner};
use datafusion::logical_expr::{AggregateUDF, HigherOrderUDF, ScalarUDF, TableSource, WindowUDF};
use quire_sql::types::SpelledTypes;

use crate::options::DatabaseOptions;
use crate::settings::{ConnectionSettings, DatabaseSettings};

/// All functions of the general path, put together once.
static REGISTRY: LazyLock<Option<SessionState>> = LazyLock::new(|| {
    let settings =
        ConnectionSettings::new(&DatabaseOptions::default(), DatabaseSettings::default());
    let mut state = SessionStateBuilder::new()
        .with_config(settings.config().clone())
        .with_default_features()
        .build();
    quire_functions::register_pure(&mut state).ok()?;
    Some(state)
});

static TYPES: LazyLock<Arc<dyn TypePlanner>> = LazyLock::new(|| Arc::new(SpelledTypes));

/// A planner's context without tables.
pub(super) struct FunctionsOnly<'a> {
    options: &'a ConfigOptions,
    registry: Option<&'static SessionState>,
}

impl<'a> FunctionsOnly<'a> {
    pub(super) fn new(options: &'a ConfigOptions) -> Self {
        Self {
            options,
            registry: REGISTRY.as_ref(),
        }
    }
}

impl ContextProvider for FunctionsOnly<'_> {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        plan_err!("table '{name}' not found")
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        self.registry
            .map_or(&[], |registry| registry.expr_planners())
    }

    fn get_type_planner(&self) -> Option<Arc<dyn TypePlanner>> {
        Some(Arc::clone(&TYPES))
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.registry?.scalar_functions().get(name).cloned()
    }

    fn get_higher_order_meta(&self, _: &str) -> Option<Arc<HigherOrderUDF>> {
        None
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.registry?.aggregate_functions().get(name).cloned()
    }

    fn get_window_meta(&self, _: &str) -> Option<Arc<WindowUDF>> {
        None
    }

    fn get_variable_type(&self, _: &[String]) -> Option<DataType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        self.options
    }

    fn udf_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn udaf_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn udwf_names(&self) -> Vec<String> {
        Vec::new()
    }
}
