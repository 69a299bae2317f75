//! Words, names and numbers of a statement.

use quire_text::sql_scanner::SqlScanner;

use crate::session::words::without_comments;

/// What is left of a statement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexer<'a> {
    rest: &'a str,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(sql: &'a str) -> Self {
        Self { rest: sql }.skipped()
    }

    /// The same behind blanks and comments.
    fn skipped(self) -> Self {
        Self {
            rest: without_comments(self.rest),
        }
    }

    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
        *self = self.skipped();
    }

    /// Takes this word, in any case.
    pub(super) fn word(&mut self, wanted: &str) -> bool {
        let found = self.word_length();
        let is_it = self
            .rest
            .get(..found)
            .is_some_and(|word| word.eq_ignore_ascii_case(wanted));
        if is_it {
            self.advance(found);
        }
        is_it
    }

    /// Takes the first of these words that is there; says which.
    pub(super) fn one_of(&mut self, wanted: &[&'static str]) -> Option<&'static str> {
        wanted.iter().copied().find(|word| self.word(word))
    }

    fn word_length(&self) -> usize {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let end = self.rest.find(|c: char| !is_part(c));
        end.unwrap_or(self.rest.len())
    }

    /// Takes a name: quoted, or folded to lower case.
    pub(super) fn name(&mut self) -> Option<String> {
        if self.rest.starts_with('"') {
            let quoted = SqlScanner::default().next(self.rest)?.place.end;
            let name = self.rest.get(1..quoted - 1)?.replace("\"\"", "\"");
            self.advance(quoted);
            return (!name.is_empty()).then_some(name);
        }
        let length = self.word_length();
        let name = self.rest.get(..length)?.to_lowercase();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        self.advance(length);
        Some(name)
    }

    /// Takes an integer with its sign.
    pub(super) fn integer(&mut self) -> Option<i64> {
        let unsigned = self.rest.trim_start_matches(['+', '-']);
        let sign = self.rest.len() - unsigned.len();
        let digits = unsigned.find(|c: char| !c.is_ascii_digit());
        let length = sign + digits.unwrap_or(unsigned.len());
        let number = self.rest.get(..length)?.parse().ok()?;
        self.advance(length);
        Some(number)
    }

    /// Takes this character.
    pub(super) fn symbol(&mut self, wanted: char) -> bool {
        let is_it = self.rest.starts_with(wanted);
        if is_it {
            self.advance(wanted.len_utf8());
        }
        is_it
    }

    /// Takes what stands before the parenthesis that closes one opened before; `None` if none does.
    pub(super) fn until_closed(&mut self) -> Option<&'a str> {
        let mut depth = 0_usize;
        for (element, part) in SqlScanner::tokens(self.rest) {
            match part {
                "(" | "[" => depth += 1,
                ")" if depth == 0 => {
                    let within = self.rest.get(..element.place.start);
                    self.advance(element.place.end);
                    return within;
                }
                ")" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        None
    }

    /// All that is left, without the semicolons at its end.
    pub(super) fn remaining(self) -> &'a str {
        self.rest.trim_end().trim_end_matches(';').trim_end()
    }

    pub(super) fn is_at_end(self) -> bool {
        self.remaining().is_empty()
    }

    /// The next few characters, for a message.
    pub(super) fn next_part(self) -> String {
        match self.word_length() {
            0 => self.rest.chars().take(1).collect(),
            length => self.rest.get(..length).unwrap_or_default().to_owned(),
        }
    }
}
