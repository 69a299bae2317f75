//! Queries by the tuple engine: `SET engine = 'tuple'`.
//!
//! A query that has no counterpart in the algebra, reads what is no row table, or needs what its iterators do not do, is left to the general path and
//! counted ([`TupleCounts`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use quire_engine::iterators::{BuildError, QueryOptions, TupleQuery, TupleQueryError};
use quire_engine::plan::{Environment, Query};
use quire_engine::{RowTable, Snapshot};
use tokio::sync::mpsc;

use super::query::PlannedQuery;
use crate::cancel::CancelToken;
use crate::error::Error;
use crate::outcome::{Outcome, Rows};
use crate::plan::translate;
use crate::session::{QuireOptions, Session};
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

/// What the tuple engine answers to a query; nothing when it is left to the general path.
pub(super) async fn try_run(
    session: &Arc<Session>,
    snapshot: &Snapshot,
    planned: &PlannedQuery,
    token: &CancelToken,
) -> Result<Option<Outcome>, Error> {
    let optimized = planned.context.state.optimize(&planned.plan)?;
    let options = planned.context.state.config().options();
    let counts = &session.database.tuple_counts;
    let Ok(query) = translate(&optimized, options) else {
        counts.count(true);
        return Ok(None);
    };
    let options = QueryOptions {
        memory_bytes: session.database.options.memory_bytes,
        now: Environment::new(&[]).now(),
        ..QueryOptions::default()
    };
    let started = started(&query, snapshot.clone(), options).await?;
    counts.count(started.is_none());
    match started {
        Some(mut running) => {
            let compiler = session.database.native_compiler();
            if let Some(compiler) = compiler.filter(|_| QuireOptions::of(session).native_code) {
                running.compile_with(compiler);
            }
            let schema = planned.shown_schema_of(&optimized);
            rows_of(session, Running { running, query }, schema, token).map(Some)
        }
        None => Ok(None),
    }
}

/// The query, with its subqueries for single values evaluated; nothing when the iterators do not do what it needs.
async fn started(
    query: &Query,
    snapshot: Snapshot,
    options: QueryOptions,
) -> Result<Option<TupleQuery>, Error> {
    let query = query.clone();
    let start = move || {
        let tables = |name: &str| -> Option<Arc<RowTable>> { snapshot.row_table(name).ok()? };
        TupleQuery::with_options(&query, &tables, &[], &options)
    };
    let started = tokio::task::spawn_blocking(start).await;
    match started.map_err(|error| Error::new("XX000", format!("internal error: {error}")))? {
        Ok(running) => Ok(Some(running)),
        Err(TupleQueryError::Build(
            BuildError::Compile(_) | BuildError::Table(_) | BuildError::Unsupported(_),
        )) => Ok(None),
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
    let produce = move || {
        loop {
            let item = running.next_batch(&shown, &own_token);
            let is_last = !matches!(item, Ok(Some(_)));
            let has_failed = item.is_err();
            let is_heard = match item.transpose() {
                Some(item) => sender.blocking_send(item).is_ok(),
                None => true,
            };
            if is_last || !is_heard {
                return has_failed;
            }
        }
    };
    let task = session.database.spawn(async move {
        let has_failed = tokio::task::spawn_blocking(produce).await.unwrap_or(true);
        if has_failed && let Some(session) = asking.upgrade() {
            session.transaction.lock().await.fail();
        }
    })?;
    let database = Arc::clone(&session.database);
    let token = token.clone();
    Ok(Outcome::Rows(Rows::from_task(
        schema, receiver, task, token, database,
    )))
}
