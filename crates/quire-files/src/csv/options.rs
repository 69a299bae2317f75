//! How a CSV file is written, as far as the user says it, and what to do with bad records.

use quire_text::temporal::TimeZoneRules;

/// What separates fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Delimiter {
    /// Found out from the beginning of the file: comma, semicolon, tab or vertical bar.
    #[default]
    Auto,
    /// This byte; ASCII, and neither a line end nor the quote.
    Byte(u8),
    /// Nothing: a line is one field.
    None,
}

/// A yes-or-no property of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CsvFlag {
    /// Found out from the beginning of the file.
    #[default]
    Auto,
    /// It is so.
    Yes,
    /// It is not so.
    No,
}

/// What happens to a record that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// The copy fails.
    #[default]
    Stop,
    /// The record is left out, counted, and the first few are reported.
    SkipRow,
}

/// The length of `VARCHAR(n)` or `CHAR(n)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextLimit {
    /// Most characters; blanks beyond them do not count, as in the SQL standard.
    pub characters: usize,
    /// SQL spelling of the type, for messages.
    pub sql_type: String,
}

impl TextLimit {
    pub(super) fn holds(&self, text: &str) -> bool {
        if text.len() <= self.characters {
            return true;
        }
        let beyond = text.char_indices().nth(self.characters);
        beyond.is_none_or(|(position, _)| text[position..].bytes().all(|byte| byte == b' '))
    }
}

/// Options of reading a CSV file.
#[derive(Debug, Clone)]
pub struct CsvOptions {
    /// Field separator.
    pub delimiter: Delimiter,
    /// Quote character, which opens a quoted field only at the beginning of a field; `None`:
    /// no character is special. Default `"`.
    pub quote: Option<u8>,
    /// Character that, before a quote or itself inside a quoted field, makes it plain. `None`:
    /// the quote itself (doubled quotes).
    pub escape: Option<u8>,
    /// Whether the first record holds names.
    pub header: CsvFlag,
    /// Whether a backslash, in or out of quotes, makes the next character plain or stands for another one with it (`\t`, `\n`, `\x41`):
    /// PostgreSQL's text format. It has no quotes, and a blank line is a record. Default false.
    pub backslashes: bool,
    /// Unquoted text that means NULL. Default: nothing at all.
    pub null_string: String,
    /// Also take quoted text equal to `null_string` as NULL. Default false.
    pub quoted_null: bool,
    /// Whether every line ends with one more delimiter (TPC-H's `.tbl` files).
    pub trailing_delimiter: CsvFlag,
    /// What to do with a bad record.
    pub on_error: OnError,
    /// Longest record, in bytes. Default 64 MiB; at most 256 MiB.
    pub record_bytes_max: usize,
    /// Most columns. Default 4,096.
    pub column_count_max: usize,
    /// Bytes looked at for delimiter and header. Default 1 MiB.
    pub sample_bytes: usize,
    /// Longest texts of the columns of a declared table, by position; shorter than the table: the
    /// rest has no limit.
    pub text_limits: Vec<Option<TextLimit>>,
    /// Where clocks show what a TIMESTAMPTZ without a zone says. Default UTC.
    pub zone: TimeZoneRules,
    /// Worker threads. Default: what the machine offers.
    pub thread_count: usize,
    /// Bytes of the file that one thread works on at a time. Default 1 MiB, so that
    /// text and arrays of a chunk fit the second-level cache; at most 64 MiB.
    pub chunk_bytes: usize,
}

/// Positions inside a chunk have 29 bits.
pub(super) const RECORD_BYTES_CEILING: usize = 256 << 20;
pub(super) const CHUNK_BYTES_CEILING: usize = 64 << 20;

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            delimiter: Delimiter::Auto,
            quote: Some(b'"'),
            escape: None,
            backslashes: false,
            header: CsvFlag::Auto,
            null_string: String::new(),
            quoted_null: false,
            trailing_delimiter: CsvFlag::Auto,
            on_error: OnError::Stop,
            record_bytes_max: 64 << 20,
            column_count_max: 4096,
            sample_bytes: 1 << 20,
            text_limits: Vec::new(),
            zone: TimeZoneRules::default(),
            thread_count: std::thread::available_parallelism().map_or(1, usize::from),
            chunk_bytes: 1 << 20,
        }
    }
}

/// How a file is written, with nothing left to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// Field separator; `None`: a line is one field.
    pub delimiter: Option<u8>,
    /// Quote character.
    pub quote: Option<u8>,
    /// Escape character inside quoted fields; equals `quote` when quotes are doubled.
    pub escape: Option<u8>,
    /// A backslash makes the next byte plain: PostgreSQL's text format, which has no quotes.
    pub backslashes: bool,
    /// Last byte of a record: line feed, or carriage return in files that have no line feed. A
    /// carriage return before a line feed belongs to the line end.
    pub record_end: u8,
}

impl Dialect {
    pub(super) fn is_delimiter(&self, byte: u8) -> bool {
        self.delimiter == Some(byte)
    }

    /// Whether the byte at a position follows an odd number of backslashes, so that it ends nothing. `bytes` begin with a record.
    pub(super) fn is_plain(&self, bytes: &[u8], at: usize) -> bool {
        let backslashes = || bytes[..at].iter().rev().take_while(|byte| **byte == b'\\');
        self.backslashes && backslashes().count() % 2 == 1
    }

    /// Whether a line with nothing in it is no record.
    pub(super) fn skips_blank_lines(&self) -> bool {
        self.delimiter.is_some() && !self.backslashes
    }

    pub(super) fn is_quote(&self, byte: u8) -> bool {
        self.quote == Some(byte)
    }
}
