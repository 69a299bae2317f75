//! What the first words of a statement tell.

/// A statement about transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    Begin,
    /// `COMMIT`, `ROLLBACK`; not `ROLLBACK TO`.
    End,
}

impl Control {
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

/// The name behind `DEALLOCATE`, if that is the statement; none for all.
pub(super) fn deallocated(sql: &str) -> Option<Option<String>> {
    let rest = without_comments(sql);
    let (word, mut rest) = rest.split_once(char::is_whitespace)?;
    if !word.eq_ignore_ascii_case("deallocate") {
        return None;
    }
    if let Some((word, behind)) = rest.trim_start().split_once(char::is_whitespace)
        && word.eq_ignore_ascii_case("prepare")
    {
        rest = behind;
    }
    let name = rest.trim().trim_end_matches(';').trim_end();
    let quoted = name
        .strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'));
    Some(match quoted {
        Some(quoted) => Some(quoted.replace("\"\"", "\"")),
        None if name.eq_ignore_ascii_case("all") => None,
        None => Some(name.to_ascii_lowercase()),
    })
}

fn words(sql: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    without_comments(sql)
        .split(move |c: char| !is_part(c))
        .filter(|word| !word.is_empty())
}

/// The text behind the comments and blanks at its start.
fn without_comments(sql: &str) -> &str {
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
            ("BEGIN", Some(Control::Begin)),
            ("-- x\n /* y */ start transaction;", Some(Control::Begin)),
            ("commit;", Some(Control::End)),
            ("END", Some(Control::End)),
            ("rollback to savepoint a", None),
            ("select 1", None),
            ("", None),
            ("/* open", None),
        ] {
            assert_eq!(Control::of(sql), expected, "{sql}");
        }
        assert_eq!(first_word(" Select*from t"), "select");
    }

    #[test]
    fn deallocate_has_a_name_or_means_all() {
        assert_eq!(deallocated("DEALLOCATE ALL;"), Some(None));
        let named = |name: &str| Some(Some(name.to_owned()));
        assert_eq!(deallocated("deallocate prepare S1"), named("s1"));
        assert_eq!(deallocated("deallocate \"a\"\"B\" ;"), named("a\"B"));
        assert_eq!(deallocated("deallocate"), None);
        assert_eq!(deallocated("select 1"), None);
    }
}
