//! What can go wrong while a file is read or written, said with file, line, column and value.

use std::fmt;
use std::io;
use std::sync::Arc;

/// Longest piece of a field that is repeated in a message, in characters.
const SHOWN_CHARACTERS: usize = 60;

/// An error of reading or writing a file; its text names the file and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The operating system refused a file operation.
    #[error("cannot {action} \"{file}\": {source}")]
    Io {
        /// What was attempted: "open", "read", "create", "write", "rename".
        action: &'static str,
        /// The file as the user named it.
        file: Arc<str>,
        /// The system's answer.
        source: io::Error,
    },
    /// The name belongs to a directory.
    #[error("\"{file}\" is a directory; name a file")]
    Directory {
        /// The file as the user named it.
        file: Arc<str>,
    },
    /// There is not one byte to read.
    #[error("\"{file}\" is empty: there is no header and no row to read")]
    Empty {
        /// The file as the user named it.
        file: Arc<str>,
    },
    /// An option contradicts another one or the file.
    #[error("{message}")]
    Option {
        /// The whole message.
        message: String,
    },
    /// One record of a text file is wrong.
    #[error(transparent)]
    Record(Box<BadRecord>),
    /// The file is no Parquet file, is damaged, or holds what Quire has no type for.
    #[error("\"{file}\"{}: {problem}", column.as_ref().map(|c| format!(", column \"{c}\"")).unwrap_or_default())]
    Parquet {
        /// The file as the user named it.
        file: Arc<str>,
        /// Column the problem belongs to, when it belongs to one.
        column: Option<String>,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A column's type cannot be written to the wanted format.
    #[error("column \"{column}\" of type {sql_type} cannot be written as {format}")]
    Unwritable {
        /// Column name.
        column: String,
        /// Its type.
        sql_type: String,
        /// "CSV" or "Parquet".
        format: &'static str,
    },
    /// The statement was cancelled.
    #[error("canceled by the user")]
    Cancelled,
    /// A defect of Quire itself; the file may be fine.
    #[error("internal error while reading \"{file}\": {detail}; please report it")]
    Internal {
        /// The file as the user named it.
        file: Arc<str>,
        /// What happened.
        detail: String,
    },
}

/// A record that cannot be taken, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRecord {
    /// The file as the user named it.
    pub file: Arc<str>,
    /// Physical line (1-based) on which the record begins.
    pub line: u64,
    /// The column, when the problem lies in one.
    pub column: Option<CsvColumnName>,
    /// What is wrong.
    pub problem: Problem,
}

/// A column as a message names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvColumnName {
    /// Position, 1-based.
    pub number: usize,
    /// Name; empty when the file names none.
    pub name: String,
}

/// The ways a record can be wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// More or fewer fields than columns.
    FieldCount {
        /// Fields a record must have.
        expected: usize,
        /// Fields this one has.
        found: usize,
    },
    /// Text that is no value of the column's type.
    Invalid {
        /// SQL name of the type.
        sql_type: String,
        /// The text, shortened.
        value: String,
    },
    /// A number or date that the column's type cannot hold.
    OutOfRange {
        /// SQL name of the type.
        sql_type: String,
        /// The text, shortened.
        value: String,
    },
    /// A text longer than the column's type allows.
    TextTooLong {
        /// SQL name of the type.
        sql_type: String,
        /// The text, shortened.
        value: String,
    },
    /// NULL in a column that is NOT NULL.
    Null,
    /// A quoted field that never ends.
    UnterminatedQuote {
        /// The text from its opening quote, shortened.
        value: String,
    },
    /// Text between a closing quote and the end of the field.
    TextAfterQuote {
        /// The field so far, shortened.
        value: String,
    },
    /// A record longer than the limit.
    TooLong {
        /// The limit, in bytes.
        limit_bytes: usize,
        /// How the field that runs over the limit begins, shortened.
        value: String,
    },
    /// Bytes that are no UTF-8.
    InvalidUtf8 {
        /// Offset of the first wrong byte in the file, 0-based.
        offset: u64,
        /// The field with the wrong bytes replaced, shortened.
        value: String,
    },
    /// A zero byte, which no text value may hold.
    NulByte {
        /// Offset of the byte in the file, 0-based.
        offset: u64,
    },
    /// More columns than a table may have.
    TooManyColumns {
        /// The limit.
        limit: usize,
        /// Columns the first record has.
        found: usize,
    },
}

impl fmt::Display for BadRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" line {}", self.file, self.line)?;
        match &self.column {
            Some(place) if place.name.is_empty() => write!(f, ", column {}", place.number)?,
            Some(place) => write!(f, ", column {} \"{}\"", place.number, place.name)?,
            None => {}
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for BadRecord {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FieldCount { expected, found } => {
                write!(f, "expected {expected} fields, found {found}")
            }
            Self::Invalid { sql_type, value } => write!(f, "\"{value}\" is not a valid {sql_type}"),
            Self::OutOfRange { sql_type, value } => {
                write!(f, "\"{value}\" is out of range for {sql_type}")
            }
            Self::TextTooLong { sql_type, value } => {
                write!(f, "\"{value}\" is too long for {sql_type}")
            }
            Self::Null => write!(f, "NULL in a column that is NOT NULL"),
            Self::UnterminatedQuote { value } => write!(
                f,
                "the quoted field that begins with {value} is not closed before the end of the file"
            ),
            Self::TextAfterQuote { value } => write!(
                f,
                "text follows the closing quote in {value}; double the quotes inside a quoted \
                 field, or set QUOTE or ESCAPE to what the file uses"
            ),
            Self::TooLong { limit_bytes, value } => write!(
                f,
                "the record is longer than {limit_bytes} bytes; the field that begins with {value} \
                 may lack its closing quote"
            ),
            Self::InvalidUtf8 { offset, value } => write!(
                f,
                "byte {offset} of the file is not valid UTF-8, in \"{value}\"; convert the file \
                 to UTF-8"
            ),
            Self::NulByte { offset } => write!(
                f,
                "byte {offset} of the file is zero, which text cannot hold; is it a text file \
                 in UTF-8?"
            ),
            Self::TooManyColumns { limit, found } => {
                write!(f, "{found} columns, more than the limit of {limit}")
            }
        }
    }
}

impl CopyError {
    /// The SQLSTATE that PostgreSQL gives for the same failure.
    pub fn sqlstate(&self) -> &'static str {
        match self {
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => "58P01",
                io::ErrorKind::PermissionDenied => "42501",
                io::ErrorKind::StorageFull => "53100",
                _ => "58030",
            },
            Self::Directory { .. } => "42809",
            Self::Empty { .. } | Self::Parquet { .. } => "22P04",
            Self::Option { .. } => "22023",
            Self::Record(bad) => match bad.problem {
                Problem::Invalid { .. } => "22P02",
                Problem::OutOfRange { .. } => "22003",
                Problem::Null => "23502",
                Problem::TextTooLong { .. } => "22001",
                Problem::InvalidUtf8 { .. } | Problem::NulByte { .. } => "22021",
                Problem::TooLong { .. } => "54000",
                Problem::TooManyColumns { .. } => "54011",
                _ => "22P04",
            },
            Self::Unwritable { .. } => "0A000",
            Self::Cancelled => "57014",
            Self::Internal { .. } => "XX000",
        }
    }

    pub(super) fn io(action: &'static str, file: &Arc<str>, source: io::Error) -> Self {
        Self::Io {
            action,
            file: Arc::clone(file),
            source,
        }
    }
}

impl From<BadRecord> for CopyError {
    fn from(bad: BadRecord) -> Self {
        Self::Record(Box::new(bad))
    }
}

/// The beginning of a field for a message: at most 60 characters, control characters escaped.
pub(super) fn shown(bytes: &[u8]) -> String {
    let head = &bytes[..bytes.len().min(SHOWN_CHARACTERS * 4)];
    let text = String::from_utf8_lossy(head);
    let mut out = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == SHOWN_CHARACTERS {
            out.push('…');
            return out;
        }
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    if head.len() < bytes.len() {
        out.push('…');
    }
    out
}
