//! Planners without tables, each made once for all statements under the same settings.
//!
//! A planner knows hundreds of functions and rules. To register them takes longer than to plan a small statement, so a statement
//! starts from a copy of a planner that knows them, which shares them with it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::execution::FunctionRegistry;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::prelude::SessionConfig;
use quire_error::Error;
use quire_sql::types::SpelledTypes;

use quire_planner::optimize;
use quire_planner::optimize::Holding;

/// Planners that are kept. Most databases need one; whoever tries many settings makes new ones.
const KEPT: usize = 16;

/// The planners of a database, by what tells the settings of the planner apart.
#[derive(Default)]
pub(crate) struct Planners {
    known: Mutex<HashMap<u64, Arc<SessionState>>>,
}

impl Planners {
    /// A planner of its own for one statement: without tables, and without what the statement's connection and snapshot add.
    pub(crate) fn planner(
        &self,
        fingerprint: u64,
        config: SessionConfig,
        environment: &Arc<RuntimeEnv>,
    ) -> Result<SessionState, Error> {
        let known = self.known(fingerprint, &config, environment)?;
        let mut planner = known.as_ref().clone();
        *planner.config_mut() = config;
        // Aliases that the planner makes are counted anew in each statement.
        *planner.execution_props_mut() = ExecutionProps::new();
        Ok(planner)
    }

    fn known(
        &self,
        fingerprint: u64,
        config: &SessionConfig,
        environment: &Arc<RuntimeEnv>,
    ) -> Result<Arc<SessionState>, Error> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(planner) = known.get(&fingerprint) {
            return Ok(Arc::clone(planner));
        }
        if known.len() >= KEPT {
            known.clear();
        }
        let planner = Arc::new(new_planner(config.clone(), environment)?);
        known.insert(fingerprint, Arc::clone(&planner));
        Ok(planner)
    }
}

/// A planner with DataFusion's functions and ours, as far as they do not depend on a connection.
fn new_planner(
    config: SessionConfig,
    environment: &Arc<RuntimeEnv>,
) -> Result<SessionState, Error> {
    let mut planner = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(Arc::clone(environment))
        .with_default_features()
        .with_analyzer_rules(optimize::analyzer_rules())
        .with_optimizer_rules(optimize::optimizer_rules())
        .with_physical_optimizer_rules(optimize::physical_rules(Holding::of(environment)))
        .with_query_planner(Arc::new(optimize::UniqueNamesPlanner))
        .with_type_planner(Arc::new(SpelledTypes))
        .build();
    planner.register_expr_planner(Arc::new(optimize::TimePlanner))?;
    quire_functions::register_pure(&mut planner)?;
    Ok(planner)
}
