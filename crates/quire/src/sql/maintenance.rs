//! `VACUUM` and `ANALYZE`.

use std::sync::Arc;

use datafusion::sql::sqlparser::ast::{Ident, ObjectName};
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;
use quire_kv::{mvcc::Isolation, mvcc::TransactionOptions};
use quire_tables::{MergeOptions, Storage};
use tokio::task::block_in_place;

use super::ddl;
use super::insert::{no_such_table, table_name};
use super::names::folded;
use super::parse::word;
use crate::cancel::CancelToken;
use crate::error::Error;
use crate::merging::merge;
use crate::session::Session;
use crate::transaction::Writer;

/// What to look after.
#[derive(Debug, PartialEq)]
pub(crate) struct Maintenance {
    /// Whether space of the file is given back.
    cleans: bool,
    /// Whether the rows of row tables are written again.
    rewrites: bool,
    /// Whether samples are taken.
    analyzes: bool,
    /// Tables, and columns of them; none means all tables.
    tables: Vec<(ObjectName, Vec<Ident>)>,
}

impl Maintenance {
    pub(crate) fn tag(&self) -> &'static str {
        if self.cleans { "VACUUM" } else { "ANALYZE" }
    }
}

/// Reads `VACUUM [(option, …) | FULL FREEZE VERBOSE ANALYZE] [table, …]` or `ANALYZE [VERBOSE] [table [(column, …)], …]`.
pub(super) fn parse(parser: &mut Parser) -> Result<Maintenance, ParserError> {
    let cleans = word(&parser.next_token().token) == "vacuum";
    let (mut analyzes, mut rewrites) = (!cleans, false);
    if parser.consume_token(&Token::LParen) {
        let options = parser.parse_comma_separated(parse_option)?;
        parser.expect_token(&Token::RParen)?;
        let has = |wanted: &str| options.iter().any(|(name, is_on)| name == wanted && *is_on);
        analyzes |= has("analyze");
        rewrites = has("full");
    } else {
        loop {
            match word(&parser.peek_token().token).as_str() {
                "analyze" | "analyse" => analyzes = true,
                "full" if cleans => rewrites = true,
                "freeze" if cleans => {}
                "verbose" => {}
                _ => break,
            }
            parser.next_token();
        }
    }
    let tables = match parser.peek_token().token {
        Token::EOF | Token::SemiColon => Vec::new(),
        _ => parser.parse_comma_separated(parse_table)?,
    };
    Ok(Maintenance {
        cleans,
        rewrites,
        analyzes,
        tables,
    })
}

fn parse_option(parser: &mut Parser) -> Result<(String, bool), ParserError> {
    let name = folded(&parser.parse_identifier()?);
    match name.as_str() {
        "full" | "freeze" | "verbose" | "analyze" | "skip_locked" => {}
        _ => {
            let text = format!("unrecognized option \"{name}\"");
            return Err(ParserError::ParserError(text));
        }
    }
    let is_on = match word(&parser.peek_token().token).as_str() {
        "" => true,
        value => {
            parser.next_token();
            !matches!(value, "off" | "false")
        }
    };
    Ok((name, is_on))
}

fn parse_table(parser: &mut Parser) -> Result<(ObjectName, Vec<Ident>), ParserError> {
    let name = parser.parse_object_name(false)?;
    let mut columns = Vec::new();
    if parser.consume_token(&Token::LParen) {
        columns = parser.parse_comma_separated(Parser::parse_identifier)?;
        parser.expect_token(&Token::RParen)?;
    }
    Ok((name, columns))
}

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
    let mut writer = Writer::begin(session, token).await?;
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
    if definition.is_none_or(|one| one.storage != Storage::Column) {
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
