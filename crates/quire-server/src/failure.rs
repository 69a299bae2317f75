//! Errors and notices sent to clients.

use std::borrow::Cow;

use quire::Position;

use crate::malformed::Malformed;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    Notice,
    Warning,
    /// The statement failed.
    Error,
    /// The connection ends.
    Fatal,
}

/// An error or a notice, with the fields of the protocol's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerFailure {
    pub(crate) severity: Severity,
    pub(crate) sqlstate: Cow<'static, str>,
    pub(crate) message: String,
    pub(crate) detail: Option<String>,
    pub(crate) hint: Option<String>,
    /// In characters from 1, in the text that the client sent.
    pub(crate) position: Option<usize>,
}

impl ServerFailure {
    fn new(severity: Severity, sqlstate: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity,
            sqlstate: Cow::Borrowed(sqlstate),
            message: message.into(),
            detail: None,
            hint: None,
            position: None,
        }
    }

    pub(crate) fn error(sqlstate: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, sqlstate, message)
    }

    pub(crate) fn fatal(sqlstate: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Fatal, sqlstate, message)
    }

    pub(crate) fn warning(sqlstate: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, sqlstate, message)
    }

    pub(crate) fn notice(message: impl Into<String>) -> Self {
        Self::new(Severity::Notice, "00000", message)
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// An error of the statement `sql`, which stands in what the client sent behind so many characters.
    pub(crate) fn of_statement(error: &quire::Error, sql: &str, characters_before: usize) -> Self {
        Self {
            severity: Severity::Error,
            sqlstate: Cow::Owned(error.sqlstate().to_owned()),
            message: error.message().to_owned(),
            detail: error.detail().map(str::to_owned),
            hint: error.hint().map(str::to_owned),
            position: error
                .position()
                .and_then(|position| character_of(sql, position))
                .map(|character| characters_before + character),
        }
    }
}

impl From<quire::Error> for ServerFailure {
    fn from(error: quire::Error) -> Self {
        Self::of_statement(&error, "", 0)
    }
}

/// The bytes of the message are lost, but its bounds were right: the connection goes on.
impl From<Malformed> for ServerFailure {
    fn from(malformed: Malformed) -> Self {
        Self::error("08P01", malformed.to_string())
    }
}

/// Which character of the text a place is, from 1.
fn character_of(sql: &str, position: Position) -> Option<usize> {
    let lines_before = usize::try_from(position.line.checked_sub(1)?).ok()?;
    let column = usize::try_from(position.column).ok()?;
    let mut lines = sql.split_inclusive('\n');
    let mut before = 0;
    for _ in 0..lines_before {
        before += lines.next()?.chars().count();
    }
    lines.next()?;
    Some(before + column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_become_numbers_of_characters() {
        let place = |line, column| character_of("sélect\n 1 +\nx", Position { line, column });
        assert_eq!(place(1, 1), Some(1));
        assert_eq!(place(2, 2), Some(9));
        assert_eq!(place(3, 1), Some(13));
        assert_eq!(place(4, 1), None);
        assert_eq!(place(0, 1), None);
    }
}
