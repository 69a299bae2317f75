//! What clients are told of settings, and the limits of time among them.

use std::time::Duration;

use quire::Connection;
use quire_text::temporal::TimeZoneRules;
use quire_text::time_limit::time_limit_of;

use crate::net::Sender;

/// Settings that never change, and settings that clients follow, by the names that PostgreSQL reports.
const FIXED: [(&str, &str); 3] = [
    ("server_encoding", "UTF8"),
    ("integer_datetimes", "on"),
    ("is_superuser", "on"),
];
const FOLLOWED: [&str; 7] = [
    "application_name",
    "client_encoding",
    "DateStyle",
    "IntervalStyle",
    "server_version",
    "standard_conforming_strings",
    "TimeZone",
];

/// The settings of one session, as far as the server heeds them.
#[derive(Debug, Default)]
pub(super) struct SessionSettings {
    reported: [String; FOLLOWED.len()],
    session_limit: Option<Duration>,
    transaction_limit: Option<Duration>,
}

impl SessionSettings {
    pub(super) fn announce_fixed(&self, sender: &mut Sender) {
        for (name, value) in FIXED {
            sender.output.parameter_status(name, value);
        }
    }

    /// Tells the client what has changed of the settings that it follows.
    pub(super) fn announce(&mut self, connection: &Connection, sender: &mut Sender) {
        for (name, known) in FOLLOWED.iter().zip(&mut self.reported) {
            let Ok(value) = connection.setting(name) else {
                continue;
            };
            if *known != value {
                if *name == "TimeZone" {
                    sender.output.zone =
                        TimeZoneRules::of_setting(&value).unwrap_or_default().into();
                }
                sender.output.parameter_status(name, &value);
                *known = value;
            }
        }
        let limit = |name| limit_of(&connection.setting(name).ok()?);
        self.session_limit = limit("idle_session_timeout");
        self.transaction_limit = limit("idle_in_transaction_session_timeout");
    }

    pub(super) fn silence_limit(&self, is_in_transaction: bool) -> Option<Duration> {
        match (
            is_in_transaction,
            self.transaction_limit,
            self.session_limit,
        ) {
            (true, Some(limit), _) => Some(limit),
            (_, _, limit) => limit,
        }
    }

    pub(super) fn has_transaction_limit(&self) -> bool {
        self.transaction_limit.is_some()
    }
}

/// Nothing for 0, which is no limit.
fn limit_of(text: &str) -> Option<Duration> {
    time_limit_of(text).filter(|limit| !limit.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_is_no_limit() {
        assert_eq!(limit_of("250"), Some(Duration::from_millis(250)));
        for none in ["0", "0s", "", "x"] {
            assert_eq!(limit_of(none), None, "{none}");
        }
    }
}
