//! `EXPLAIN`, in PostgreSQL's older and newer form.
//!
//! `EXPLAIN (ALGEBRA)` shows a query in the engine's algebra, `EXPLAIN (AVM)` the iterators and programs of the tuple engine. `EXPLAIN` shows the plan of the machine
//! that would run the query, and behind which estimates of both it was chosen, if it was. With `ANALYZE` the query is run, and what it did is shown.

use std::sync::Arc;

use datafusion::arrow::array::{AsArray, RecordBatch, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::sql::sqlparser::ast::{
    AnalyzeFormat, AnalyzeFormatKind, Query, Statement, UtilityOption,
};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_functions::ExecutorChoice;
use quire_sql::reject;
use quire_sql::reject::not_supported;
use quire_sql::with_queries;
use quire_tables::Snapshot;

use super::query::{context_for, plan};
use super::{dml, tuple_engine};
use crate::outcome::{Outcome, Rows};
use crate::pg_catalog;
use crate::planning::next_of;
use crate::session::Session;

/// What is to be shown.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ExplainMode {
    Algebra,
    /// The tuple engine's iterators and programs.
    Programs,
    /// The plan of the executor that would run the query.
    Plan,
}

pub(super) async fn explain(
    session: &Arc<Session>,
    mut statement: Statement,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let (shown, explained) = read_options(&mut statement)?;
    let is_analyzed = matches!(statement, Statement::Explain { analyze: true, .. });
    let asks = pg_catalog::rewrite::rewrite(&mut statement);
    reject::check(&statement)?;
    with_queries::resolve(&mut statement)?;
    let snapshot = session.snapshot().await?;
    let query = match explained {
        Statement::Query(query) => query,
        change => {
            return explain_change(session, snapshot, change, shown, is_analyzed, token).await;
        }
    };
    let mut decided = None;
    let mut executor = session.planner_options().executor();
    if shown == ExplainMode::Plan && executor == ExecutorChoice::Cheaper {
        let planned = plan(session, snapshot.clone(), query.clone(), token).await?;
        let decision = tuple_engine::decision(session, &snapshot, &planned, token).await?;
        let is_tuples = decision.as_ref().is_some_and(|(is_tuples, _)| *is_tuples);
        executor = if is_tuples {
            ExecutorChoice::Tuples
        } else {
            ExecutorChoice::Batches
        };
        decided = decision.map(|(_, reason)| reason);
    }
    let reason = match shown {
        ExplainMode::Algebra => {
            let planned = plan(session, snapshot, query, token).await?;
            return lines(&tuple_engine::algebra(&planned)?);
        }
        ExplainMode::Plan if executor != ExecutorChoice::Tuples => decided,
        _ => {
            let with_programs = shown == ExplainMode::Programs;
            let explained = iterators(
                session,
                &snapshot,
                query,
                (with_programs, is_analyzed),
                token,
            );
            match explained.await? {
                Ok(text) => {
                    let decided = decided.map_or_else(String::new, |reason| reason + "\n");
                    return lines(&(decided + &text));
                }
                Err(reason) if with_programs => {
                    return lines(&format!("left to batches: {reason}"));
                }
                Err(reason) => Some(format!("left to batches: {reason}")),
            }
        }
    };
    let context = context_for(session, snapshot, &mut statement, asks, [], token).await?;
    let plan = context.plan(statement).await?;
    let stream = context.start(&plan).await?;
    let text = text_of(stream, token).await?;
    lines(&reason.map_or(text.clone(), |reason| format!("{reason}\n{text}")))
}

/// What a change would do. It is not run, and so there is no telling what it did.
async fn explain_change(
    session: &Session,
    snapshot: Snapshot,
    change: Statement,
    shown: ExplainMode,
    is_analyzed: bool,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    if is_analyzed || shown == ExplainMode::Algebra {
        let error = not_supported("EXPLAIN (ANALYZE or ALGEBRA) of a statement other than a query");
        return Err(error.with_hint("Say it of a SELECT with the same WHERE."));
    }
    let with_programs = shown == ExplainMode::Programs;
    let text = dml::explain(session, snapshot, change, with_programs, token).await?;
    lines(&text)
}

/// What is to be shown, and of which statement. Our own options are taken out of the statement.
fn read_options(statement: &mut Statement) -> Result<(ExplainMode, Statement), Error> {
    let Statement::Explain {
        statement: explained,
        analyze,
        verbose,
        format,
        options,
        ..
    } = statement
    else {
        return Err(Error::new("XX000", "internal error: not EXPLAIN"));
    };
    if !matches!(
        explained.as_ref(),
        Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_)
    ) {
        return Err(not_supported(
            "EXPLAIN of a statement other than a query or a change of rows",
        ));
    }
    let mut shown = ExplainMode::Plan;
    for option in options.take().unwrap_or_default() {
        match option.name.value.to_lowercase().as_str() {
            "algebra" => shown = ExplainMode::Algebra,
            "avm" => shown = ExplainMode::Programs,
            _ => apply_option(&option, analyze, verbose, format)?,
        }
    }
    Ok((shown, explained.as_ref().clone()))
}

/// The tuple engine's iterators; or why it leaves the query to batches.
async fn iterators(
    session: &Arc<Session>,
    snapshot: &Snapshot,
    query: Box<Query>,
    (with_programs, is_analyzed): (bool, bool),
    token: &CancelToken,
) -> Result<Result<String, String>, Error> {
    let planned = plan(session, snapshot.clone(), query, token).await?;
    if is_analyzed {
        tuple_engine::analysis(session, snapshot, &planned, with_programs, token).await
    } else {
        tuple_engine::explanation(session, snapshot, &planned, with_programs, token).await
    }
}

/// The column of every answer, which clients know from PostgreSQL.
pub(super) fn shown_schema() -> SchemaRef {
    let field = Field::new("QUERY PLAN", DataType::Utf8View, false);
    Arc::new(Schema::new(vec![field]))
}

/// A line per row.
fn lines(text: &str) -> Result<Outcome, Error> {
    let lines = StringViewArray::from_iter_values(text.lines());
    let batch = RecordBatch::try_new(shown_schema(), vec![Arc::new(lines)])?;
    Ok(Outcome::Rows(Rows::ready(batch).of_command("EXPLAIN")))
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

fn apply_option(
    option: &UtilityOption,
    analyze: &mut bool,
    verbose: &mut bool,
    format: &mut Option<AnalyzeFormatKind>,
) -> Result<(), Error> {
    let argument = option
        .arg
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default()
        .to_lowercase();
    let is_on = !matches!(argument.as_str(), "off" | "false" | "0");
    match option.name.value.to_lowercase().as_str() {
        "analyze" => *analyze = is_on,
        "verbose" => *verbose = is_on,
        "format" if argument == "tree" => {
            *format = Some(AnalyzeFormatKind::Keyword(AnalyzeFormat::TREE));
        }
        "format" if argument == "text" => *format = None,
        // They only change what PostgreSQL prints beside the plan.
        "costs" | "buffers" | "timing" | "summary" | "settings" | "wal" => {}
        other => {
            return Err(not_supported(format!(
                "EXPLAIN option {}",
                other.to_uppercase()
            )));
        }
    }
    Ok(())
}
