//! What a token of `sqlparser` says, and where it stands.

use datafusion::sql::sqlparser::tokenizer::{Location, Token};
use quire_error::Position;

/// The lower-case text of an unquoted word, else nothing.
pub(crate) fn word(token: &Token) -> String {
    match token {
        Token::Word(word) if word.quote_style.is_none() => word.value.to_ascii_lowercase(),
        _ => String::new(),
    }
}

/// Where a token stands; the tokenizer says line 0 when it does not know.
pub(crate) fn position(location: Location) -> Option<Position> {
    (location.line > 0).then_some(Position {
        line: location.line,
        column: location.column,
    })
}
