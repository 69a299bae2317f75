//! Cuts a script into statements without parsing them.
//!
//! A semicolon ends a statement unless it stands inside a literal, a quoted name, a
//! dollar-quoted text or a comment. PostgreSQL's lexical rules: `''` and `""` stand for one quote,
//! backslashes escape only in `E'…'`, `/* */` nests.

use std::ops::Range;

use quire_error::{Error, Position};

/// The statements of `script`, each without its semicolon and without surrounding blanks.
/// Statements that are only comments are left out.
pub fn split(script: &str) -> Result<Vec<String>, Error> {
    let mut scanner = SplitScanner {
        text: script,
        at: 0,
    };
    let mut statements = Vec::new();
    let (mut start, mut has_content) = (0, false);
    while let Some(character) = scanner.peek() {
        if character == ';' {
            if has_content {
                statements.push(script[start..scanner.at].trim().to_owned());
            }
            scanner.bump();
            (start, has_content) = (scanner.at, false);
        } else {
            has_content |= scanner.skip_element()?;
        }
    }
    if has_content {
        statements.push(script[start..].trim().to_owned());
    }
    Ok(statements)
}

/// The parameters in a statement: where each stands, and its number. `$1` says its number; each `?` has the next.
pub fn parameters(statement: &str) -> Result<Vec<(Range<usize>, usize)>, Error> {
    let mut scanner = SplitScanner {
        text: statement,
        at: 0,
    };
    let mut found = Vec::new();
    let mut marks = 0;
    while let Some(character) = scanner.peek() {
        let start = scanner.at;
        let after = scanner.rest().get(1..).unwrap_or_default();
        let digits = after
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(after.len());
        if character == '?' {
            scanner.bump();
            marks += 1;
            found.push((start..scanner.at, marks));
        } else if let ('$', Ok(number)) = (character, after[..digits].parse()) {
            scanner.at += 1 + digits;
            found.push((start..scanner.at, number));
        } else {
            scanner.skip_element()?;
        }
    }
    Ok(found)
}

struct SplitScanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> SplitScanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.at += character.len_utf8();
        Some(character)
    }

    /// Skips a literal, name, comment, word or single character; says whether it was more than a
    /// blank or a comment.
    fn skip_element(&mut self) -> Result<bool, Error> {
        let rest = self.rest();
        if rest.starts_with("--") {
            self.at += rest.find('\n').unwrap_or(rest.len());
            return Ok(false);
        }
        if rest.starts_with("/*") {
            self.skip_block_comment()?;
            return Ok(false);
        }
        match self.peek() {
            Some(quote @ ('\'' | '"')) => self.skip_quoted(quote, false)?,
            Some('$') => self.skip_dollar_quoted()?,
            Some(character) if is_word_start(character) => self.skip_word()?,
            Some(character) => {
                self.bump();
                return Ok(!character.is_whitespace());
            }
            None => return Ok(false),
        }
        Ok(true)
    }

    fn skip_block_comment(&mut self) -> Result<(), Error> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            let rest = self.rest();
            if rest.starts_with("/*") {
                depth += 1;
                self.at += 2;
            } else if rest.starts_with("*/") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    return Ok(());
                }
            } else if self.bump().is_none() {
                return Err(self.unterminated("/* comment", start));
            }
        }
    }

    /// A word may be the `E` of an escape literal, or hold dollar signs.
    fn skip_word(&mut self) -> Result<(), Error> {
        let start = self.at;
        while self.peek().is_some_and(is_word_part) {
            self.bump();
        }
        let is_escape = self.text[start..self.at].eq_ignore_ascii_case("e");
        if is_escape && self.peek() == Some('\'') {
            self.skip_quoted('\'', true)?;
        }
        Ok(())
    }

    fn skip_quoted(&mut self, quote: char, has_escapes: bool) -> Result<(), Error> {
        let start = self.at;
        self.bump();
        while let Some(character) = self.bump() {
            if character == '\\' && has_escapes {
                self.bump();
            } else if character == quote {
                if self.peek() != Some(quote) {
                    return Ok(());
                }
                self.bump();
            }
        }
        let what = if quote == '"' {
            "quoted name"
        } else {
            "quoted text"
        };
        Err(self.unterminated(what, start))
    }

    /// `$tag$ … $tag$`; a dollar sign that opens no such text is an ordinary character.
    fn skip_dollar_quoted(&mut self) -> Result<(), Error> {
        let start = self.at;
        let after = &self.rest()[1..];
        let tag_bytes = after.find(|c| !is_tag_part(c)).unwrap_or(after.len());
        let starts_with_digit = after.starts_with(|c: char| c.is_ascii_digit());
        if !after[tag_bytes..].starts_with('$') || (tag_bytes > 0 && starts_with_digit) {
            self.bump();
            return Ok(());
        }
        let tag = &self.rest()[..tag_bytes + 2];
        self.at += tag.len();
        match self.rest().find(tag) {
            Some(bytes) => self.at += bytes + tag.len(),
            None => return Err(self.unterminated("dollar-quoted text", start)),
        }
        Ok(())
    }

    fn unterminated(&self, what: &str, start: usize) -> Error {
        Error::new("42601", format!("unterminated {what}")).at(Some(position_of(self.text, start)))
    }
}

/// Line and column of a byte offset.
pub(crate) fn position_of(text: &str, offset: usize) -> Position {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Position {
        line: before.matches('\n').count() as u64 + 1,
        column: before[line_start..].chars().count() as u64 + 1,
    }
}

fn is_word_start(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

fn is_word_part(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

fn is_tag_part(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parts(script: &str) -> Vec<String> {
        split(script).unwrap()
    }

    #[test]
    fn semicolons_end_statements() {
        assert_eq!(parts("select 1; select 2"), ["select 1", "select 2"]);
        assert_eq!(parts(" ;; select 1 ; "), ["select 1"]);
        assert_eq!(parts(""), Vec::<String>::new());
    }

    #[test]
    fn semicolons_inside_quotes_do_not() {
        assert_eq!(parts("select 'a;''b;'; x"), ["select 'a;''b;'", "x"]);
        assert_eq!(parts("select \"a;\"\"b\";x"), ["select \"a;\"\"b\"", "x"]);
        assert_eq!(parts(r"select E'it\';s'; x"), [r"select E'it\';s'", "x"]);
        assert_eq!(parts(r"select 'back\'; x"), [r"select 'back\'", "x"]);
        assert_eq!(parts("select $$a;b$$; x"), ["select $$a;b$$", "x"]);
        assert_eq!(parts("select $q$a;$$;$q$; x"), ["select $q$a;$$;$q$", "x"]);
        assert_eq!(parts("select a$b$c; x"), ["select a$b$c", "x"]);
        assert_eq!(parts("select $1; x"), ["select $1", "x"]);
    }

    #[test]
    fn comments_are_no_statements() {
        assert_eq!(
            parts("-- a;b\n;/* c; /* d */ ; */ ; select 1 -- e;"),
            ["select 1 -- e;"]
        );
    }

    #[test]
    fn parameters_are_found_outside_of_quotes() {
        let found = |text: &str| -> Vec<(String, usize)> {
            let found = parameters(text).unwrap().into_iter();
            found
                .map(|(range, number)| (text[range].to_owned(), number))
                .collect()
        };
        assert_eq!(
            found("select $2, '$3', a$4, \"$5\", $q$ $6 $q$ -- $7\n + $10"),
            [("$2".to_owned(), 2), ("$10".to_owned(), 10)]
        );
        assert_eq!(
            found("select ?, '?' where a = ?"),
            [("?".to_owned(), 1), ("?".to_owned(), 2)]
        );
        assert!(found("select 1").is_empty());
    }

    #[test]
    fn what_is_not_closed_is_named_with_its_place() {
        let error = split("select 1;\n select 'abc").unwrap_err();
        assert_eq!(error.sqlstate(), "42601");
        assert_eq!(error.position(), Some(Position { line: 2, column: 9 }));
        assert!(split("/* /* */").is_err());
        assert!(split("select $a$ $b$").is_err());
        assert!(split("select \"abc").is_err());
    }
}
