//! A session in the list of sessions.

use super::context::Session;
use super::transaction::SessionTransaction;
use crate::sessions::ListedSession;
use crate::settings::Identity;

impl ListedSession for Session {
    fn identity(&self) -> Identity {
        self.settings().identity().clone()
    }

    fn application_name(&self) -> String {
        let settings = self.settings();
        settings.show("application_name").unwrap_or_default()
    }

    fn transaction_start(&self) -> Option<u64> {
        Session::transaction_start(self)
    }

    fn idle_state(&self) -> &'static str {
        let Ok(transaction) = self.transaction.try_lock() else {
            return "active";
        };
        match &*transaction {
            SessionTransaction::Idle => "idle",
            SessionTransaction::Begun { .. } | SessionTransaction::Open(_) => "idle in transaction",
            SessionTransaction::Aborted(_) => "idle in transaction (aborted)",
        }
    }
}
