//! What the tuple engine does for a query, in words.

use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_exec::explained::ExplainedOperator;
use quire_exec::tuple::{QueryOptions, TupleQuery};
use quire_tables::Snapshot;

use super::{BATCH_ROWS, RowTables, blocking, costs_of, left_or, options_of, started, translated};
use crate::session::Session;
use crate::sql::planned_query::PlannedQuery;

/// Which machine is to run a query, and why, where the cheaper one is; nothing where there is no choice.
pub(in crate::sql) async fn decision(
    session: &Session,
    snapshot: &Snapshot,
    planned: &PlannedQuery,
    token: &CancelToken,
) -> Result<Option<(bool, String)>, Error> {
    let tables = RowTables::of(snapshot);
    if !tables.are_all_of(&planned.plan)? {
        return Ok(None);
    }
    let costs = match translated(&planned.context, &planned.plan)? {
        Ok(translated) => {
            let options = options_of(session, token);
            costs_of(&translated.query, &tables, &options).await?
        }
        Err(reason) => Err(reason),
    };
    let costs = match costs {
        Ok(costs) => costs,
        Err(reason) => return Ok(Some((false, format!("left to batches: {reason}")))),
    };
    let (tuple_ms, batch_ms) = (costs.tuple_ns / 1e6, costs.batch_ns / 1e6);
    let is_tuples = costs.are_less_by_tuples();
    Ok(Some((
        is_tuples,
        if is_tuples {
            format!("tuple engine: about {tuple_ms:.3} ms, batches {batch_ms:.3} ms")
        } else {
            format!("batches: about {batch_ms:.3} ms, tuple engine {tuple_ms:.3} ms")
        },
    )))
}

/// The query in the algebra; or why it has no counterpart there.
pub(in crate::sql) fn algebra(planned: &PlannedQuery) -> Result<String, Error> {
    let translated = translated(&planned.context, &planned.plan)?;
    Ok(translated.map_or_else(|reason| reason, |translated| translated.query.to_string()))
}

/// Its iterators and perhaps their programs, with what is expected of them. Inside, why it leaves the query to batches.
pub(in crate::sql) async fn explanation(
    session: &Session,
    snapshot: &Snapshot,
    planned: &PlannedQuery,
    with_programs: bool,
    token: &CancelToken,
) -> Result<Result<ExplainedOperator, String>, Error> {
    let options = QueryOptions {
        is_counted: true,
        ..options_of(session, token)
    };
    let query = match translated(&planned.context, &planned.plan)? {
        Ok(translated) => translated.query,
        Err(reason) => return Ok(Err(reason)),
    };
    let tables = RowTables::of(snapshot);
    let unstarted = move || TupleQuery::unstarted(&query, &|name| tables.find(name), &options);
    let built = blocking(unstarted);
    Ok(left_or(built.await?)?.map(|query| query.explanation(with_programs)))
}

/// The same of a query that is run, with what they did. Programs are not compiled: machine code does not count what it decodes.
pub(in crate::sql) async fn analysis(
    session: &Session,
    snapshot: &Snapshot,
    planned: &PlannedQuery,
    with_programs: bool,
    token: &CancelToken,
) -> Result<Result<ExplainedOperator, String>, Error> {
    let options = QueryOptions {
        is_counted: true,
        ..options_of(session, token)
    };
    let started = match translated(&planned.context, &planned.plan)? {
        Ok(translated) => started(&translated, &RowTables::of(snapshot), options).await?,
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
