//! Where a statement ends.
//!
//! A semicolon ends a statement unless it stands in a string (`'…'`, `E'…'`), a quoted name
//! (`"…"`), a dollar-quoted string (`$tag$…$tag$`) or a comment (`-- …`, `/* … */`, which nests).
//! The scanner can be given a text piece by piece, cut at line ends, and goes over each byte once.

/// What the scanner is in the middle of.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Inside {
    Statement,
    /// `'…'`; in an `E'…'` a backslash takes the next character with it.
    String {
        has_escapes: bool,
    },
    QuotedName,
    LineComment,
    BlockComment {
        depth: usize,
    },
    /// With the whole tag, `$…$`.
    DollarString {
        tag: String,
    },
}

/// Reads a text up to the end of each statement.
#[derive(Debug, Clone)]
pub struct StatementScanner {
    inside: Inside,
    open_parentheses: usize,
    content_start: Option<usize>,
    position: usize,
}

/// What the scanner found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scanned {
    /// A statement ends before this offset; its semicolon is at the offset before.
    End(usize),
    /// The text ended first.
    More,
}

/// What an unfinished text still waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnfinishedText {
    /// Nothing was begun: blanks and comments only.
    Nothing,
    /// A semicolon.
    Semicolon,
    /// A closing parenthesis.
    Parenthesis,
    /// The end of a string, quoted name or block comment: line ends and blanks count.
    Quote,
    /// The line that ends the rows of a copy.
    Rows,
}

impl StatementScanner {
    /// At the start of a statement.
    pub fn new() -> Self {
        Self {
            inside: Inside::Statement,
            open_parentheses: 0,
            content_start: None,
            position: 0,
        }
    }

    /// Goes on where it stopped, to the end of the statement or of the text. `text` is what was
    /// given before, possibly with more at its end.
    pub fn scan(&mut self, text: &str) -> Scanned {
        let bytes = text.as_bytes();
        while let Some(&byte) = bytes.get(self.position) {
            let length = match &self.inside {
                Inside::Statement if byte == b';' => {
                    self.position += 1;
                    return Scanned::End(self.position);
                }
                Inside::Statement => self.step_in_statement(text, byte),
                _ => self.step_in_quotes(text, byte),
            };
            self.position += length;
        }
        Scanned::More
    }

    /// Offset of the first byte of the statement that is neither blank nor comment.
    pub fn content_start(&self) -> Option<usize> {
        self.content_start
    }

    /// What would end the statement.
    pub fn waiting(&self) -> UnfinishedText {
        match self.inside {
            Inside::Statement | Inside::LineComment if self.content_start.is_none() => {
                UnfinishedText::Nothing
            }
            Inside::Statement | Inside::LineComment if self.open_parentheses > 0 => {
                UnfinishedText::Parenthesis
            }
            Inside::Statement | Inside::LineComment => UnfinishedText::Semicolon,
            _ => UnfinishedText::Quote,
        }
    }

    /// Bytes taken by what begins at the position.
    fn step_in_statement(&mut self, text: &str, byte: u8) -> usize {
        let rest = &text.as_bytes()[self.position..];
        if rest.starts_with(b"--") {
            self.inside = Inside::LineComment;
            return 2;
        }
        if rest.starts_with(b"/*") {
            self.inside = Inside::BlockComment { depth: 1 };
            return 2;
        }
        if byte.is_ascii_whitespace() {
            return 1;
        }
        self.content_start.get_or_insert(self.position);
        match byte {
            b'(' => self.open_parentheses += 1,
            b')' => self.open_parentheses = self.open_parentheses.saturating_sub(1),
            b'\'' => {
                let has_escapes = self.follows_escape_letter(text);
                self.inside = Inside::String { has_escapes };
            }
            b'"' => self.inside = Inside::QuotedName,
            b'$' if !self.follows_name(text, self.position) => {
                if let Some(tag) = dollar_tag(&text[self.position..]) {
                    self.inside = Inside::DollarString {
                        tag: tag.to_owned(),
                    };
                    return tag.len();
                }
            }
            _ => {}
        }
        1
    }

    fn step_in_quotes(&mut self, text: &str, byte: u8) -> usize {
        let rest = &text.as_bytes()[self.position..];
        match &mut self.inside {
            Inside::String { has_escapes: true } if byte == b'\\' => return 2.min(rest.len()),
            Inside::String { .. } if byte == b'\'' => {
                if rest.starts_with(b"''") {
                    return 2;
                }
                self.inside = Inside::Statement;
            }
            Inside::QuotedName if byte == b'"' => self.inside = Inside::Statement,
            Inside::LineComment if byte == b'\n' => self.inside = Inside::Statement,
            Inside::BlockComment { depth } if rest.starts_with(b"/*") => {
                *depth += 1;
                return 2;
            }
            Inside::BlockComment { depth } if rest.starts_with(b"*/") => {
                *depth -= 1;
                if *depth == 0 {
                    self.inside = Inside::Statement;
                }
                return 2;
            }
            Inside::DollarString { tag } if rest.starts_with(tag.as_bytes()) => {
                let length = tag.len();
                self.inside = Inside::Statement;
                return length;
            }
            _ => {}
        }
        1
    }

    /// Whether the quote at the position belongs to `E'…'`.
    fn follows_escape_letter(&self, text: &str) -> bool {
        let Some(letter) = self.position.checked_sub(1) else {
            return false;
        };
        matches!(text.as_bytes()[letter], b'e' | b'E') && !self.follows_name(text, letter)
    }

    /// Whether the byte before `position` belongs to a name or number of this statement.
    fn follows_name(&self, text: &str, position: usize) -> bool {
        let Some(before) = position.checked_sub(1) else {
            return false;
        };
        let byte = text.as_bytes()[before];
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
    }
}

/// The `$…$` at the start of the text: a name or nothing between two dollar signs.
fn dollar_tag(text: &str) -> Option<&str> {
    let end = text[1..].find('$')? + 1;
    let name = &text[1..end];
    let is_name = !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then(|| &text[..=end])
}

#[cfg(test)]
mod tests;
