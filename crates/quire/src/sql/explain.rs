//! `EXPLAIN`, in PostgreSQL's older and newer form.
//!
//! `EXPLAIN (ALGEBRA)` shows a query in the engine's algebra, `EXPLAIN (AVM)` the iterators and programs of the tuple engine. `EXPLAIN` shows the plan of the machine
//! that would run the query, and behind which estimates of both it was chosen, if it was. With `ANALYZE` the query is run, and what it did is shown.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::sql::sqlparser::ast::{
    AnalyzeFormat, AnalyzeFormatKind, Query, Statement, UtilityOption,
};
use futures::StreamExt;
use quire_engine::Snapshot;

use super::query::{context_for, plan, rows_of};
use super::reject::{self, not_supported};
use super::tuple_engine;
use crate::cancel::CancelToken;
use crate::error::Error;
use crate::outcome::{Outcome, Rows};
use crate::pg_catalog;
use crate::session::{Machine, QuireOptions, Session};

/// What is to be shown.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shown {
    Algebra,
    /// The tuple engine's iterators and programs.
    Programs,
    /// The plan of the machine that would run the query.
    Plan,
}

pub(super) async fn explain(
    session: &Arc<Session>,
    mut statement: Statement,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let (shown, query) = read_options(&mut statement)?;
    let is_analyzed = matches!(statement, Statement::Explain { analyze: true, .. });
    let asks = pg_catalog::rewrite::rewrite(&mut statement);
    reject::check(&statement)?;
    let snapshot = session.snapshot().await?;
    let mut decided = None;
    let mut machine = QuireOptions::of(session).machine();
    if shown == Shown::Plan && machine == Machine::Cheaper {
        let planned = plan(session, snapshot.clone(), query.clone(), token).await?;
        let decision = tuple_engine::decision(session, &snapshot, &planned, token).await?;
        let is_tuples = decision.as_ref().is_some_and(|(is_tuples, _)| *is_tuples);
        machine = if is_tuples {
            Machine::Tuples
        } else {
            Machine::Batches
        };
        decided = decision.map(|(_, reason)| reason);
    }
    let reason = match shown {
        Shown::Algebra => {
            let planned = plan(session, snapshot, query, token).await?;
            return lines("algebra", &tuple_engine::algebra(&planned)?);
        }
        Shown::Plan if machine != Machine::Tuples => decided,
        _ => {
            let with_programs = shown == Shown::Programs;
            let name = if with_programs { "avm" } else { "plan" };
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
                    return lines(name, &(decided + &text));
                }
                Err(reason) if with_programs => {
                    return lines(name, &format!("left to batches: {reason}"));
                }
                Err(reason) => Some(format!("left to batches: {reason}")),
            }
        }
    };
    let context = context_for(session, snapshot, &mut statement, asks, [], token).await?;
    let plan = context.plan(statement).await?;
    let mut stream = context.start(&plan).await?;
    if let Some(reason) = reason {
        stream = with_reason(stream, &reason)?;
    }
    let schema = stream.schema();
    let rows = rows_of(session, stream, schema, token)?;
    Ok(Outcome::Rows(rows.of_command("EXPLAIN")))
}

/// What is to be shown, and of which query. Our own options are taken out of the statement.
fn read_options(statement: &mut Statement) -> Result<(Shown, Box<Query>), Error> {
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
    let Statement::Query(query) = explained.as_ref() else {
        return Err(not_supported("EXPLAIN of a statement other than a query"));
    };
    let mut shown = Shown::Plan;
    for option in options.take().unwrap_or_default() {
        match option.name.value.to_lowercase().as_str() {
            "algebra" => shown = Shown::Algebra,
            "avm" => shown = Shown::Programs,
            _ => apply_option(&option, analyze, verbose, format)?,
        }
    }
    Ok((shown, query.clone()))
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
    match is_analyzed {
        false => tuple_engine::explanation(session, snapshot, &planned, with_programs, token).await,
        true => tuple_engine::analysis(session, snapshot, &planned, with_programs, token).await,
    }
}

/// A line per row.
fn lines(name: &str, text: &str) -> Result<Outcome, Error> {
    let schema = Schema::new(vec![Field::new(name, DataType::Utf8View, false)]);
    let lines = StringViewArray::from_iter_values(text.lines());
    let batch = RecordBatch::try_new(Arc::new(schema), vec![Arc::new(lines)])?;
    Ok(Outcome::Rows(Rows::ready(batch).of_command("EXPLAIN")))
}

/// DataFusion's rows, of two texts, behind one that says why batches run the query.
fn with_reason(
    stream: SendableRecordBatchStream,
    reason: &str,
) -> Result<SendableRecordBatchStream, Error> {
    let schema: SchemaRef = stream.schema();
    let texts = ["engine", reason];
    let columns = texts.map(|text| Arc::new(StringArray::from(vec![text])) as ArrayRef);
    let first = RecordBatch::try_new(Arc::clone(&schema), columns.to_vec())?;
    let rows = futures::stream::iter([Ok(first)]).chain(stream);
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
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
