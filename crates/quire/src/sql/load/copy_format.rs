//! How the rows of a `COPY` with the client are written.

use quire_files::csv::{CsvFlag, CsvOptions, Delimiter};

/// In which of PostgreSQL's formats rows are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyKind {
    /// A line for each row, a backslash before what means something.
    Text,
    /// Comma-separated values.
    Csv,
    /// Numbers of bytes, and bytes.
    Binary,
}

/// How the rows of a `COPY` are written; all but `kind` does not concern the binary format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyFormat {
    /// The format.
    pub kind: CopyKind,
    /// Between two values.
    pub delimiter: u8,
    /// What NULL is written as.
    pub null: String,
    /// The first line has the names of the columns.
    pub header: bool,
    /// Around values, in CSV.
    pub quote: u8,
    /// Before quotes within them.
    pub escape: u8,
    /// Columns whose values are always quoted; `*` for all.
    pub force_quote: Vec<String>,
}

impl CopyFormat {
    pub(super) fn new(kind: CopyKind) -> Self {
        let is_csv = kind == CopyKind::Csv;
        Self {
            kind,
            delimiter: if is_csv { b',' } else { b'\t' },
            null: if is_csv { "" } else { "\\N" }.to_owned(),
            header: false,
            quote: b'"',
            escape: b'"',
            force_quote: Vec::new(),
        }
    }

    /// How the lines that come in are read; `None` for the binary format, which has none.
    pub(super) fn reading(&self) -> Option<CsvOptions> {
        let (quote, escape) = match self.kind {
            CopyKind::Text => (None, None),
            CopyKind::Csv => (
                Some(self.quote),
                Some(self.escape).filter(|escape| *escape != self.quote),
            ),
            CopyKind::Binary => return None,
        };
        Some(CsvOptions {
            delimiter: Delimiter::Byte(self.delimiter),
            quote,
            escape,
            backslashes: self.kind == CopyKind::Text,
            header: if self.header {
                CsvFlag::Yes
            } else {
                CsvFlag::No
            },
            null_string: self.null.clone(),
            trailing_delimiter: CsvFlag::No,
            ..CsvOptions::default()
        })
    }
}
