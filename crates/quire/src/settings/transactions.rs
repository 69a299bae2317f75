//! Settings of transactions, under PostgreSQL's names.

use std::time::Duration;

use quire_error::Error;
use quire_kv::mvcc::{Isolation, Synchronous, TransactionOptions};
use quire_text::time_limit::time_limit_of;

/// How the transactions of a connection run.
#[derive(Debug, Clone, Default)]
pub(super) struct TransactionSettings {
    pub(super) isolation: Isolation,
    synchronous: Synchronous,
    lock_timeout: Option<Duration>,
    /// As it was set, and what that means.
    statement_timeout: Option<(String, Duration)>,
}

impl TransactionSettings {
    pub(super) const NAMES: [&str; 4] = [
        "default_transaction_isolation",
        "lock_timeout",
        "statement_timeout",
        "synchronous_commit",
    ];

    /// Changes a setting; false when it is another's.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<bool, Error> {
        match name {
            "default_transaction_isolation" => {
                self.isolation = isolation_of(value).ok_or_else(|| invalid(name, value))?;
            }
            "synchronous" | "synchronous_commit" => {
                self.synchronous = match value.to_lowercase().as_str() {
                    "on" | "full" | "true" | "local" | "remote_write" | "remote_apply" => {
                        Synchronous::Full
                    }
                    "normal" => Synchronous::Normal,
                    "off" | "false" => Synchronous::Off,
                    _ => return Err(invalid(name, value)),
                };
            }
            "lock_timeout" => {
                let duration = time_limit_of(value).ok_or_else(|| invalid(name, value))?;
                self.lock_timeout = (!duration.is_zero()).then_some(duration);
            }
            "statement_timeout" => {
                let duration = time_limit_of(value).ok_or_else(|| invalid(name, value))?;
                let given = (!duration.is_zero()).then(|| (value.to_owned(), duration));
                self.statement_timeout = given;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(super) fn show(&self, name: &str) -> Option<String> {
        Some(match name {
            "default_transaction_isolation" => isolation_name(self.isolation).to_owned(),
            "synchronous" | "synchronous_commit" => match self.synchronous {
                Synchronous::Full => "on".to_owned(),
                Synchronous::Normal => "normal".to_owned(),
                Synchronous::Off => "off".to_owned(),
            },
            "lock_timeout" => match self.lock_timeout {
                None => "0".to_owned(),
                Some(duration) => format!("{}ms", duration.as_millis()),
            },
            "statement_timeout" => match &self.statement_timeout {
                None => "0".to_owned(),
                Some((text, _)) => text.clone(),
            },
            _ => return None,
        })
    }

    /// How long a statement may take.
    pub(super) fn statement_limit(&self) -> Option<Duration> {
        let (_, duration) = self.statement_timeout.as_ref()?;
        Some(*duration)
    }

    pub(super) fn options(&self, isolation: Isolation) -> TransactionOptions {
        TransactionOptions {
            isolation,
            synchronous: self.synchronous,
            lock_timeout: self.lock_timeout,
            ..TransactionOptions::default()
        }
    }
}

/// As SQL spells it.
pub(crate) fn isolation_name(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadCommitted => "read committed",
        Isolation::RepeatableRead => "repeatable read",
        Isolation::Serializable => "serializable",
    }
}

fn isolation_of(text: &str) -> Option<Isolation> {
    Some(match text.to_lowercase().as_str() {
        "read committed" | "read uncommitted" => Isolation::ReadCommitted,
        "repeatable read" => Isolation::RepeatableRead,
        "serializable" => Isolation::Serializable,
        _ => return None,
    })
}

fn invalid(name: &str, value: &str) -> Error {
    Error::new(
        "22023",
        format!("invalid value for parameter \"{name}\": \"{value}\""),
    )
}
