//! What a connection does, or has done last.

use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes of a statement's text that are kept to be shown.
const QUERY_BYTES_MAX: usize = 1024;

/// Written by the connection itself, read by others that list connections.
#[derive(Debug, Clone, Default)]
pub struct Activity {
    /// The beginning of the statement's text.
    pub query: String,
    /// When it began; nothing before the first.
    pub query_start: Option<SystemTime>,
}

impl Activity {
    /// A statement begins. Allocates nothing when one as long has begun before.
    pub fn begin(&mut self, sql: &str) {
        self.query.clear();
        self.query.push_str(beginning_of(sql));
        self.query_start = Some(SystemTime::now());
    }
}

fn beginning_of(sql: &str) -> &str {
    let mut end = sql.len().min(QUERY_BYTES_MAX);
    while !sql.is_char_boundary(end) {
        end -= 1;
    }
    &sql[..end]
}

/// Microseconds since 1970.
pub fn micros_of(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_statements_are_cut_between_characters() {
        let sql = format!("{}é", "x".repeat(QUERY_BYTES_MAX - 1));
        let mut activity = Activity::default();
        activity.begin(&sql);
        assert_eq!(activity.query.len(), QUERY_BYTES_MAX - 1);
        activity.begin("SELECT 1");
        assert_eq!(activity.query, "SELECT 1");
    }
}
