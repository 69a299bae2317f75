//! One connection as others see it.

use std::time::SystemTime;

use quire_error::activity::micros_of;
use quire_error::cancel::CancelHandle;

use crate::session::Session;
use crate::transaction::Transaction;

/// See the module. Times are microseconds since 1970.
#[derive(Debug, Clone)]
pub(crate) struct SessionReport {
    pub(crate) number: u32,
    pub(crate) user: String,
    pub(crate) database: String,
    pub(crate) application_name: String,
    /// As PostgreSQL calls it.
    pub(crate) state: &'static str,
    pub(crate) query: String,
    pub(crate) began: u64,
    pub(crate) transaction_start: Option<u64>,
    pub(crate) query_start: Option<u64>,
    pub(crate) state_change: u64,
    /// Whether it is one of a server.
    pub(crate) is_served: bool,
}

impl SessionReport {
    pub(super) fn new(
        number: u32,
        session: &Session,
        cancel: &CancelHandle,
        began: SystemTime,
        is_served: bool,
    ) -> Self {
        let (activity, ended) = cancel.activity();
        let began = micros_of(began);
        let query_start = activity.query_start.map(micros_of);
        let is_active = query_start.is_some() && ended.is_none();
        let state = if is_active {
            "active"
        } else {
            state_of(session)
        };
        let transaction_start = session
            .transaction_start()
            .or(query_start.filter(|_| is_active));
        let state_change = if is_active { query_start } else { ended };
        let settings = session.settings();
        let identity = settings.identity().clone();
        Self {
            number,
            user: identity.user,
            database: identity.database,
            application_name: settings.show("application_name").unwrap_or_default(),
            state,
            query: activity.query,
            began,
            transaction_start,
            query_start,
            state_change: state_change.unwrap_or(began),
            is_served,
        }
    }
}

/// What a connection is that runs nothing.
fn state_of(session: &Session) -> &'static str {
    let Ok(transaction) = session.transaction.try_lock() else {
        return "active";
    };
    match &*transaction {
        Transaction::Idle => "idle",
        Transaction::Begun { .. } | Transaction::Open(_) => "idle in transaction",
        Transaction::Aborted(_) => "idle in transaction (aborted)",
    }
}
