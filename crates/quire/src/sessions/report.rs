//! One connection as others see it.

use std::time::SystemTime;

use quire_error::activity::micros_of;
use quire_error::cancel::CancelHandle;

use super::ListedSession;

/// Times are microseconds since 1970.
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
        session: &dyn ListedSession,
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
            session.idle_state()
        };
        let transaction_start = session
            .transaction_start()
            .or(query_start.filter(|_| is_active));
        let state_change = if is_active { query_start } else { ended };
        let identity = session.identity();
        Self {
            number,
            user: identity.user,
            database: identity.database,
            application_name: session.application_name(),
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
