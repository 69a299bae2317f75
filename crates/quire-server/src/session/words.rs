//! What the first words of a statement tell.

use quire_text::sql_scanner::{self, SqlScanner};

/// A statement about transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransactionCommand {
    Begin,
    /// `COMMIT`, `ROLLBACK`; not `ROLLBACK TO`.
    End,
}

impl TransactionCommand {
    pub(super) fn of(sql: &str) -> Option<Self> {
        let mut words = SqlScanner::words(sql);
        let first = words.next()?;
        let is_one_of = |list: &[&str]| list.iter().any(|word| first.eq_ignore_ascii_case(word));
        if is_one_of(&["begin", "start"]) {
            Some(Self::Begin)
        } else if is_one_of(&["commit", "end", "rollback", "abort"]) {
            let is_partial = words.any(|word| word.eq_ignore_ascii_case("to"));
            (!is_partial).then_some(Self::End)
        } else {
            None
        }
    }
}

/// The text behind the comments and blanks at its start.
pub(super) fn without_comments(sql: &str) -> &str {
    match SqlScanner::tokens(sql).next() {
        Some((element, _)) => &sql[element.place.start..],
        None => "",
    }
}

/// The first word in lower case.
pub(super) fn first_word(sql: &str) -> String {
    sql_scanner::first_word(sql).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_statements_are_known_by_their_words() {
        for (sql, expected) in [
            ("BEGIN", Some(TransactionCommand::Begin)),
            (
                "-- x\n /* y */ start transaction;",
                Some(TransactionCommand::Begin),
            ),
            ("commit;", Some(TransactionCommand::End)),
            ("END", Some(TransactionCommand::End)),
            ("rollback to savepoint a", None),
            ("select 1", None),
            ("", None),
            ("/* open", None),
            ("/* a /* b */ c */ begin", Some(TransactionCommand::Begin)),
            ("/* a /* b */ begin */ select 1", None),
            ("rollback -- to", Some(TransactionCommand::End)),
        ] {
            assert_eq!(TransactionCommand::of(sql), expected, "{sql}");
        }
        assert_eq!(first_word(" Select*from t"), "select");
    }
}
