//! What the first words of a statement tell.

/// A statement about transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransactionCommand {
    Begin,
    /// `COMMIT`, `ROLLBACK`; not `ROLLBACK TO`.
    End,
}

impl TransactionCommand {
    pub(super) fn of(sql: &str) -> Option<Self> {
        let mut words = words(sql);
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

fn words(sql: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    without_comments(sql)
        .split(move |c: char| !is_part(c))
        .filter(|word| !word.is_empty())
}

/// The text behind the comments and blanks at its start.
pub(super) fn without_comments(sql: &str) -> &str {
    let mut rest = sql.trim_start();
    loop {
        let comment_end = if rest.starts_with("--") {
            rest.find('\n')
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|end| end + 2)
        } else {
            return rest;
        };
        rest = comment_end
            .and_then(|end| rest.get(end..))
            .unwrap_or_default()
            .trim_start();
    }
}

/// The first word in lower case.
pub(super) fn first_word(sql: &str) -> String {
    words(sql).next().unwrap_or_default().to_ascii_lowercase()
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
        ] {
            assert_eq!(TransactionCommand::of(sql), expected, "{sql}");
        }
        assert_eq!(first_word(" Select*from t"), "select");
    }
}
