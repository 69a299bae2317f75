//! `ADVISE COMPRESSION`: how a table, a file or another database is best kept, measured on a sample.

mod errors;
mod options;
mod pieces;
mod result;
mod sample;

use std::sync::Arc;

use quire_advisor::{MachineClock, advise};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_sql::advise_statement::AdviseStatement;

use crate::outcome::Outcome;
use crate::session::Session;

use errors::of_advisor;
use options::AdviceOptions;
use result::TableAdvice;

/// What a statement has found.
pub(super) struct Advised {
    /// The choices as rows.
    pub(super) rows: Outcome,
    /// For each table the statements that apply its best choice, in their order.
    pub(super) best: Vec<Vec<String>>,
}

/// Measures and ranks.
pub(super) async fn run(
    session: &Arc<Session>,
    statement: &AdviseStatement,
    token: &CancelToken,
) -> Result<Advised, Error> {
    let options = AdviceOptions::of(&statement.options)?;
    let tables = sample::tables_of(session, &statement.subject, &options, token).await?;
    let table_count = tables.len();
    let mut advised = Vec::with_capacity(table_count);
    for table in tables {
        let request = options.request(table_count, token);
        let measured = tokio::task::block_in_place(|| {
            advise(&table.sample, &request, &MachineClock::default())
        });
        if token.question()() {
            return Err(Error::cancelled());
        }
        let advice = measured.map_err(of_advisor)?;
        advised.push(TableAdvice { table, advice });
    }
    let best = advised.iter().map(|one| one.advice.choices.first());
    let best = best.map(|choice| choice.map_or_else(Vec::new, |one| one.statements.clone()));
    Ok(Advised {
        best: best.collect(),
        rows: result::rows(&advised)?,
    })
}
