//! `VACUUM` and `ANALYZE`.

use std::sync::Arc;

use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_kv::{mvcc::Isolation, mvcc::TransactionOptions};
use quire_sql::maintenance_statement::Maintenance;
use quire_sql::names::folded;
use quire_tables::{MergeOptions, TableStorage};
use tokio::task::block_in_place;

use super::ddl;
use super::insert::{no_such_table, table_name};
use crate::merging::merge;
use crate::session::{Session, TableWriteGuard};

/// Does it. Changed rows of column tables become row groups. Space is given back in the whole file, whichever tables are named.
pub(super) async fn run(
    session: &Session,
    wanted: &Maintenance,
    token: &CancelToken,
) -> Result<(), Error> {
    if wanted.cleans && session.transaction.lock().await.is_explicit() {
        let text = "VACUUM cannot run inside a transaction block";
        return Err(Error::new("25001", text));
    }
    let tables = tables_of(session, wanted).await?;
    if wanted.rewrites {
        for table in &tables {
            ddl::rewrite_rows(session, table, token).await?;
        }
    }
    if wanted.analyzes {
        analyze(session, &tables, token).await?;
    }
    if wanted.cleans {
        for table in &tables {
            merge_changes(session, table, token).await?;
        }
        let options = options_of(session, token);
        block_in_place(|| session.database.engine.clean_with(&options))?;
    }
    Ok(())
}

/// Names of the tables that are meant.
async fn tables_of(session: &Session, wanted: &Maintenance) -> Result<Vec<String>, Error> {
    let snapshot = session.snapshot().await?;
    if wanted.tables.is_empty() {
        let definitions = snapshot.definitions();
        return Ok(definitions.iter().map(|one| one.name.clone()).collect());
    }
    let mut names = Vec::with_capacity(wanted.tables.len());
    for (name, columns) in &wanted.tables {
        let name = table_name(name)?;
        let definition = snapshot.definition(&name);
        let definition = definition.ok_or_else(|| no_such_table(&snapshot, &name))?;
        for column in columns.iter().map(folded) {
            if definition.column_index(&column).is_none() {
                let text = format!("column \"{column}\" of relation \"{name}\" does not exist");
                return Err(Error::new("42703", text));
            }
        }
        names.push(name);
    }
    Ok(names)
}

/// Takes samples of row tables. What column tables know of their columns is always up to date.
async fn analyze(session: &Session, tables: &[String], token: &CancelToken) -> Result<(), Error> {
    let mut writer = TableWriteGuard::begin(session, token).await?;
    let snapshot = writer.snapshot()?;
    let transaction = writer.transaction()?;
    for table in tables {
        if snapshot.row_table_entry(table).is_some() {
            block_in_place(|| transaction.analyze(table))?;
        }
    }
    writer.finish()
}

/// Merges the changes of a column table; others have none.
async fn merge_changes(session: &Session, table: &str, token: &CancelToken) -> Result<(), Error> {
    let engine = &session.database.engine;
    let definition = engine.snapshot().definition(table).cloned();
    if definition.is_none_or(|one| one.storage != TableStorage::Column) {
        return Ok(());
    }
    let options = options_of(session, token);
    loop {
        let all = MergeOptions::default();
        let report = block_in_place(|| merge(engine, table, all, options.clone()))?;
        if !report.is_postponed {
            return Ok(());
        }
        // Nothing is locked meanwhile: who changes definitions may wait for the table.
        block_in_place(|| engine.wait_for_definition(table, &options))?;
    }
}

/// How a transaction of the statement's own runs.
fn options_of(session: &Session, token: &CancelToken) -> TransactionOptions {
    TransactionOptions {
        cancel: Some(token.question()),
        work: Some(Arc::clone(token.work())),
        ..session.transaction_options(Isolation::ReadCommitted)
    }
}
