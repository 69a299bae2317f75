//! The words of a statement that stand by themselves: outside quotes, comments and parentheses.

use std::ops::Range;

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
    let bytes = text.as_bytes();
    let (mut words, mut at, mut depth) = (Vec::new(), 0, 0_usize);
    while let Some(&byte) = bytes.get(at) {
        let length = match byte {
            b'\'' | b'"' => quoted_length(&bytes[at..], byte),
            b'-' if bytes[at..].starts_with(b"--") => line_length(&bytes[at..]),
            b'/' if bytes[at..].starts_with(b"/*") => comment_length(&bytes[at..]),
            _ if is_of_word(byte) => {
                let rest = bytes[at..].iter();
                let length = rest.take_while(|byte| is_of_word(**byte)).count();
                let place = at..at + length;
                if depth == 0 {
                    let text = &text[place.clone()];
                    words.push(BareWord { text, place });
                }
                length
            }
            _ => {
                match byte {
                    b'(' => depth += 1,
                    b')' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                1
            }
        };
        at += length;
    }
    words
}

/// Bytes of other characters than ASCII's are of words, so that a word never ends within one.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

/// With both quotes, or to the end of the text. A doubled quote is two quoted texts in a row.
pub fn quoted_length(bytes: &[u8], quote: u8) -> usize {
    let rest = bytes.iter().skip(1);
    rest.take_while(|byte| **byte != quote).count() + 2
}

fn line_length(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| **byte != b'\n').count()
}

fn comment_length(bytes: &[u8]) -> usize {
    let end = bytes.windows(2).skip(2).position(|pair| pair == b"*/");
    end.map_or(bytes.len(), |end| end + 4)
}

#[cfg(test)]
mod tests {
    use super::{bare_words, reads_rows};

    #[test]
    fn words_in_quotes_comments_and_parentheses_are_left_out() {
        let text = "Copy \"from stdin\" (from, to) /* from */ FROM 'to' -- stdin\n stdin";
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
