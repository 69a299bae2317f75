//! Statements on a few rows of one table, all of them in one tree, or on values without a table, without a planner's session.
//!
//! Text becomes a syntax tree, the tree a [`compiled::Compiled`] statement ([`bind`]), and that runs on the caller's thread
//! ([`run`], [`execute`], [`storage`]). What is compiled is kept by its text and the types of its parameters ([`cache`]).
//! Every statement that is not covered, and every one that is wrong, takes the general path, which also reports the errors:
//! compiling only answers "yes, so" or nothing. Both paths give the same rows: expressions are read and typed by the same code.
//! Other queries of row tables that are executed again are planned once for the tuple engine ([`general`]).

mod access;
mod answer;
mod bind;
mod cache;
mod compiled;
mod constant;
mod execute;
mod general;
mod lock_mode;
mod memory;
mod parameter;
mod point;
mod prepared;
mod reply;
mod run;
mod storage;
mod table;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::outcome::Outcome;
use crate::session::Session;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_sql::parse::ParsedCommand;

pub(crate) use cache::StatementCache;
pub use prepared::Prepared;
pub use reply::Reply;

/// Runs a statement that is covered; `None` leaves it to the general path, and in `parsed` what is parsed of it.
pub(crate) fn try_execute(
    session: &Arc<Session>,
    statements: &StatementCache,
    sql: &str,
    token: &CancelToken,
    parsed: &mut Option<ParsedCommand>,
) -> Option<Result<Outcome, Error>> {
    let answer = prepared::run_known(session, statements, sql, token, parsed)?;
    Some(answer.and_then(answer::StatementAnswer::into_outcome))
}
