//! `EXPLAIN`, in PostgreSQL's older and newer form.
//!
//! `EXPLAIN` shows the operators of the executor that would run the query, and behind which estimates of both it was chosen, if it was. With `ANALYZE` the query
//! is run, and each operator shows what it did. Both executors describe themselves by the same tree ([`quire_exec::explained`]), as text or as JSON.
//! `EXPLAIN (ALGEBRA)` shows a query in the engine's algebra, `EXPLAIN (AVM)` the iterators and programs of the tuple engine, `EXPLAIN VERBOSE` what every rule
//! makes of the plan of batches.

mod options;
mod shown;

use std::sync::Arc;
use std::time::Instant;

use datafusion::arrow::array::AsArray;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::sql::sqlparser::ast::Statement;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_functions::ExecutorChoice;
use quire_planner::explained::explained_plan;
use quire_sql::reject;
use quire_sql::reject::not_supported;
use quire_sql::with_queries;
use quire_tables::Snapshot;

use self::options::{ExplainMode, ExplainOptions};
pub(super) use self::shown::shown_schema;
use self::shown::{ShownPlan, lines};
use super::planned_query::PlannedQuery;
use super::query::{context_for, plan};
use super::{dml, tuple_engine};
use crate::outcome::Outcome;
use crate::pg_catalog;
use crate::planning::next_of;
use crate::session::Session;

pub(super) async fn explain(
    session: &Arc<Session>,
    statement: Statement,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let (options, explained) = ExplainOptions::of(statement.clone())?;
    let snapshot = session.snapshot().await?;
    let query = match explained {
        Statement::Query(query) => query,
        change => return explain_change(session, snapshot, change, options, token).await,
    };
    if options.mode == ExplainMode::Rules {
        return lines(&rules(session, snapshot, statement, options.is_analyzed, token).await?);
    }
    let started = Instant::now();
    let planned = plan(session, snapshot.clone(), query, token).await?;
    if options.mode == ExplainMode::Algebra {
        return lines(&tuple_engine::algebra(&planned)?);
    }
    let explaining = Explaining {
        session,
        snapshot: &snapshot,
        planned: &planned,
        options,
        started,
        token,
    };
    match explaining.shown().await? {
        Ok(shown) => shown.outcome(options.format),
        Err(reason) => lines(&format!("left to batches: {reason}")),
    }
}

/// A query that is being explained.
struct Explaining<'q> {
    session: &'q Arc<Session>,
    snapshot: &'q Snapshot,
    planned: &'q PlannedQuery,
    options: ExplainOptions,
    started: Instant,
    token: &'q CancelToken,
}

impl Explaining<'_> {
    /// The plan; or why the tuple engine, of which programs are asked, has none.
    async fn shown(&self) -> Result<Result<ShownPlan, String>, Error> {
        let with_programs = self.options.mode == ExplainMode::Programs;
        let (executor, mut reason) = self.choice(with_programs).await?;
        if executor == ExecutorChoice::Tuples {
            match self.by_tuples(with_programs).await? {
                Ok(shown) => return Ok(Ok(ShownPlan { reason, ..shown })),
                Err(left) if with_programs => return Ok(Err(left)),
                Err(left) => reason = Some(format!("left to batches: {left}")),
            }
        }
        let shown = self.by_batches().await?;
        Ok(Ok(ShownPlan { reason, ..shown }))
    }

    /// Which executor would run the query, and why, where costs decide.
    async fn choice(&self, with_programs: bool) -> Result<(ExecutorChoice, Option<String>), Error> {
        if with_programs {
            return Ok((ExecutorChoice::Tuples, None));
        }
        let executor = self.session.planner_options().executor();
        if executor != ExecutorChoice::Cheaper {
            return Ok((executor, None));
        }
        let decided = tuple_engine::decision(self.session, self.snapshot, self.planned, self.token);
        Ok(match decided.await? {
            Some((true, reason)) => (ExecutorChoice::Tuples, Some(reason)),
            Some((false, reason)) => (ExecutorChoice::Batches, Some(reason)),
            None => (ExecutorChoice::Batches, None),
        })
    }

    /// The tuple engine's iterators; or why it leaves the query to batches.
    async fn by_tuples(&self, with_programs: bool) -> Result<Result<ShownPlan, String>, Error> {
        let (session, snapshot, planned) = (self.session, self.snapshot, self.planned);
        let planning = self.started.elapsed();
        let begun = Instant::now();
        let operators = if self.options.is_analyzed {
            tuple_engine::analysis(session, snapshot, planned, with_programs, self.token).await?
        } else {
            tuple_engine::explanation(session, snapshot, planned, with_programs, self.token).await?
        };
        Ok(operators.map(|operators| ShownPlan {
            reason: None,
            operators,
            planning,
            execution: self.options.is_analyzed.then(|| begun.elapsed()),
        }))
    }

    /// The operators of batches.
    async fn by_batches(&self) -> Result<ShownPlan, Error> {
        let context = &self.planned.context;
        let optimized = context.optimized(&self.planned.plan)?;
        let physical = context.planned_physical(&optimized).await?;
        let mut shown = ShownPlan {
            planning: self.started.elapsed(),
            ..ShownPlan::default()
        };
        let physical = if self.options.is_analyzed {
            let begun = Instant::now();
            let run = context
                .run_counted(physical, &optimized, self.token)
                .await?;
            shown.execution = Some(begun.elapsed());
            run
        } else {
            physical
        };
        shown.operators = explained_plan(&physical);
        Ok(shown)
    }
}

/// What a change would do. It is not run, and so there is no telling what it did.
async fn explain_change(
    session: &Session,
    snapshot: Snapshot,
    mut change: Statement,
    options: ExplainOptions,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    pg_catalog::rewrite::rewrite(&mut change);
    reject::check(&change)?;
    with_queries::resolve(&mut change)?;
    if options.is_analyzed || options.mode == ExplainMode::Algebra {
        let error = not_supported("EXPLAIN (ANALYZE or ALGEBRA) of a statement other than a query");
        return Err(error.with_hint("Say it of a SELECT with the same WHERE."));
    }
    let started = Instant::now();
    let with_programs = options.mode == ExplainMode::Programs;
    let operators = dml::explain(session, snapshot, change, with_programs, token).await?;
    let shown = ShownPlan {
        operators,
        planning: started.elapsed(),
        ..ShownPlan::default()
    };
    shown.outcome(options.format)
}

/// The plans of batches from rule to rule, as DataFusion shows them.
async fn rules(
    session: &Session,
    snapshot: Snapshot,
    mut statement: Statement,
    is_analyzed: bool,
    token: &CancelToken,
) -> Result<String, Error> {
    let asks = pg_catalog::rewrite::rewrite(&mut statement);
    reject::check(&statement)?;
    with_queries::resolve(&mut statement)?;
    if let Statement::Explain {
        analyze,
        verbose,
        options,
        ..
    } = &mut statement
    {
        // DataFusion does not know the form with parentheses.
        (*analyze, *verbose, *options) = (is_analyzed, true, None);
    }
    let context = context_for(session, snapshot, &mut statement, asks, [], token).await?;
    let plan = context.plan(statement).await?;
    let stream = context.start(&plan).await?;
    text_of(stream, token).await
}

/// The plans of batches, each below what it is.
async fn text_of(
    mut stream: SendableRecordBatchStream,
    token: &CancelToken,
) -> Result<String, Error> {
    let mut text = String::new();
    while let Some(batch) = next_of(&mut stream, token).await? {
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|it| it.as_string::<i32>())
            .collect();
        for row in 0..batch.num_rows() {
            let mut cells = columns.iter().map(|column| column.value(row));
            text += cells.next().unwrap_or_default();
            text += ":\n";
            for line in cells.flat_map(str::lines) {
                text += "  ";
                text += line;
                text.push('\n');
            }
        }
    }
    Ok(text)
}
