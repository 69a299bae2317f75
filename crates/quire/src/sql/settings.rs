//! `SET`, `SHOW` and `BEGIN` with its modes.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, Set, TransactionAccessMode, TransactionIsolationLevel, TransactionMode, Value,
};

use super::reject::not_supported;
use crate::error::Error;
use crate::outcome::{Completion, Outcome, Rows};
use crate::session::Session;

/// `SET name = value` and `SET TIME ZONE value`
pub(super) async fn set(session: &Session, set: Set) -> Result<Outcome, Error> {
    match set {
        Set::SingleAssignment {
            variable,
            values,
            hivevar: false,
            ..
        } => {
            let value = values.iter().map(text_of).collect::<Vec<_>>().join(", ");
            session.settings().set(&variable.to_string(), &value)?;
        }
        Set::SetTimeZone { value, .. } => session.settings().set("timezone", &text_of(&value))?,
        Set::SetNames { charset_name, .. } => {
            session
                .settings()
                .set("client_encoding", &charset_name.value)?;
        }
        Set::SetTransaction { modes, .. } => check_modes(&modes)?,
        other => return Err(not_supported(other)),
    }
    Ok(Outcome::Done(Completion::tag("SET")))
}

/// The plain text of a setting's value: `off`, `'off'` and `"off"` are the same.
fn text_of(value: &Expr) -> String {
    match value {
        Expr::Identifier(ident) => ident.value.clone(),
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => text.clone(),
            other => other.to_string(),
        },
        other => other.to_string(),
    }
}

/// `SHOW name` and `SHOW ALL`
pub(super) fn show(session: &Session, variable: &[Ident]) -> Result<Outcome, Error> {
    let words: Vec<String> = variable
        .iter()
        .map(|word| word.value.to_lowercase())
        .collect();
    let name = words.join(".");
    match name.as_str() {
        "all" => {
            let (names, values): (Vec<_>, Vec<_>) = session.settings().all().into_iter().unzip();
            table(&[("name", names), ("setting", values)])
        }
        "time.zone" => one("timezone", session.settings().show("timezone")?),
        "transaction.isolation.level" | "transaction_isolation" => {
            one("transaction_isolation", "read committed".to_owned())
        }
        "server_version" => one("server_version", env!("CARGO_PKG_VERSION").to_owned()),
        _ => one(&name, session.settings().show(&name)?),
    }
}

fn one(name: &str, value: String) -> Result<Outcome, Error> {
    table(&[(name, vec![value])])
}

fn table(columns: &[(&str, Vec<String>)]) -> Result<Outcome, Error> {
    let field = |(name, _): &(&str, Vec<String>)| Field::new(*name, DataType::Utf8View, false);
    let array = |(_, values): &(&str, Vec<String>)| {
        Arc::new(StringViewArray::from_iter_values(values)) as ArrayRef
    };
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    let arrays = columns.iter().map(array).collect();
    Ok(Outcome::Rows(Rows::ready(RecordBatch::try_new(
        Arc::new(schema),
        arrays,
    )?)))
}

/// `BEGIN` and `START TRANSACTION`
pub(super) async fn start_transaction(
    session: &Session,
    modes: &[TransactionMode],
) -> Result<Outcome, Error> {
    check_modes(modes)?;
    session.transaction.lock().await.begin()?;
    Ok(Outcome::Done(Completion::tag("BEGIN")))
}

/// Transactions read what is committed; stricter promises are not made yet.
fn check_modes(modes: &[TransactionMode]) -> Result<(), Error> {
    for mode in modes {
        match mode {
            TransactionMode::AccessMode(TransactionAccessMode::ReadWrite)
            | TransactionMode::IsolationLevel(
                TransactionIsolationLevel::ReadCommitted
                | TransactionIsolationLevel::ReadUncommitted,
            ) => {}
            other => {
                return Err(not_supported(format!("transaction mode {other}"))
                    .with_hint("Transactions are READ COMMITTED, READ WRITE."));
            }
        }
    }
    Ok(())
}
