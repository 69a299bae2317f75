//! The one error of this crate: what went wrong, where, and what to do.

mod from_engine;
mod from_files;
mod from_parser;
mod from_plan;
mod from_planner;
mod from_rows;
mod planner_words;
mod values;

pub use from_parser::RECURSION_LIMIT;
pub use from_planner::closest;
pub use planner_words::in_sql;

use std::fmt;
use std::num::NonZeroU32;

/// A place in the text of a statement; both count from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line of the statement's text.
    pub line: u64,
    /// Column within the line.
    pub column: u64,
}

/// Why a statement failed. Nothing of a failed statement remains in the database.
///
/// `Display` prints `ERROR: message`, and below it the position, detail and hint where known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    sqlstate: &'static str,
    message: String,
    detail: Option<String>,
    hint: Option<String>,
    position: Option<Position>,
    record_line: Option<NonZeroU32>,
}

impl Error {
    pub fn new(sqlstate: &'static str, message: impl Into<String>) -> Self {
        Self {
            sqlstate,
            message: message.into(),
            detail: None,
            hint: None,
            position: None,
            record_line: None,
        }
    }

    /// `42P01`, with the position still to be added.
    pub fn unknown_table(name: &str) -> Self {
        Self::new("42P01", format!("table \"{name}\" does not exist"))
    }

    /// `23514`: a row makes a CHECK constraint false.
    pub fn check_violation(table: &str, constraint: &str, condition: &str) -> Self {
        let text =
            format!("new row for relation \"{table}\" violates check constraint \"{constraint}\"");
        Self::new("23514", text).with_detail(format!("It must satisfy: {condition}"))
    }

    /// `23502`: NULL where there must be a value.
    pub fn null_in(table: &str, column: &str) -> Self {
        let text = format!(
            "null value in column \"{column}\" of relation \"{table}\" violates not-null constraint"
        );
        Self::new("23502", text)
    }

    /// `22003`: a decimal of more digits than its column has.
    pub fn numeric_overflow(column: &str, sql_type: quire_tables::SqlType) -> Self {
        let text =
            format!("numeric field overflow: value in column \"{column}\" does not fit {sql_type}");
        Self::new("22003", text)
    }

    /// `22021`: a text has no such character.
    pub fn nul_character() -> Self {
        let text = "invalid byte sequence for encoding \"UTF8\": 0x00";
        Self::new("22021", text)
    }

    /// `57014`: the caller cancelled the statement.
    pub fn cancelled() -> Self {
        Self::new("57014", "canceling statement due to user request")
    }

    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn at(mut self, position: Option<Position>) -> Self {
        self.position = self.position.or(position);
        self
    }

    /// The error is that of a record on this line of what is read.
    pub fn in_record(mut self, line: u64) -> Self {
        self.record_line = u32::try_from(line).ok().and_then(NonZeroU32::new);
        self
    }

    /// The same error, found in the text of a view; a place in that is none in the statement.
    pub fn in_view(mut self, name: &str) -> Self {
        self.message = format!("in view \"{name}\": {}", self.message);
        self.position = None;
        self
    }

    /// The five-character code of the SQL standard and PostgreSQL, such as `42P01`.
    pub fn sqlstate(&self) -> &str {
        self.sqlstate
    }

    /// What went wrong, in one sentence.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Facts that help to find the cause.
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    /// What to do next.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// On which line of the rows that `COPY` reads, from 1, when one of them is wrong.
    pub fn record_line(&self) -> Option<u64> {
        self.record_line.map(|line| line.get().into())
    }

    /// Where in the statement's text, when known.
    pub fn position(&self) -> Option<Position> {
        self.position
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR: {}", self.message)?;
        if let Some(Position { line, column }) = self.position {
            write!(f, " (line {line}, column {column})")?;
        }
        if let Some(detail) = &self.detail {
            write!(f, "\nDETAIL: {detail}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nHINT: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
