//! `SET`, `SHOW` and `BEGIN` with its modes.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::sql::sqlparser::ast::{
    ContextModifier, Expr, Ident, Reset, Set, TransactionAccessMode, TransactionIsolationLevel,
    TransactionMode, Value,
};
use quire_error::Error;
use quire_kv::mvcc::Isolation;
use quire_sql::reject::not_supported;
use quire_text::temporal::{SECOND, TimeZoneRules, parse_interval};

use crate::outcome::{Completion, Outcome, Rows};
use crate::session::{Session, TransactionModes};
use crate::settings::isolation_name;

/// `SET name = value` and `SET TIME ZONE value`
pub(super) async fn set(session: &Session, set: Set) -> Result<Outcome, Error> {
    match set {
        Set::SingleAssignment {
            variable,
            values,
            hivevar: false,
            scope,
        } => {
            let name = variable.to_string();
            let is_local = matches!(scope, Some(ContextModifier::Local));
            if let [Expr::Identifier(word)] = values.as_slice()
                && word.quote_style.is_none()
                && word.value.eq_ignore_ascii_case("default")
            {
                session.reset(Some(&name))?;
            } else {
                let value = values.iter().map(text_of).collect::<Vec<_>>().join(", ");
                session.set(&name, &value, is_local)?;
            }
        }
        Set::SetTimeZone { local, value } => match zone_text(&value)? {
            Some(zone) => session.set("timezone", &zone, local)?,
            None => session.reset(Some("timezone"))?,
        },
        Set::SetNames { charset_name, .. } => {
            session.set("client_encoding", &charset_name.value, false)?;
        }
        Set::SetTransaction {
            modes,
            session: false,
            ..
        } => {
            let modes = modes_of(&modes)?;
            session.transaction.lock().await.set_modes(modes)?;
        }
        Set::SetTransaction {
            modes,
            session: true,
            ..
        } => {
            if let Some(isolation) = modes_of(&modes)?.isolation {
                session.settings().set_default_isolation(isolation);
            }
        }
        other => return Err(not_supported(other)),
    }
    Ok(Outcome::Done(Completion::tag("SET")))
}

/// What `SET TIME ZONE` says: a name, hours or an interval east of Greenwich; nothing for `LOCAL` and `DEFAULT`.
fn zone_text(value: &Expr) -> Result<Option<String>, Error> {
    match value {
        Expr::Identifier(word)
            if word.quote_style.is_none()
                && ["local", "default"].contains(&word.value.to_lowercase().as_str()) =>
        {
            Ok(None)
        }
        Expr::Interval(interval) => {
            let text = text_of(&interval.value);
            let east = parse_interval(&text).ok();
            let seconds = east.filter(|east| east.months == 0 && east.days == 0);
            let seconds = seconds.and_then(|east| i32::try_from(east.micros / SECOND).ok());
            let zone = seconds.map(|seconds| TimeZoneRules::east(seconds).name().to_owned());
            zone.map(Some).ok_or_else(|| {
                let message = format!("invalid value for parameter \"TimeZone\": \"{text}\"");
                Error::new("22023", message)
            })
        }
        other => Ok(Some(text_of(other))),
    }
}

/// `RESET name` and `RESET ALL`
pub(super) fn reset(session: &Session, reset: &Reset) -> Result<Outcome, Error> {
    match reset {
        Reset::ALL => session.reset(None)?,
        Reset::ConfigurationParameter(name) => session.reset(Some(&name.to_string()))?,
    }
    Ok(Outcome::Done(Completion::tag("RESET")))
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
pub(super) async fn show(session: &Session, variable: &[Ident]) -> Result<Outcome, Error> {
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
            let isolation = session.transaction.lock().await.isolation();
            let isolation = isolation.unwrap_or_else(|| session.settings().default_isolation());
            one(
                "transaction_isolation",
                isolation_name(isolation).to_owned(),
            )
        }
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
    let batch = RecordBatch::try_new(Arc::new(schema), arrays)?;
    Ok(Outcome::Rows(Rows::ready(batch).of_command("SHOW")))
}

/// `BEGIN` and `START TRANSACTION`
pub(super) async fn start_transaction(
    session: &Session,
    modes: &[TransactionMode],
) -> Result<Outcome, Error> {
    let modes = modes_of(modes)?;
    let default = session.settings().default_isolation();
    session.transaction.lock().await.begin(modes, default)?;
    session.note_transaction_start();
    Ok(Outcome::Done(Completion::tag("BEGIN")))
}

/// What the modes of a transaction say.
fn modes_of(spelled: &[TransactionMode]) -> Result<TransactionModes, Error> {
    let mut modes = TransactionModes::default();
    for mode in spelled {
        match mode {
            TransactionMode::AccessMode(mode) => {
                modes.is_read_only = Some(*mode == TransactionAccessMode::ReadOnly);
            }
            TransactionMode::IsolationLevel(level) => {
                modes.isolation = Some(match level {
                    // As in PostgreSQL, nobody reads what is not committed.
                    TransactionIsolationLevel::ReadUncommitted
                    | TransactionIsolationLevel::ReadCommitted => Isolation::ReadCommitted,
                    TransactionIsolationLevel::RepeatableRead
                    | TransactionIsolationLevel::Snapshot => Isolation::RepeatableRead,
                    TransactionIsolationLevel::Serializable => Isolation::Serializable,
                });
            }
        }
    }
    Ok(modes)
}
