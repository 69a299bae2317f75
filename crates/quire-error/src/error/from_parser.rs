//! Errors of the parser.

use datafusion::sql::sqlparser::parser::ParserError;

use super::{Error, Position};

/// Nesting of expressions and queries that the parser accepts.
pub const RECURSION_LIMIT: usize = 256;

impl Error {
    /// `42601`: the statement's text breaks the grammar.
    pub fn syntax(message: impl Into<String>, position: Option<Position>) -> Self {
        Self::new("42601", message).at(position)
    }
}

/// `sqlparser` writes the place into its message; it is moved to where it belongs.
impl From<ParserError> for Error {
    fn from(error: ParserError) -> Self {
        match error {
            ParserError::RecursionLimitExceeded => {
                Self::new("54001", "the statement is nested too deeply").with_hint(format!(
                    "At most {RECURSION_LIMIT} levels of nesting can be parsed."
                ))
            }
            ParserError::TokenizerError(text) | ParserError::ParserError(text) => {
                let (message, position) = take_position(&text);
                Self::syntax(format!("syntax error: {message}"), position)
            }
        }
    }
}

fn take_position(text: &str) -> (&str, Option<Position>) {
    let parsed = text.rsplit_once(" at Line: ").and_then(|(message, place)| {
        let (line, column) = place.split_once(", Column: ")?;
        let position = Position {
            line: line.parse().ok()?,
            column: column.trim().parse().ok()?,
        };
        Some((message, Some(position)))
    });
    parsed.unwrap_or((text, None))
}
