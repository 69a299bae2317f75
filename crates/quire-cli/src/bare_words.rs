//! The words of a statement that stand by themselves: outside quotes, comments and parentheses.

use std::ops::Range;

use quire_text::sql_scanner::{ElementKind, SqlScanner};

/// A word and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BareWord<'t> {
    pub text: &'t str,
    pub place: Range<usize>,
}

impl BareWord<'_> {
    /// Whether it is this word of SQL, in either case.
    pub fn is(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }
}

/// Whether the rows of a `COPY` come from where the statement came from.
pub fn reads_rows(sql: &str) -> bool {
    let words = bare_words(sql);
    let is_copy = words.first().is_some_and(|word| word.is("copy"));
    is_copy
        && words
            .windows(2)
            .any(|pair| pair[0].is("from") && pair[1].is("stdin"))
}

/// The words in their order.
pub fn bare_words(text: &str) -> Vec<BareWord<'_>> {
    let (mut words, mut depth) = (Vec::new(), 0_usize);
    for (element, text) in SqlScanner::tokens(text) {
        match text {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ if depth == 0 && element.kind == ElementKind::Word => words.push(BareWord {
                text,
                place: element.place,
            }),
            _ => {}
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{bare_words, reads_rows};

    #[test]
    fn words_in_quotes_comments_and_parentheses_are_left_out() {
        let text = "Copy \"from stdin\" (from, to) /* /* to */ from */ FROM 'to' -- stdin\n stdin";
        let words: Vec<_> = bare_words(text).into_iter().map(|word| word.text).collect();
        assert_eq!(words, ["Copy", "FROM", "stdin"]);
        let words = bare_words("é 'open");
        assert_eq!((words.len(), words[0].place.clone()), (1, 0..2));
    }

    #[test]
    fn only_copy_from_stdin_reads_rows() {
        for sql in [
            "copy t from stdin",
            "COPY \"a b\" (x, y) FROM\n STDIN WITH (FORMAT csv)",
        ] {
            assert!(reads_rows(sql), "{sql}");
        }
        for sql in [
            "COPY t FROM 'stdin'",
            "COPY t TO STDOUT",
            "COPY (SELECT * FROM stdin) TO STDOUT",
            "SELECT * FROM stdin",
            "",
        ] {
            assert!(!reads_rows(sql), "{sql}");
        }
    }
}
