//! Queries by the tuple engine: with `SET engine = 'tuple'` all that it can run, and with `auto` those of row tables that are expected to cost less than by
//! batches.
//!
//! A query that has no counterpart in the algebra, reads what is no row table, or needs what its iterators do not do, is left to the general path and
//! counted ([`crate::tuple_counts`]).

mod change;
mod explain;
mod tables;

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::logical_expr::LogicalPlan;
use quire_exec::avm::{Cancellation, ProgramCompiler};
use quire_exec::plan::{PlanColumn, PlanQuery};
use quire_exec::tuple::{LowerError, QueryCosts, QueryOptions, TupleQuery, TupleQueryError};
use quire_tables::Snapshot;
use tokio::sync::mpsc;

use super::planned_query::PlannedQuery;
use super::row_stream;
use crate::native;
use crate::opened::of_panic;
use crate::outcome::{Outcome, Rows};
use crate::planning::StatementContext;
use crate::result_rows::ResultRows;
use crate::session::Session;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_functions::ExecutorChoice;
use quire_planner::plan::translate;

pub(super) use change::{TupleChange, WantedRows};
pub(super) use explain::{algebra, analysis, decision, explanation};
pub(super) use tables::RowTables;

/// Rows of a batch, and rows between two looks at the token.
const BATCH_ROWS: usize = 1024;

/// Batches that wait for a slow reader of the rows.
const QUEUED_BATCHES: usize = 2;

/// What became of a query that the tuple engine might run.
pub(super) enum Tried {
    /// It runs it, by this plan.
    Started(Outcome, Box<LogicalPlan>),
    /// Batches are to run it, by this plan.
    Optimized(Box<LogicalPlan>),
    Left,
}

/// Lets the tuple engine run a query, if it can and, where that is asked, costs less than batches. `known` is its optimized plan, if one was kept.
pub(super) async fn try_run(
    session: &Arc<Session>,
    snapshot: &Snapshot,
    planned: &PlannedQuery,
    known: Option<LogicalPlan>,
    executor: ExecutorChoice,
    token: &CancelToken,
) -> Result<Tried, Error> {
    let tables = RowTables::of(snapshot);
    let is_asked = match executor {
        ExecutorChoice::Batches => false,
        ExecutorChoice::Tuples => true,
        ExecutorChoice::Cheaper => tables.are_all_of(&planned.plan)?,
    };
    if !is_asked {
        return Ok(Tried::Left);
    }
    let counts = &session.database.tuple_counts;
    let options = options_of(session, token);
    let optimized = match known {
        Some(optimized) => optimized,
        None => planned.context.optimized(&planned.plan)?,
    };
    let translated = translated_optimized(&planned.context, optimized);
    if executor == ExecutorChoice::Cheaper {
        let is_cheaper = match &translated {
            Ok(translated) => costs_of(&translated.query, &tables, &options)
                .await?
                .is_ok_and(QueryCosts::are_less_by_tuples),
            Err(_) => false,
        };
        if !is_cheaper {
            return Ok(left(translated.ok()));
        }
    }
    let started = match &translated {
        Ok(translated) => started(translated, &tables, options).await?.ok(),
        Err(_) => None,
    };
    counts.count(started.is_none());
    let (translated, mut running) = match (translated, started) {
        (Ok(translated), Some(running)) => (translated, running),
        (translated, _) => return Ok(left(translated.ok())),
    };
    if let Some(compiler) = program_compiler(session) {
        running.running.compile_with(compiler);
    }
    let schema = planned.shown_schema_of(&translated.optimized);
    let rows = rows_of(session, running, None, schema, token)?;
    let outcome = Outcome::Rows(rows);
    Ok(Tried::Started(outcome, Box::new(translated.optimized)))
}

/// What makes machine code of a statement's programs, where the session wants it.
pub(super) fn program_compiler(session: &Session) -> Option<Arc<dyn ProgramCompiler>> {
    let is_wanted = session.planner_options().native_code;
    is_wanted.then(native::program_compiler).flatten()
}

fn left(translated: Option<Translated>) -> Tried {
    translated.map_or(Tried::Left, |it| Tried::Optimized(Box::new(it.optimized)))
}

/// What a query would cost by either executor. Inside, why the tuple engine cannot run it.
pub(super) async fn costs_of(
    query: &PlanQuery,
    tables: &RowTables,
    options: &QueryOptions,
) -> Result<Result<QueryCosts, String>, Error> {
    let (query, tables, options) = (query.clone(), tables.clone(), options.clone());
    let estimate = move || TupleQuery::estimate(&query, &|name| tables.find(name), &[], &options);
    left_or(blocking(estimate).await?)
}

pub(super) fn options_of(session: &Session, token: &CancelToken) -> QueryOptions {
    QueryOptions {
        memory_bytes: session.database.free_memory_bytes(),
        temporary_disks: session.database.temporary_disks.clone(),
        now: session.environment(&[]).now(),
        costs: *session.settings().costs(),
        batch_threads: session.database.options.threads,
        cancellation: Cancellation(Some(token.question())),
        work: Some(Arc::clone(token.work())),
        ..QueryOptions::default()
    }
}

/// A query in the algebra, and the plan that it was made of.
struct Translated {
    query: PlanQuery,
    optimized: LogicalPlan,
}

/// Inside, why it has no counterpart.
fn translated(
    context: &StatementContext,
    plan: &LogicalPlan,
) -> Result<Result<Translated, String>, Error> {
    Ok(translated_optimized(context, context.optimized(plan)?))
}

/// The same of a plan that the optimizer is done with.
fn translated_optimized(
    context: &StatementContext,
    optimized: LogicalPlan,
) -> Result<Translated, String> {
    match translate(&optimized, context.state.config().options()) {
        Ok(query) => Ok(Translated { query, optimized }),
        Err(reason) => Err(format!("not translated: {reason}")),
    }
}

/// The query, with its subqueries for single values evaluated. Inside, why the iterators do not run it.
async fn started(
    translated: &Translated,
    tables: &RowTables,
    options: QueryOptions,
) -> Result<Result<RunningTupleQuery, String>, Error> {
    let (query, tables) = (translated.query.clone(), tables.clone());
    let start = move || {
        let find = |name: &str| tables.find(name);
        let running = TupleQuery::with_options(&query, &find, &[], &options)?;
        let columns = query.plan.columns;
        Ok(RunningTupleQuery { running, columns })
    };
    left_or(blocking(start).await?)
}

async fn blocking<R: Send + 'static>(run: impl FnOnce() -> R + Send + 'static) -> Result<R, Error> {
    let ended = tokio::task::spawn_blocking(run).await;
    ended.map_err(|error| Error::new("XX000", format!("internal error: {error}")))
}

/// What was built; inside, why nothing was, if another engine does it.
pub(super) fn left_or<R>(built: Result<R, TupleQueryError>) -> Result<Result<R, String>, Error> {
    match built {
        Ok(built) => Ok(Ok(built)),
        Err(TupleQueryError::Build(
            error @ (LowerError::Compile(_) | LowerError::Table(_) | LowerError::Unsupported(_)),
        )) => Ok(Err(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

pub(super) struct RunningTupleQuery {
    pub(super) running: TupleQuery,
    pub(super) columns: Vec<PlanColumn>,
}

impl RunningTupleQuery {
    /// The next rows; none behind the last.
    fn next_batch(
        &mut self,
        schema: &SchemaRef,
        token: &CancelToken,
    ) -> Result<Option<RecordBatch>, Error> {
        let mut rows = ResultRows::default();
        self.fill(&mut rows, token)?;
        match rows.row_count {
            0 => Ok(None),
            _ => rows.to_batch(schema, 0).map(Some),
        }
    }

    /// Adds the next rows, until there are as many as a batch has. Whether there may be more.
    pub(super) fn fill(
        &mut self,
        rows: &mut ResultRows,
        token: &CancelToken,
    ) -> Result<bool, Error> {
        if token.is_cancelled() {
            return Err(Error::cancelled());
        }
        while rows.row_count < BATCH_ROWS {
            if !self.running.next_row()? {
                return Ok(false);
            }
            for (slot, column) in self.columns.iter().enumerate() {
                rows.push(self.running.value(slot), column.is_text())?;
            }
            rows.row_count += 1;
        }
        Ok(true)
    }
}

/// The rows of a query, behind those of a first batch, which is there. They are made in the background.
pub(super) fn rows_of(
    session: &Arc<Session>,
    mut running: RunningTupleQuery,
    mut first: Option<RecordBatch>,
    schema: SchemaRef,
    token: &CancelToken,
) -> Result<Rows, Error> {
    let (sender, receiver) = mpsc::channel(QUEUED_BATCHES);
    let last = sender.clone();
    let (shown, own_token) = (row_stream::nullable(&schema), token.clone());
    let produce = move || {
        loop {
            let item = match first.take() {
                Some(batch) => Ok(Some(batch)),
                None => running.next_batch(&shown, &own_token),
            };
            if let Ok(Some(batch)) = &item {
                own_token.work().note_written(batch.num_rows() as u64, 0);
            }
            let is_last = !matches!(item, Ok(Some(_)));
            let is_heard = match item.transpose() {
                Some(item) => sender.blocking_send(item).is_ok(),
                None => true,
            };
            if is_last || !is_heard {
                return;
            }
        }
    };
    let task = session.database.spawn(async move {
        let Err(error) = tokio::task::spawn_blocking(produce).await else {
            return;
        };
        // Without it the rows would seem to be all.
        if let Ok(panic) = error.try_into_panic() {
            let _ = last.send(Err(of_panic(&*panic))).await;
        }
    })?;
    let database = Arc::clone(&session.database);
    let token = token.clone();
    let fails = row_stream::failing(session);
    Ok(Rows::from_task(
        schema, receiver, task, token, fails, database,
    ))
}
