//! A connection's state, and the planner set up for one statement.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use datafusion::catalog::TableProvider;
use datafusion::common::{DFSchema, DataFusionError};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::sql::parser::Statement as PlannedStatement;
use datafusion::sql::sqlparser::ast::{Expr as SqlExpr, ExprWithAlias, Query, Statement};
use quire_error::activity::micros_of;
use quire_error::cancel::CancelToken;
use quire_error::interruption::Interruption;
use quire_error::{Error, closest};
use quire_exec::plan::Environment;
use quire_functions::{
    CostsFunction, EngineFunction, FileFunction, PoolFunction, SequenceValues, StatementClock,
    StorageFunction, TablesFunction, micros_now, zone_of,
};
use quire_kv::{mvcc::Isolation, mvcc::TransactionOptions, progress::Work};
use quire_planner::external::ExternalTables;
use quire_planner::optimize;
use quire_planner::optimize::Holding;
use quire_planner::scan::{ExternalTableProvider, announce};
use quire_sql::rewrite::rewrite_expression;
use quire_sql::{expression_names, outer_aggregates, rows_in_subqueries};
use quire_tables::Snapshot;
use quire_tables::row_table::Value;
use quire_text::temporal::Zone;

use super::catalog::catalog_list;
use super::configuration::Settings;
use super::second_try;
use crate::database::Opened;
use crate::pg_catalog::{self, PgCatalog, WaitsFunction};
use crate::sql::relations_of;
use crate::transaction::{SpareTransaction, Transaction};

/// One connection.
pub(crate) struct Session {
    /// Above the database, which is to go last.
    pub(crate) spare: SpareTransaction,
    pub(crate) database: Arc<Opened>,
    settings: Arc<Mutex<Settings>>,
    /// Settings as they were and will be, once the open transaction has changed some.
    changed_settings: Mutex<Option<ChangedSettings>>,
    /// What `RESET` goes back to.
    defaults: Mutex<Settings>,
    external_tables: Mutex<Option<ExternalTables>>,
    pub(crate) sequence_values: Arc<SequenceValues>,
    /// Its place among the connections of the database.
    pub(crate) number: u32,
    /// When `BEGIN` was said, in microseconds since 1970; 0 outside of a transaction.
    transaction_start: AtomicU64,
    /// Held while a statement changes tables; statements of a connection follow one another.
    pub(crate) transaction: tokio::sync::Mutex<Transaction>,
}

/// Settings around a transaction that has changed some.
#[derive(Clone)]
struct ChangedSettings {
    before: Settings,
    /// Without what is local to the transaction.
    after: Settings,
}

/// What a savepoint keeps of them.
#[derive(Clone)]
pub(crate) struct SettingsThen {
    now: Settings,
    changed: Option<ChangedSettings>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    pub(crate) fn new(database: Arc<Opened>, number: u32) -> Self {
        let settings = Settings::new(&database.options);
        Self {
            spare: SpareTransaction::default(),
            database,
            defaults: Mutex::new(settings.clone()),
            settings: Arc::new(Mutex::new(settings)),
            changed_settings: Mutex::new(None),
            external_tables: Mutex::new(None),
            sequence_values: Arc::default(),
            number,
            transaction_start: AtomicU64::new(0),
            transaction: tokio::sync::Mutex::new(Transaction::Idle),
        }
    }

    /// A transaction of several statements has begun, if none was open.
    pub(crate) fn note_transaction_start(&self) {
        let now = micros_of(SystemTime::now());
        // Another `BEGIN` within it changes nothing.
        let _ =
            self.transaction_start
                .compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// When the transaction of several statements began, if there is one, in microseconds since 1970.
    pub(crate) fn transaction_start(&self) -> Option<u64> {
        let start = self.transaction_start.load(Ordering::Relaxed);
        (start != 0).then_some(start)
    }

    pub(crate) fn settings(&self) -> MutexGuard<'_, Settings> {
        locked(&self.settings)
    }

    /// How a transaction runs that begins now.
    pub(crate) fn transaction_options(&self, isolation: Isolation) -> TransactionOptions {
        TransactionOptions {
            session: self.number,
            ..self.settings().transaction_options(isolation)
        }
    }

    /// Makes the settings as they are what `RESET` goes back to.
    pub(crate) fn keep_settings(&self) {
        let settings = self.settings().clone();
        *locked(&self.defaults) = settings;
    }

    /// `RESET name`, or of all settings.
    pub(crate) fn reset(&self, name: Option<&str>) -> Result<(), Error> {
        let defaults = locked(&self.defaults).clone();
        match name {
            None => self.change_settings(false, |settings| {
                *settings = defaults.clone();
                Ok(())
            }),
            Some(name) => self.set(name, &defaults.show(name)?, false),
        }
    }

    /// `SET name = value`; a local change lasts as long as the transaction.
    pub(crate) fn set(&self, name: &str, value: &str, is_local: bool) -> Result<(), Error> {
        self.change_settings(is_local, |settings| settings.set(name, value))
    }

    /// Changes settings, so that the end of an open transaction can take it back.
    fn change_settings(
        &self,
        is_local: bool,
        change: impl Fn(&mut Settings) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.transaction_start().is_none() {
            // Without a transaction a local change lasts for nothing.
            let mut settings = self.settings().clone();
            change(&mut settings)?;
            if !is_local {
                *self.settings() = settings;
            }
            return Ok(());
        }
        let before = self.settings().clone();
        change(&mut self.settings())?;
        let mut changed = locked(&self.changed_settings);
        let changed = changed.get_or_insert_with(|| ChangedSettings {
            before: before.clone(),
            after: before,
        });
        if is_local {
            Ok(())
        } else {
            change(&mut changed.after)
        }
    }

    /// The settings as a savepoint finds them.
    pub(crate) fn settings_then(&self) -> SettingsThen {
        SettingsThen {
            now: self.settings().clone(),
            changed: locked(&self.changed_settings).clone(),
        }
    }

    /// Takes back what has been set since a savepoint.
    pub(crate) fn restore_settings(&self, then: SettingsThen) {
        *self.settings() = then.now;
        *locked(&self.changed_settings) = then.changed;
    }

    /// The transaction of several statements has ended; its settings are kept or taken back.
    pub(crate) fn note_transaction_end(&self, is_kept: bool) {
        self.transaction_start.store(0, Ordering::Relaxed);
        if let Some(changed) = locked(&self.changed_settings).take() {
            *self.settings() = if is_kept {
                changed.after
            } else {
                changed.before
            };
        }
    }

    /// What a statement's execution sees beside rows.
    pub(crate) fn environment<'a>(&self, parameters: &'a [Value]) -> Environment<'a> {
        match self.transaction_start() {
            None => Environment::new(parameters),
            Some(start) => Environment::at(parameters, start.cast_signed()),
        }
    }

    /// Where the session is.
    pub(crate) fn zone(&self) -> Zone {
        zone_of(self.settings().config().options())
    }

    fn statement_clock(&self) -> StatementClock {
        let statement = micros_now();
        StatementClock {
            transaction: self.transaction_start().map_or(statement, u64::cast_signed),
            statement,
        }
    }

    /// The settings, to be kept by what changes them while a statement runs.
    pub(crate) fn shared_settings(&self) -> Arc<Mutex<Settings>> {
        Arc::clone(&self.settings)
    }

    pub(crate) fn set_external_tables(&self, tables: Option<ExternalTables>) {
        *locked(&self.external_tables) = tables;
    }

    pub(crate) fn has_external_tables(&self) -> bool {
        locked(&self.external_tables).is_some()
    }

    /// The external table of a name that is none of the file's.
    pub(crate) fn external_table(
        &self,
        snapshot: &Snapshot,
        name: &str,
    ) -> Result<Option<Arc<dyn TableProvider>>, Error> {
        if snapshot.has_name(name) || PgCatalog::has_table(name) {
            return Ok(None);
        }
        let Some(find) = locked(&self.external_tables).clone() else {
            return Ok(None);
        };
        let Some(table) = tokio::task::block_in_place(|| find(name))? else {
            return Ok(None);
        };
        Ok(Some(Arc::new(ExternalTableProvider::new(name, table)?)))
    }

    /// The tables this connection sees now: the newest committed ones, or those of its open
    /// transaction.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, Error> {
        let mut transaction = self.transaction.lock().await;
        tokio::task::block_in_place(|| transaction.snapshot(self))
    }

    /// What a query sees. Row tables that it names are locked, so that they stay as they are until an explicit transaction
    /// ends; a statement by itself needs no locks, for what it sees is kept while it runs.
    pub(crate) async fn snapshot_for(
        &self,
        query: &Query,
        token: &CancelToken,
    ) -> Result<Snapshot, Error> {
        let snapshot = self.snapshot().await?;
        let mut transaction = self.transaction.lock().await;
        if !transaction.is_explicit() {
            return Ok(snapshot);
        }
        let names = relations_of(query);
        let ids = names
            .iter()
            .filter_map(|name| snapshot.row_table_entry(name));
        let ids: Vec<u64> = ids.map(|entry| entry.id).collect();
        tokio::task::block_in_place(|| transaction.lock_for_reading(self, &ids, token))?;
        transaction.snapshot_again()
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
        let (config, costs, fingerprint) = {
            let settings = self.settings();
            let costs = Arc::new(*settings.costs());
            let config = settings.config().clone();
            (config, costs, settings.planner_fingerprint())
        };
        let mut config = config.with_extension(Arc::clone(&costs));
        let extensions = &mut config.options_mut().extensions;
        extensions.insert(Interruption::new(token));
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
        state.register_udtf("quire_costs", Arc::new(CostsFunction(*costs)));
        let (asked, left) = self.database.tuple_counts.asked_and_left();
        state.register_udtf("quire_engine", Arc::new(EngineFunction { asked, left }));
        state.register_udtf("quire_tables", Arc::new(TablesFunction(snapshot.clone())));
        if let Some(catalog) = catalog {
            pg_catalog::register(&mut state, catalog)?;
        }
        state.mark_start_execution();
        Ok(StatementContext { state, snapshot })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.database.sessions.remove(self.number);
    }
}

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
            if has_outer_aggregates {
                optimize::hoist_outer_aggregates(plan)
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
        if let Some(work) = self.state.config().get_extension::<Work>() {
            announce(&physical, &work);
        }
        let may_not_fit = optimize::has_hash_joins(&physical)?;
        let stream = stream_of(physical, &self.state)?;
        if !may_not_fit {
            return Ok(stream);
        }
        let (state, plan) = (self.state.clone(), plan.clone());
        Ok(second_try::or_else(stream, spilling(state, plan)))
    }

    /// Starts running a plan; its rows are drawn from the stream.
    pub(crate) async fn start(
        &self,
        plan: &LogicalPlan,
    ) -> Result<SendableRecordBatchStream, Error> {
        self.start_optimized(&self.optimized(plan)?).await
    }

    /// Has the work of its plans counted.
    pub(crate) fn count_work(&mut self, work: &Arc<Work>) {
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

/// Starts running an optimized plan that holds no more rows in memory than it has to.
async fn spilling(
    state: SessionState,
    plan: LogicalPlan,
) -> Result<SendableRecordBatchStream, DataFusionError> {
    let state = SessionStateBuilder::new_from_existing(state)
        .with_physical_optimizer_rules(optimize::physical_rules(Holding::Nothing))
        .build();
    let physical = physical_plan(&state, &plan).await?;
    stream_of(physical, &state)
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
