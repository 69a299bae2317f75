//! The planner of one statement.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::{DFSchema, DataFusionError};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::sql::parser::Statement as PlannedStatement;
use datafusion::sql::sqlparser::ast::{Expr as SqlExpr, ExprWithAlias, Statement};
use futures::FutureExt;
use futures::future::BoxFuture;
use quire_error::cancel::CancelToken;
use quire_error::interruption::Interruption;
use quire_error::{Error, closest};
use quire_functions::{
    CostsFunction, EngineFunction, FileFunction, PlannerCosts, PoolFunction, ScansFunction,
    StorageFunction, TablesFunction,
};
use quire_kv::progress::StatementWork;
use quire_planner::optimize;
use quire_planner::optimize::Holding;
use quire_planner::scan::{ExternalTableProvider, announce};
use quire_sql::rewrite::rewrite_expression;
use quire_sql::{expression_names, outer_aggregates, rows_in_subqueries};
use quire_tables::Snapshot;

use super::catalog::catalog_list;
use super::second_try;
use crate::memory::with_many_sorts;
use crate::pg_catalog::{self, PgCatalog, WaitsFunction};
use crate::session::Session;

impl Session {
    /// The external table of a name that is none of the file's.
    pub(crate) fn external_table(
        &self,
        snapshot: &Snapshot,
        name: &str,
    ) -> Result<Option<Arc<dyn TableProvider>>, Error> {
        if snapshot.has_name(name) || PgCatalog::has_table(name) {
            return Ok(None);
        }
        let Some(find) = self.external_tables() else {
            return Ok(None);
        };
        let Some(table) = tokio::task::block_in_place(|| find(name))? else {
            return Ok(None);
        };
        Ok(Some(Arc::new(ExternalTableProvider::new(name, table)?)))
    }

    /// The planner for one statement that sees `snapshot` and, as tables, `files`.
    pub(crate) fn statement(
        &self,
        snapshot: Snapshot,
        files: HashMap<String, Arc<dyn TableProvider>>,
    ) -> Result<StatementContext, Error> {
        self.statement_asking(snapshot, files, None, &CancelToken::default())
    }

    /// The same for one that may ask PostgreSQL's catalog.
    pub(crate) fn statement_asking(
        &self,
        snapshot: Snapshot,
        files: HashMap<String, Arc<dyn TableProvider>>,
        catalog: Option<&Arc<PgCatalog>>,
        token: &CancelToken,
    ) -> Result<StatementContext, Error> {
        let (mut config, costs, fingerprint) = {
            let settings = self.settings();
            let costs = PlannerCosts {
                model: *settings.costs(),
                memory_bytes: self.database.statements_memory_bytes(),
            };
            let config = settings.config().clone();
            (config, costs, settings.options_fingerprint())
        };
        let extensions = &mut config.options_mut().extensions;
        extensions.insert(Interruption::new(token));
        extensions.insert(costs);
        let options = self.planner_options();
        let database = &self.database;
        let planners = &database.planners;
        let mut state = planners.planner(fingerprint, config, &database.environment)?;
        let catalogs = catalog_list(snapshot.clone(), files, options, catalog)?;
        state.register_catalog_list(catalogs);
        let clock = self.statement_clock();
        quire_functions::register(&mut state, &snapshot, &self.sequence_values, clock)?;
        state.register_udtf("quire_storage", Arc::new(StorageFunction(snapshot.clone())));
        state.register_udtf("quire_pool", Arc::new(PoolFunction(snapshot.clone())));
        let waits = WaitsFunction {
            database: Arc::clone(&self.database),
            snapshot: snapshot.clone(),
        };
        state.register_udtf("quire_waits", Arc::new(waits));
        let file = FileFunction(self.database.engine.clone());
        state.register_udtf("quire_file", Arc::new(file));
        state.register_udtf("quire_costs", Arc::new(CostsFunction(costs.model)));
        let (asked, left) = self.database.tuple_counts.asked_and_left();
        state.register_udtf("quire_engine", Arc::new(EngineFunction { asked, left }));
        state.register_udtf("quire_scans", Arc::new(ScansFunction(snapshot.clone())));
        state.register_udtf("quire_tables", Arc::new(TablesFunction(snapshot.clone())));
        if let Some(catalog) = catalog {
            pg_catalog::register(&mut state, catalog)?;
        }
        state.mark_start_execution();
        Ok(StatementContext { state, snapshot })
    }
}

/// The SQLSTATE of a statement that finds no memory.
const OUT_OF_MEMORY: &str = "53200";

/// A planner, and the tables it knows.
pub(crate) struct StatementContext {
    pub(crate) state: SessionState,
    pub(crate) snapshot: Snapshot,
}

impl StatementContext {
    /// The logical plan of a statement, types settled but not optimized.
    pub(crate) async fn plan(&self, mut statement: Statement) -> Result<LogicalPlan, Error> {
        let has_outer_aggregates = outer_aggregates::mark(&mut statement);
        let has_own_names = expression_names::mark(&mut statement);
        let has_members = rows_in_subqueries::has_members(&statement);
        let statement = PlannedStatement::Statement(Box::new(statement));
        let plan = self.state.statement_to_plan(statement).await;
        let plan = plan.and_then(|plan| {
            if has_own_names {
                optimize::without_own_names(plan)
            } else {
                Ok(plan)
            }
        });
        let plan = plan.and_then(|plan| {
            if has_members {
                optimize::read_groups(plan, rows_in_subqueries::MEMBERS)
            } else {
                Ok(plan)
            }
        });
        let plan = plan.and_then(|plan| {
            if has_outer_aggregates {
                optimize::hoist_outer_aggregates(plan)
            } else {
                Ok(plan)
            }
        });
        let plan = plan.and_then(|plan| {
            optimize::check_grouped_columns(&plan, rows_in_subqueries::MEMBERS)?;
            Ok(plan)
        });
        plan.map_err(|error| self.explain(error.into()))
    }

    /// The logical form of an expression over columns of `schema`.
    pub(crate) fn expression(&self, expr: &SqlExpr, schema: &DFSchema) -> Result<Expr, Error> {
        let mut expr = expr.clone();
        rewrite_expression(&mut expr);
        let expr = ExprWithAlias { expr, alias: None };
        Ok(self.state.create_logical_expr_from_sql_expr(expr, schema)?)
    }

    /// Makes the plan's rows come in the order of their tables.
    pub(crate) fn use_one_partition(&mut self) {
        self.state
            .config_mut()
            .options_mut()
            .execution
            .target_partitions = 1;
    }

    /// The plan by the optimizer's rules.
    pub(crate) fn optimized(&self, plan: &LogicalPlan) -> Result<LogicalPlan, Error> {
        let _planning = Interruption::begin_planning(self.state.config().options());
        Ok(self.state.optimize(plan)?)
    }

    /// The plan of batches.
    pub(crate) async fn physical(
        &self,
        plan: &LogicalPlan,
    ) -> Result<Arc<dyn ExecutionPlan>, Error> {
        let _planning = Interruption::begin_planning(self.state.config().options());
        Ok(self.state.create_physical_plan(plan).await?)
    }

    /// Starts running a plan that has been optimized.
    pub(crate) async fn start_optimized(
        &self,
        plan: &LogicalPlan,
    ) -> Result<SendableRecordBatchStream, Error> {
        let physical = physical_plan(&self.state, plan).await?;
        if let Some(work) = self.state.config().get_extension::<StatementWork>() {
            announce(&physical, &work);
        }
        let may_not_fit = may_not_fit(&physical)?;
        let stream = stream_of(physical, &self.state)?;
        if !may_not_fit {
            return Ok(stream);
        }
        let [next, last] = NEXT_TRIES;
        let next = next_try(self.state.clone(), plan.clone(), next, Some(last));
        Ok(second_try::or_else(stream, next))
    }

    /// Runs the physical plan of an optimized one to its end, and drops its rows. The plan that ran in the end is returned, whose operators have
    /// counted what they did.
    pub(crate) async fn run_counted(
        &self,
        first: Arc<dyn ExecutionPlan>,
        plan: &LogicalPlan,
        token: &CancelToken,
    ) -> Result<Arc<dyn ExecutionPlan>, Error> {
        let may_not_fit = may_not_fit(&first)?;
        let mut ended = run_to_end(first, &self.state, token).await;
        for holding in NEXT_TRIES {
            match ended {
                Err(error) if may_not_fit && error.sqlstate() == OUT_OF_MEMORY => {
                    let state = spilling_state(self.state.clone(), holding)?;
                    let again = physical_plan(&state, plan).await?;
                    ended = run_to_end(again, &state, token).await;
                }
                ended => return ended,
            }
        }
        ended
    }

    /// The plan of batches for a plan that has been optimized.
    pub(crate) async fn planned_physical(
        &self,
        plan: &LogicalPlan,
    ) -> Result<Arc<dyn ExecutionPlan>, Error> {
        Ok(physical_plan(&self.state, plan).await?)
    }

    /// Starts running a plan; its rows are drawn from the stream.
    pub(crate) async fn start(
        &self,
        plan: &LogicalPlan,
    ) -> Result<SendableRecordBatchStream, Error> {
        self.start_optimized(&self.optimized(plan)?).await
    }

    /// Has the work of its plans counted.
    pub(crate) fn count_work(&mut self, work: &Arc<StatementWork>) {
        self.state.config_mut().set_extension(Arc::clone(work));
    }

    /// Adds to an error about a table the name that may have been meant.
    fn explain(&self, error: Error) -> Error {
        if error.sqlstate() != "42P01" || error.hint().is_some() {
            return error;
        }
        let Some(name) = error.message().split('"').nth(1).map(str::to_owned) else {
            return error;
        };
        match self.suggestion(&name) {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }

    /// What to try instead of a table that does not exist.
    pub(crate) fn suggestion(&self, name: &str) -> Option<String> {
        let definitions = self.snapshot.definitions();
        let names = definitions
            .iter()
            .map(|definition| definition.name.as_str());
        match closest(name, names) {
            Some(similar) => Some(format!("Perhaps you meant \"{similar}\".")),
            None if std::path::Path::new(name).exists() => Some(format!(
                "To read the file, quote its name as text: FROM '{name}'."
            )),
            None => None,
        }
    }
}

/// Whether a plan holds rows without a way to spill them.
fn may_not_fit(physical: &Arc<dyn ExecutionPlan>) -> Result<bool, DataFusionError> {
    Ok(optimize::has_hash_joins(physical)? || optimize::has_staged_sets(physical)?)
}

/// How many rows a plan may hold, by the memory of its environment.
type TryHolding = fn(&RuntimeEnv) -> Holding;

/// The tries after one that has found no memory.
const NEXT_TRIES: [TryHolding; 2] = [Holding::parts_of, |_| Holding::Nothing];

/// The stream of a plan once it is started.
type StartedPlan = BoxFuture<'static, Result<SendableRecordBatchStream, DataFusionError>>;

/// Starts running an optimized plan that holds so many rows; `later` follows where it finds no memory.
fn next_try(
    state: SessionState,
    plan: LogicalPlan,
    holding: TryHolding,
    later: Option<TryHolding>,
) -> StartedPlan {
    let run = async move {
        // What the later try needs is copied by those statements only that come so far.
        let later = later.map(|later| next_try(state.clone(), plan.clone(), later, None));
        let spilling = spilling_state(state, holding)?;
        let physical = physical_plan(&spilling, &plan).await?;
        let stream = stream_of(physical, &spilling)?;
        Ok(match later {
            Some(later) => second_try::or_else(stream, later),
            None => stream,
        })
    };
    run.boxed()
}

/// A planner whose plans hold no more rows in memory than they have to.
fn spilling_state(
    state: SessionState,
    holding: TryHolding,
) -> Result<SessionState, DataFusionError> {
    let rules = optimize::physical_rules(holding(state.runtime_env()));
    let state = with_many_sorts(state)?.with_physical_optimizer_rules(rules);
    Ok(state.build())
}

/// Runs a plan to its end and drops its rows.
async fn run_to_end(
    physical: Arc<dyn ExecutionPlan>,
    state: &SessionState,
    token: &CancelToken,
) -> Result<Arc<dyn ExecutionPlan>, Error> {
    let physical = optimize::yielding_joins(physical, state.config().options())?;
    let mut stream = execute_stream(Arc::clone(&physical), state.task_ctx())?;
    while next_of(&mut stream, token).await?.is_some() {}
    Ok(physical)
}

/// The rows of a plan, which stops in time when its statement is cancelled.
fn stream_of(
    physical: Arc<dyn ExecutionPlan>,
    state: &SessionState,
) -> Result<SendableRecordBatchStream, DataFusionError> {
    let physical = optimize::yielding_joins(physical, state.config().options())?;
    execute_stream(physical, state.task_ctx())
}

/// The plan of batches for an optimized plan.
async fn physical_plan(
    state: &SessionState,
    plan: &LogicalPlan,
) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
    let _planning = Interruption::begin_planning(state.config().options());
    let planner = state.query_planner();
    planner.create_physical_plan(plan, state).await
}

/// Draws the batches of `stream` until its end, an error, or the statement's cancellation.
pub(crate) async fn next_of(
    stream: &mut SendableRecordBatchStream,
    token: &CancelToken,
) -> Result<Option<datafusion::arrow::array::RecordBatch>, Error> {
    use futures::StreamExt;
    tokio::select! {
        biased;
        () = token.cancelled() => Err(Error::cancelled()),
        next = stream.next() => Ok(next.transpose()?),
    }
}
