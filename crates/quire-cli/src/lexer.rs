//! Where a statement ends: at a semicolon outside quotes and comments.
//!
//! The scanner can be given a text piece by piece, cut at line ends, and goes over each byte once.

use quire_text::sql_scanner::{ElementKind, SqlScanner};

/// Reads a text up to the end of each statement.
#[derive(Debug, Clone, Default)]
pub struct StatementScanner {
    scanner: SqlScanner,
    open_parentheses: usize,
    content_start: Option<usize>,
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
        Self::default()
    }

    /// Goes on where it stopped, to the end of the statement or of the text. `text` is what was
    /// given before, possibly with more at its end.
    pub fn scan(&mut self, text: &str) -> Scanned {
        while let Some(element) = self.scanner.next(text) {
            if element.kind == ElementKind::Comment {
                continue;
            }
            let part = &text[element.place.clone()];
            if part == ";" {
                return Scanned::End(element.place.end);
            }
            self.content_start.get_or_insert(element.place.start);
            match part {
                "(" => self.open_parentheses += 1,
                ")" => self.open_parentheses = self.open_parentheses.saturating_sub(1),
                _ => {}
            }
        }
        let open = self.scanner.unterminated();
        if let Some(open) = open.filter(|open| open.kind != ElementKind::Comment) {
            self.content_start.get_or_insert(open.start);
        }
        Scanned::More
    }

    /// Offset of the first byte of the statement that is neither blank nor comment.
    pub fn content_start(&self) -> Option<usize> {
        self.content_start
    }

    /// What would end the statement.
    pub fn waiting(&self) -> UnfinishedText {
        if self.scanner.unterminated().is_some() {
            UnfinishedText::Quote
        } else if self.content_start.is_none() {
            UnfinishedText::Nothing
        } else if self.open_parentheses > 0 {
            UnfinishedText::Parenthesis
        } else {
            UnfinishedText::Semicolon
        }
    }
}

#[cfg(test)]
mod tests;
