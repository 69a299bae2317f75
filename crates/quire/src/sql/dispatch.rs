//! One statement, from its text to its outcome.

use std::sync::Arc;

use datafusion::sql::sqlparser::ast::{Ident, Query, SetExpr, Statement};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_error::progress::Phase;
use quire_sql::advise_statement::AdviseStatement;
use quire_sql::names::folded;
use quire_sql::parse::{ParsedCommand, changes_rows, parse};
use quire_sql::reject::not_supported;
use quire_sql::table_clauses::TableClauses;

use super::{advise, ddl, describe, dml, explain, insert, load, maintenance, query, settings};
use crate::machine;
use crate::outcome::{Completion, Outcome};
use crate::session::{Session, aborted};

/// Runs the statement `sql`, which may have been `parsed`. On failure or cancellation nothing of it remains.
pub(crate) async fn run(
    session: Arc<Session>,
    sql: String,
    parsed: Option<ParsedCommand>,
    token: CancelToken,
) -> Result<Outcome, Error> {
    let command = match parsed {
        Some(command) => command,
        None => parse(&sql)?,
    };
    if session.transaction.lock().await.is_aborted() && !ends_transaction(&command) {
        return Err(aborted());
    }
    let result = tokio::select! {
        biased;
        () = token.cancelled() => Err(Error::cancelled()),
        result = execute(&session, command, &token) => result,
    };
    if result.is_err() {
        session.transaction.lock().await.fail();
    }
    result
}

fn ends_transaction(command: &ParsedCommand) -> bool {
    let ParsedCommand::Statement(statement, _) = command else {
        return false;
    };
    matches!(
        statement.as_ref(),
        Statement::Commit { .. } | Statement::Rollback { .. } | Statement::ReleaseSavepoint { .. }
    )
}

/// A query, or a statement that changes rows behind `WITH`.
async fn run_query(
    session: &Arc<Session>,
    mut query: Box<Query>,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    if !query.locks.is_empty() {
        return dml::select(session, query, token).await;
    }
    if !changes_rows(&query.body) {
        return query::run(session, query, token).await;
    }
    let with = query.with.take();
    match *query.body {
        SetExpr::Update(Statement::Update(update)) => {
            dml::update(session, update, with, token).await
        }
        SetExpr::Delete(Statement::Delete(delete)) => {
            dml::delete(session, delete, with, token).await
        }
        SetExpr::Insert(Statement::Insert(mut insert)) => {
            if let Some(source) = &mut insert.source {
                source.with = with;
            }
            insert::run(session, insert, token).await
        }
        other => Err(not_supported(other)),
    }
}

fn done(tag: &str) -> Outcome {
    Outcome::Done(Completion::tag(tag))
}

async fn execute(
    session: &Arc<Session>,
    command: ParsedCommand,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    token.work().begin(Phase::Reading, None);
    match command {
        ParsedCommand::Empty => Ok(done("")),
        ParsedCommand::Calibrate => {
            tokio::task::block_in_place(machine::measure)?;
            session.settings().set("costs", "measured")?;
            Ok(done("CALIBRATE"))
        }
        ParsedCommand::Checkpoint => {
            tokio::task::block_in_place(|| session.database.engine.checkpoint())?;
            Ok(done("CHECKPOINT"))
        }
        ParsedCommand::Maintenance(wanted) => {
            maintenance::run(session, &wanted, token).await?;
            Ok(done(wanted.tag()))
        }
        ParsedCommand::Advise(statement) => run_advice(session, &statement, token).await,
        ParsedCommand::ShowTables => {
            query::run_text(
                session,
                "SELECT * FROM quire_tables() ORDER BY table_name",
                token,
            )
            .await
        }
        ParsedCommand::Describe(name) => describe::describe(session, &name, token).await,
        ParsedCommand::Sequence(statement) => ddl::run_sequence(session, &statement, token).await,
        ParsedCommand::Role(statement) => ddl::run_role(session, &statement, token).await,
        ParsedCommand::Copy(copy) => load::run(session, *copy, token).await,
        ParsedCommand::Statement(statement, clauses) => {
            execute_statement(session, *statement, clauses, token).await
        }
    }
}

/// Advice, and if that is asked for, its best choice of each table applied.
async fn run_advice(
    session: &Arc<Session>,
    statement: &AdviseStatement,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let advised = advise::run(session, statement, token).await?;
    if statement.applies {
        for statements in &advised.best {
            run_all(session, statements, token).await?;
        }
    }
    Ok(advised.rows)
}

/// Runs statements one after the other: several in a transaction, unless one is open already, so that nothing remains of them after an error.
async fn run_all(
    session: &Arc<Session>,
    statements: &[String],
    token: &CancelToken,
) -> Result<(), Error> {
    let is_open = session.transaction.lock().await.is_explicit();
    if is_open || statements.len() < 2 {
        for sql in statements {
            run_one(session, sql, token).await?;
        }
        return Ok(());
    }
    run_one(session, "BEGIN", token).await?;
    for sql in statements {
        let done = run_one(session, sql, token).await;
        if done.is_err() {
            run_one(session, "ROLLBACK", token).await?;
        }
        done?;
    }
    run_one(session, "COMMIT", token).await
}

/// A statement within a statement; boxed, for its future would contain itself.
async fn run_one(session: &Arc<Session>, sql: &str, token: &CancelToken) -> Result<(), Error> {
    let command = parse(sql)?;
    Box::pin(execute(session, command, token)).await.map(|_| ())
}

async fn execute_statement(
    session: &Arc<Session>,
    statement: Statement,
    clauses: TableClauses,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    match statement {
        Statement::Query(query) => run_query(session, query, token).await,
        Statement::Update(update) => dml::update(session, update, None, token).await,
        Statement::Delete(delete) => dml::delete(session, delete, None, token).await,
        Statement::Explain { .. } => explain::explain(session, statement, token).await,
        Statement::ExplainTable { table_name, .. } => {
            describe::describe(session, &table_name, token).await
        }
        Statement::Insert(insert) => insert::run(session, insert, token).await,
        Statement::CreateTable(create) => ddl::create_table(session, create, clauses, token).await,
        Statement::CreateIndex(create) => ddl::create_index(session, &create, token).await,
        Statement::CreateView(create) => ddl::create_view(session, create, token).await,
        Statement::AlterTable(alter) => ddl::alter_table(session, alter, token).await,
        Statement::AlterIndex { name, operation } => {
            ddl::alter_index(session, &name, &operation, token).await
        }
        Statement::Drop {
            object_type,
            if_exists,
            names,
            cascade,
            temporary: false,
            table: None,
            ..
        } => ddl::drop_objects(session, object_type, &names, if_exists, cascade, token).await,
        Statement::Truncate(truncate) => ddl::truncate(session, &truncate, token).await,
        Statement::Set(set) => settings::set(session, set).await,
        Statement::Reset(reset) => settings::reset(session, &reset.reset),
        Statement::ShowVariable { variable } => settings::show(session, &variable).await,
        Statement::StartTransaction { modes, .. } => {
            settings::start_transaction(session, &modes).await
        }
        Statement::Commit { chain: false, .. } => commit(session).await,
        Statement::Rollback {
            chain: false,
            savepoint,
        } => roll_back(session, savepoint).await,
        Statement::Savepoint { name } => {
            session
                .transaction
                .lock()
                .await
                .save(session, folded(&name))?;
            Ok(done("SAVEPOINT"))
        }
        Statement::ReleaseSavepoint { name } => {
            session.transaction.lock().await.release(&folded(&name))?;
            Ok(done("RELEASE"))
        }
        other => Err(refusal(&other)),
    }
}

async fn commit(session: &Session) -> Result<Outcome, Error> {
    let committed = session.transaction.lock().await.commit(session);
    session.note_transaction_end(matches!(committed, Ok(true)));
    Ok(done(if committed? { "COMMIT" } else { "ROLLBACK" }))
}

async fn roll_back(session: &Session, savepoint: Option<Ident>) -> Result<Outcome, Error> {
    let mut transaction = session.transaction.lock().await;
    match savepoint {
        None => {
            transaction.roll_back();
            session.note_transaction_end(false);
        }
        Some(name) => transaction.roll_back_to(session, &folded(&name))?,
    }
    Ok(done("ROLLBACK"))
}

/// Why a statement is not run, and what to do instead.
fn refusal(statement: &Statement) -> Error {
    let text = statement.to_string();
    let words: Vec<&str> = text.split_whitespace().take(2).collect();
    match statement {
        Statement::Grant { .. } | Statement::Revoke { .. } => not_supported(words.join(" ").to_uppercase())
            .with_hint("There are no privileges on tables: a role that may log in may read and change all of them; a SUPERUSER may change roles and use files of the server, too."),
        Statement::Merge { .. } => not_supported("MERGE")
            .with_hint("Use INSERT … ON CONFLICT, UPDATE … FROM or DELETE … USING."),
        _ => not_supported(words.join(" ").to_uppercase()),
    }
}
