//! Queries by the tuple engine: with `SET engine = 'tuple'` all that it can run, and with `auto` those of row tables that are expected to cost less than by
//! batches.
//!
//! A query that has no counterpart in the algebra, reads what is no row table, or needs what its iterators do not do, is left to the general path and
//! counted ([`TupleCounts`]).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::LogicalPlan;
use quire_engine::avm::Cancellation;
use quire_engine::iterators::{BuildError, QueryCosts, QueryOptions, TupleQuery, TupleQueryError};
use quire_engine::plan::{Environment, Query};
use quire_engine::{RowTable, Snapshot};
use tokio::sync::mpsc;

use super::query::PlannedQuery;
use crate::cancel::CancelToken;
use crate::error::Error;
use crate::outcome::{Outcome, Rows};
use crate::plan::translate;
use crate::session::{Machine, QuireOptions, Session};
use crate::statement::ResultRows;

/// Rows of a batch, and rows between two looks at the token.
const BATCH_ROWS: usize = 1024;

/// Batches that wait for a slow reader of the rows.
const QUEUED_BATCHES: usize = 2;

/// How many queries the tuple engine was asked to run, and how many of them it left to the general path.
#[derive(Debug, Default)]
pub(crate) struct TupleCounts {
    asked: AtomicU64,
    left: AtomicU64,
}

impl TupleCounts {
    fn count(&self, is_left: bool) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.left.fetch_add(u64::from(is_left), Ordering::Relaxed);
    }

    /// Queries that it was asked to run, and those that it left.
    pub(crate) fn asked_and_left(&self) -> (u64, u64) {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (load(&self.asked), load(&self.left))
    }
}

/// What became of a query that the tuple engine might run.
pub(super) enum Tried {
    Started(Outcome),
    /// Batches are to run it, by this plan.
    Optimized(Box<LogicalPlan>),
    Left,
}

/// Lets the tuple engine run a query, if it can and, where that is asked, costs less than batches.
pub(super) async fn try_run(
    session: &Arc<Session>,
    snapshot: &Snapshot,
    planned: &PlannedQuery,
    machine: Machine,
    token: &CancelToken,
) -> Result<Tried, Error> {
    let is_asked = match machine {
        Machine::Batches => false,
        Machine::Tuples => true,
        Machine::Cheaper => reads_row_tables(&planned.plan, snapshot)?,
    };
    if !is_asked {
        return Ok(Tried::Left);
    }
    let counts = &session.database.tuple_counts;
    let options = options_of(session, token);
    let translated = translated(planned)?;
    if machine == Machine::Cheaper {
        let is_cheaper = match &translated {
            Ok(translated) => costs_of(&translated.query, snapshot, &options)
                .await?
                .is_ok_and(|costs| costs.tuple_ns <= costs.batch_ns),
            Err(_) => false,
        };
        if !is_cheaper {
            return Ok(left(translated.ok()));
        }
    }
    let started = match &translated {
        Ok(translated) => started(translated, snapshot, options).await?.ok(),
        Err(_) => None,
    };
    counts.count(started.is_none());
    let (translated, mut running) = match (translated, started) {
        (Ok(translated), Some(running)) => (translated, running),
        (translated, _) => return Ok(left(translated.ok())),
    };
    let compiler = session.database.native_compiler();
    if let Some(compiler) = compiler.filter(|_| QuireOptions::of(session).native_code) {
        running.running.compile_with(compiler);
    }
    let schema = planned.shown_schema_of(&translated.optimized);
    rows_of(session, running, schema, token).map(Tried::Started)
}

fn left(translated: Option<Translated>) -> Tried {
    translated.map_or(Tried::Left, |it| Tried::Optimized(Box::new(it.optimized)))
}

/// Whether a query reads row tables, and no other ones. What is a view is not known yet.
fn reads_row_tables(plan: &LogicalPlan, snapshot: &Snapshot) -> Result<bool, Error> {
    let (mut scans, mut others) = (0, 0);
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            scans += 1;
            let is_view = scan.source.get_logical_plan().is_some();
            let is_rows = snapshot.row_table_entry(scan.table_name.table()).is_some();
            others += usize::from(!is_view && !is_rows);
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(scans > 0 && others == 0)
}

/// What a query would cost by either machine. Inside, why the tuple engine cannot run it.
async fn costs_of(
    query: &Query,
    snapshot: &Snapshot,
    options: &QueryOptions,
) -> Result<Result<QueryCosts, String>, Error> {
    let (query, snapshot, options) = (query.clone(), snapshot.clone(), options.clone());
    let estimate = move || TupleQuery::estimate(&query, &tables_of(&snapshot), &options);
    left_or(blocking(estimate).await?)
}

/// Which machine is to run a query, and why, where the cheaper one is; nothing where there is no choice.
pub(super) async fn decision(
    session: &Session,
    snapshot: &Snapshot,
    planned: &PlannedQuery,
    token: &CancelToken,
) -> Result<Option<(bool, String)>, Error> {
    if !reads_row_tables(&planned.plan, snapshot)? {
        return Ok(None);
    }
    let costs = match translated(planned)? {
        Ok(translated) => {
            let options = options_of(session, token);
            costs_of(&translated.query, snapshot, &options).await?
        }
        Err(reason) => Err(reason),
    };
    let costs = match costs {
        Ok(costs) => costs,
        Err(reason) => return Ok(Some((false, format!("left to batches: {reason}")))),
    };
    let (tuple_ms, batch_ms) = (costs.tuple_ns / 1e6, costs.batch_ns / 1e6);
    let is_tuples = costs.tuple_ns <= costs.batch_ns;
    Ok(Some((
        is_tuples,
        match is_tuples {
            true => format!("tuple engine: about {tuple_ms:.3} ms, batches {batch_ms:.3} ms"),
            false => format!("batches: about {batch_ms:.3} ms, tuple engine {tuple_ms:.3} ms"),
        },
    )))
}

/// The query in the algebra; or why it has no counterpart there.
pub(super) fn algebra(planned: &PlannedQuery) -> Result<String, Error> {
    let translated = translated(planned)?;
    Ok(translated.map_or_else(|reason| reason, |translated| translated.query.to_string()))
}

/// Its iterators and perhaps their programs, with what is expected of them. Inside, why it leaves the query to batches.
pub(super) async fn explanation(
    session: &Session,
    snapshot: &Snapshot,
    planned: &PlannedQuery,
    with_programs: bool,
    token: &CancelToken,
) -> Result<Result<String, String>, Error> {
    let options = QueryOptions {
        is_counted: true,
        ..options_of(session, token)
    };
    let query = match translated(planned)? {
        Ok(translated) => translated.query,
        Err(reason) => return Ok(Err(reason)),
    };
    let snapshot = snapshot.clone();
    let built = blocking(move || TupleQuery::unstarted(&query, &tables_of(&snapshot), &options));
    Ok(left_or(built.await?)?.map(|query| query.explanation(with_programs)))
}

/// The same of a query that is run, with what they did. Programs are not compiled: machine code does not count what it decodes.
pub(super) async fn analysis(
    session: &Session,
    snapshot: &Snapshot,
    planned: &PlannedQuery,
    with_programs: bool,
    token: &CancelToken,
) -> Result<Result<String, String>, Error> {
    let options = QueryOptions {
        is_counted: true,
        ..options_of(session, token)
    };
    let started = match translated(planned)? {
        Ok(translated) => started(&translated, snapshot, options).await?,
        Err(reason) => Err(reason),
    };
    let mut running = match started {
        Ok(running) => running.running,
        Err(reason) => return Ok(Err(reason)),
    };
    let token = token.clone();
    let run = move || {
        let mut row_count: usize = 0;
        while running.next_row()? {
            row_count += 1;
            if row_count.is_multiple_of(BATCH_ROWS) && token.is_cancelled() {
                return Err(Error::cancelled());
            }
        }
        Ok(running.explanation(with_programs))
    };
    blocking(run).await?.map(Ok)
}

fn options_of(session: &Session, token: &CancelToken) -> QueryOptions {
    QueryOptions {
        memory_bytes: session.database.options.memory_bytes,
        now: Environment::new(&[]).now(),
        costs: *session.settings().costs(),
        batch_threads: session.database.options.threads,
        cancellation: Cancellation(Some(token.question())),
        ..QueryOptions::default()
    }
}

/// A query in the algebra, and the plan that it was made of.
struct Translated {
    query: Query,
    optimized: LogicalPlan,
}

/// Inside, why it has no counterpart.
fn translated(planned: &PlannedQuery) -> Result<Result<Translated, String>, Error> {
    let state = &planned.context.state;
    let optimized = state.optimize(&planned.plan)?;
    Ok(match translate(&optimized, state.config().options()) {
        Ok(query) => Ok(Translated { query, optimized }),
        Err(reason) => Err(format!("not translated: {reason}")),
    })
}

fn tables_of(snapshot: &Snapshot) -> impl Fn(&str) -> Option<Arc<RowTable>> {
    move |name| snapshot.row_table(name).ok()?
}

/// The query, with its subqueries for single values evaluated. Inside, why the iterators do not run it.
async fn started(
    translated: &Translated,
    snapshot: &Snapshot,
    options: QueryOptions,
) -> Result<Result<Running, String>, Error> {
    let (query, snapshot) = (translated.query.clone(), snapshot.clone());
    let start = move || {
        let running = TupleQuery::with_options(&query, &tables_of(&snapshot), &[], &options)?;
        Ok(Running { running, query })
    };
    left_or(blocking(start).await?)
}

async fn blocking<R: Send + 'static>(run: impl FnOnce() -> R + Send + 'static) -> Result<R, Error> {
    let ended = tokio::task::spawn_blocking(run).await;
    ended.map_err(|error| Error::new("XX000", format!("internal error: {error}")))
}

/// What was built; inside, why nothing was, if another engine does it.
fn left_or<R>(built: Result<R, TupleQueryError>) -> Result<Result<R, String>, Error> {
    match built {
        Ok(built) => Ok(Ok(built)),
        Err(TupleQueryError::Build(
            error @ (BuildError::Compile(_) | BuildError::Table(_) | BuildError::Unsupported(_)),
        )) => Ok(Err(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

struct Running {
    running: TupleQuery,
    query: Query,
}

impl Running {
    /// The next rows; none behind the last.
    fn next_batch(
        &mut self,
        schema: &SchemaRef,
        token: &CancelToken,
    ) -> Result<Option<RecordBatch>, Error> {
        if token.is_cancelled() {
            return Err(Error::cancelled());
        }
        let mut rows = ResultRows::default();
        while rows.row_count < BATCH_ROWS && self.running.next_row()? {
            for (slot, column) in self.query.plan.columns.iter().enumerate() {
                rows.push(self.running.value(slot), column.is_text())?;
            }
            rows.row_count += 1;
        }
        match rows.row_count {
            0 => Ok(None),
            _ => rows.to_batch(schema, 0).map(Some),
        }
    }
}

fn rows_of(
    session: &Arc<Session>,
    mut running: Running,
    schema: SchemaRef,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let (sender, receiver) = mpsc::channel(QUEUED_BATCHES);
    let (shown, own_token) = (super::query::nullable(&schema), token.clone());
    // The task must not keep the database open.
    let asking = Arc::downgrade(session);
    let fails = Weak::clone(&asking);
    let produce = move || {
        loop {
            let item = running.next_batch(&shown, &own_token);
            let is_last = !matches!(item, Ok(Some(_)));
            // Before anybody hears of it and says the next statement.
            if item.is_err()
                && let Some(session) = fails.upgrade()
            {
                session.transaction.blocking_lock().fail();
            }
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
        let has_panicked = tokio::task::spawn_blocking(produce).await.is_err();
        if has_panicked && let Some(session) = asking.upgrade() {
            session.transaction.lock().await.fail();
        }
    })?;
    let database = Arc::clone(&session.database);
    let token = token.clone();
    Ok(Outcome::Rows(Rows::from_task(
        schema, receiver, task, token, database,
    )))
}
