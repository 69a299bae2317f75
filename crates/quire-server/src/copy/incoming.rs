//! What clients send, as CSV.

use quire::arrow::datatypes::SchemaRef;
use quire::{CopyFormat, CopyKind};
use quire_text::temporal::TimeZoneRules;

use super::line_map::LineMap;
use super::outgoing::SIGNATURE;
use crate::failure::ServerFailure;
use crate::types::{Parameter, PgType, WireCell, WireFormat, write_text};

/// Bytes of a row that has not come in full.
const ROW_BYTES_MAX: usize = 64 << 20;

/// Makes CSV of what comes, piece by piece; pieces end anywhere.
pub(super) enum CopyTranslator {
    /// It is CSV.
    Csv(CsvEnd),
    Text(TextLines),
    Binary(BinaryRows),
}

impl CopyTranslator {
    pub(super) fn new(format: &CopyFormat, columns: &SchemaRef) -> Self {
        match format.kind {
            CopyKind::Csv => Self::Csv(CsvEnd::default()),
            CopyKind::Text => Self::Text(TextLines {
                delimiter: format.delimiter,
                null: format.null.clone().into_bytes(),
                is_header_next: format.header,
                waiting: Vec::new(),
                searched: 0,
                is_over: false,
                lines: LineMap::default(),
            }),
            CopyKind::Binary => {
                let columns = columns.fields().iter().map(|field| {
                    let oid = PgType::of(field.data_type()).oid();
                    Parameter::new(oid, Some(field.data_type()))
                });
                Self::Binary(BinaryRows {
                    columns: columns.collect(),
                    waiting: Vec::new(),
                    row: 0,
                    is_begun: false,
                    is_over: false,
                })
            }
        }
    }

    /// Appends the rows that have come in full.
    pub(super) fn translate(
        &mut self,
        bytes: &[u8],
        csv: &mut Vec<u8>,
    ) -> Result<(), ServerFailure> {
        match self {
            Self::Csv(end) => {
                end.translate(bytes, csv);
                Ok(())
            }
            Self::Text(lines) => lines.translate(bytes, csv),
            Self::Binary(rows) => rows.translate(bytes, csv),
        }
    }

    /// The line that was translated last, from 1, where there are lines.
    pub(super) fn line(&self) -> Option<u64> {
        match self {
            Self::Text(text) => Some(text.lines.line),
            Self::Csv(_) | Self::Binary(_) => None,
        }
    }

    /// The line that came, from 1, of which a line of CSV was made.
    pub(super) fn line_of(&self, csv_line: u64) -> Option<u64> {
        match self {
            Self::Csv(_) => Some(csv_line),
            Self::Text(text) => text.lines.of(csv_line),
            Self::Binary(_) => None,
        }
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self, csv: &mut Vec<u8>) -> Result<(), ServerFailure> {
        match self {
            Self::Csv(end) => {
                end.finish(csv);
                Ok(())
            }
            Self::Text(lines) => {
                if !lines.is_over && !lines.waiting.is_empty() {
                    let line = std::mem::take(&mut lines.waiting);
                    lines.line(&line, csv)?;
                }
                Ok(())
            }
            Self::Binary(rows) if rows.is_over => Ok(()),
            Self::Binary(_) => Err(ServerFailure::error("22P04", "unexpected EOF in COPY data")),
        }
    }
}

fn too_long() -> ServerFailure {
    let text = format!("a row of COPY data is longer than {ROW_BYTES_MAX} bytes");
    ServerFailure::error("54000", text)
}

/// Writes a value in quotes, so that it is none of the words that mean something.
fn push_quoted(csv: &mut Vec<u8>, value: &[u8]) {
    csv.push(b'"');
    for byte in value {
        if *byte == b'"' {
            csv.push(b'"');
        }
        csv.push(*byte);
    }
    csv.push(b'"');
}

const NULL: &[u8] = b"\\N";

/// `\.` in a line of its own at the end: psql before 18 sends it with the rows, and servers before 18 left it out.
#[derive(Default)]
pub(super) struct CsvEnd {
    /// The last bytes, as long as they may be that line and the one that ends before it.
    held: Vec<u8>,
    /// Something was sent before them.
    is_begun: bool,
}

impl CsvEnd {
    /// The longest end: of the line before, the mark, and the line end.
    const BYTES_MAX: usize = 5;

    fn translate(&mut self, bytes: &[u8], csv: &mut Vec<u8>) {
        self.held.extend_from_slice(bytes);
        let ready = self.held.len().saturating_sub(Self::BYTES_MAX);
        self.is_begun |= ready > 0;
        csv.extend(self.held.drain(..ready));
    }

    fn finish(&mut self, csv: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        let line = held.strip_suffix(b"\n").unwrap_or(&held);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let before = line.strip_suffix(b"\\.");
        let is_alone = |before: &&[u8]| match before {
            [] => !self.is_begun,
            [.., last] => *last == b'\n',
        };
        csv.extend_from_slice(before.filter(is_alone).unwrap_or(&held));
    }
}

/// A line for each row.
pub(super) struct TextLines {
    delimiter: u8,
    null: Vec<u8>,
    is_header_next: bool,
    /// The line that has not come in full, and how far no end was found in it.
    waiting: Vec<u8>,
    searched: usize,
    /// `\.` has come.
    is_over: bool,
    lines: LineMap,
}

impl TextLines {
    fn translate(&mut self, bytes: &[u8], csv: &mut Vec<u8>) -> Result<(), ServerFailure> {
        let mut all = std::mem::take(&mut self.waiting);
        all.extend_from_slice(bytes);
        let mut start = 0;
        let mut from = self.searched;
        while let Some(found) = position_of(&all, from, b'\n') {
            from = found + 1;
            let line = all.get(start..found).unwrap_or_default();
            if ends_in_backslash(line) {
                // The line end is part of a value.
                continue;
            }
            self.line(line, csv)?;
            start = found + 1;
        }
        all.drain(..start);
        if all.len() > ROW_BYTES_MAX {
            return Err(too_long());
        }
        self.searched = all.len();
        self.waiting = all;
        Ok(())
    }

    fn line(&mut self, line: &[u8], csv: &mut Vec<u8>) -> Result<(), ServerFailure> {
        self.lines.came(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if std::mem::take(&mut self.is_header_next) || self.is_over {
            return Ok(());
        }
        if line == b"\\." {
            self.is_over = true;
            return Ok(());
        }
        let written = csv.len();
        let mut start = 0;
        let mut at = 0;
        loop {
            let byte = line.get(at).copied();
            if byte.is_some_and(|byte| byte != self.delimiter) {
                at += if byte == Some(b'\\') { 2 } else { 1 };
                continue;
            }
            let field = line.get(start..at.min(line.len())).unwrap_or_default();
            if start > 0 {
                csv.push(b',');
            }
            if field == self.null {
                csv.extend_from_slice(NULL)
            } else {
                push_quoted(csv, &unescaped(field)?)
            }
            if byte.is_none() {
                break;
            }
            at += 1;
            start = at;
        }
        csv.push(b'\n');
        self.lines.wrote(csv.get(written..).unwrap_or_default());
        Ok(())
    }
}

fn position_of(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.iter()
        .position(|byte| *byte == wanted)
        .map(|at| from + at)
}

fn ends_in_backslash(line: &[u8]) -> bool {
    let backslashes = line.iter().rev().take_while(|byte| **byte == b'\\');
    backslashes.count() % 2 == 1
}

/// A value without its backslashes.
fn unescaped(field: &[u8]) -> Result<Vec<u8>, ServerFailure> {
    let mut value = Vec::with_capacity(field.len());
    let mut bytes = field.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            value.push(byte);
            continue;
        }
        value.push(match bytes.next() {
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'v') => 11,
            Some(first @ b'0'..=b'7') => {
                let mut number = u32::from(first - b'0');
                for _ in 0..2 {
                    let digit = bytes.next_if(|byte| matches!(byte, b'0'..=b'7'));
                    number = digit.map_or(number, |digit| number * 8 + u32::from(digit - b'0'));
                }
                number as u8
            }
            Some(b'x') if bytes.peek().is_some_and(u8::is_ascii_hexdigit) => {
                let mut number = 0;
                for _ in 0..2 {
                    let digit = bytes.next_if(u8::is_ascii_hexdigit);
                    let digit = digit.and_then(|digit| char::from(digit).to_digit(16));
                    number = digit.map_or(number, |digit| number * 16 + digit);
                }
                number as u8
            }
            Some(other) => other,
            None => {
                return Err(ServerFailure::error(
                    "22P04",
                    "a value of COPY data ends in a backslash",
                ));
            }
        });
    }
    Ok(value)
}

/// Numbers of bytes, and bytes.
pub(super) struct BinaryRows {
    columns: Vec<Parameter>,
    waiting: Vec<u8>,
    row: u64,
    is_begun: bool,
    is_over: bool,
}

impl BinaryRows {
    fn translate(&mut self, bytes: &[u8], csv: &mut Vec<u8>) -> Result<(), ServerFailure> {
        let mut all = std::mem::take(&mut self.waiting);
        all.extend_from_slice(bytes);
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            let taken = match (self.is_over, self.is_begun) {
                (true, _) => {
                    let text = "received copy data after EOF marker";
                    return Err(ServerFailure::error("22P04", text));
                }
                (false, false) => self.header(rest)?,
                (false, true) => self.tuple(rest, csv)?,
            };
            let Some(behind) = taken.and_then(|taken| rest.get(taken..)) else {
                break;
            };
            rest = behind;
        }
        if rest.len() > ROW_BYTES_MAX {
            return Err(too_long());
        }
        self.waiting = rest.to_vec();
        Ok(())
    }

    /// How long the header is, if it has come in full.
    fn header(&mut self, bytes: &[u8]) -> Result<Option<usize>, ServerFailure> {
        let known = bytes.len().min(SIGNATURE.len());
        if bytes.get(..known) != SIGNATURE.get(..known) {
            let text = "COPY file signature not recognized";
            return Err(ServerFailure::error("22P04", text));
        }
        let Some(extension) = number_at(bytes, SIGNATURE.len() + 4) else {
            return Ok(None);
        };
        let extension = usize::try_from(extension).map_err(|_| invalid("header"))?;
        let total = SIGNATURE.len() + 8 + extension;
        if total > ROW_BYTES_MAX {
            return Err(invalid("header"));
        }
        if number_at(bytes, SIGNATURE.len()).is_some_and(|flags| flags & 0x0001_0000 != 0) {
            return Err(invalid("header: rows with numbers are not supported"));
        }
        self.is_begun = bytes.len() >= total;
        Ok(self.is_begun.then_some(total))
    }

    /// Writes a row, if it has come in full; says how long it is.
    fn tuple(&mut self, bytes: &[u8], csv: &mut Vec<u8>) -> Result<Option<usize>, ServerFailure> {
        let Some(count) = bytes.first_chunk::<2>() else {
            return Ok(None);
        };
        let count = i16::from_be_bytes(*count);
        if count == -1 {
            self.is_over = true;
            return Ok(Some(2));
        }
        if usize::try_from(count) != Ok(self.columns.len()) {
            let expected = self.columns.len();
            let text = format!("row field count is {count}, expected {expected}");
            return Err(self.at_row(ServerFailure::error("22P04", text)));
        }
        let (start, mut at) = (csv.len(), 2);
        for (index, column) in self.columns.iter().enumerate() {
            let Some(length) = number_at(bytes, at) else {
                csv.truncate(start);
                return Ok(None);
            };
            at += 4;
            if index > 0 {
                csv.push(b',');
            }
            let Ok(length) = usize::try_from(length) else {
                if length != -1 {
                    return Err(self.at_row(invalid("field size")));
                }
                csv.extend_from_slice(NULL);
                continue;
            };
            let Some(value) = at.checked_add(length).and_then(|end| bytes.get(at..end)) else {
                csv.truncate(start);
                return if length > ROW_BYTES_MAX {
                    Err(too_long())
                } else {
                    Ok(None)
                };
            };
            at += length;
            push_value(csv, column, value).map_err(|failure| self.at_row(failure))?;
        }
        csv.push(b'\n');
        self.row += 1;
        Ok(Some(at))
    }

    fn at_row(&self, mut failure: ServerFailure) -> ServerFailure {
        failure.message += &format!(" (row {} of COPY data)", self.row + 1);
        failure
    }
}

fn push_value(csv: &mut Vec<u8>, column: &Parameter, bytes: &[u8]) -> Result<(), ServerFailure> {
    let decoded = column.decode(WireFormat::Binary, Some(bytes));
    let (value, fitting) =
        decoded.map_err(|error| ServerFailure::error(error.sqlstate(), error.to_string()))?;
    let pg_type = PgType::of(fitting.as_ref().unwrap_or(column.data_type()));
    let mut text = Vec::new();
    write_text(
        &mut text,
        &WireCell::of_value(&value, &pg_type),
        &TimeZoneRules::default(),
    );
    push_quoted(csv, &text);
    Ok(())
}

fn invalid(what: &str) -> ServerFailure {
    ServerFailure::error("22P04", format!("invalid COPY {what}"))
}

fn number_at(bytes: &[u8], at: usize) -> Option<i32> {
    let number = bytes.get(at..)?.first_chunk::<4>()?;
    Some(i32::from_be_bytes(*number))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use quire::arrow::datatypes::{DataType, Field, Schema};

    use super::*;

    #[test]
    fn csv_may_end_with_the_mark_of_old_clients() {
        let translated = |pieces: &[&[u8]]| {
            let (mut end, mut csv) = (CsvEnd::default(), Vec::new());
            pieces
                .iter()
                .for_each(|piece| end.translate(piece, &mut csv));
            end.finish(&mut csv);
            String::from_utf8(csv).unwrap()
        };
        for whole in ["1,one\n\\.\n", "1,one\n\\.\r\n", "1,one\n\\."] {
            for at in 0..=whole.len() {
                let (left, right) = whole.as_bytes().split_at(at);
                assert_eq!(translated(&[left, right]), "1,one\n", "{whole:?} {at}");
            }
        }
        assert_eq!(translated(&[b"\\.\n"]), "");
        for kept in ["1,x\\.\n", "1,one\n", "abcdef\\.", "", "\\.x\n"] {
            assert_eq!(translated(&[kept.as_bytes()]), kept);
        }
    }

    fn text_lines() -> CopyTranslator {
        CopyTranslator::Text(TextLines {
            delimiter: b'\t',
            null: b"\\N".to_vec(),
            is_header_next: false,
            waiting: Vec::new(),
            searched: 0,
            is_over: false,
            lines: LineMap::default(),
        })
    }

    /// The same whatever the pieces are.
    fn translated(
        make: impl Fn() -> CopyTranslator,
        bytes: &[u8],
    ) -> Result<String, ServerFailure> {
        let mut whole = Vec::new();
        let mut translator = make();
        translator.translate(bytes, &mut whole)?;
        translator.finish(&mut whole)?;
        for size in 1..bytes.len().min(9) {
            let (mut pieces, mut translator) = (Vec::new(), make());
            for piece in bytes.chunks(size) {
                translator.translate(piece, &mut pieces)?;
            }
            translator.finish(&mut pieces)?;
            assert_eq!(pieces, whole, "pieces of {size}");
        }
        Ok(String::from_utf8(whole).unwrap())
    }

    #[test]
    fn lines_become_quoted_values() {
        let text = |bytes: &[u8]| translated(text_lines, bytes).unwrap();
        assert_eq!(text(b"1\t\\N\tx\n"), "\"1\",\\N,\"x\"\n");
        assert_eq!(text(b"a\"b\t\t\\\\N\n"), "\"a\"\"b\",\"\",\"\\N\"\n");
        assert_eq!(text(b"\\t\\101\\x42\\\\\r\nlast"), "\"\tAB\\\"\n\"last\"\n");
        assert_eq!(text(b"1\n\\.\nignored\n"), "\"1\"\n");
        assert_eq!(text(b"a\\\nb\n"), "\"a\nb\"\n");
        assert_eq!(text(b"\n"), "\"\"\n");
        assert_eq!(text(b""), "");
        assert!(translated(text_lines, b"a\\").is_err());
    }

    fn binary_rows() -> CopyTranslator {
        let fields = vec![
            Field::new("a", DataType::Int32, true),
            Field::new("b", DataType::Utf8View, true),
        ];
        let format = CopyFormat {
            kind: CopyKind::Binary,
            delimiter: b'\t',
            null: String::new(),
            header: false,
            quote: b'"',
            escape: b'"',
            force_quote: Vec::new(),
        };
        CopyTranslator::new(&format, &Arc::new(Schema::new(fields)))
    }

    #[test]
    fn binary_rows_become_quoted_values() {
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend([0; 8]);
        bytes.extend([0, 2, 0, 0, 0, 4, 0, 0, 0, 7, 0, 0, 0, 2, b'x', b'"']);
        bytes.extend([0, 2, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]);
        let begun = bytes.clone();
        bytes.extend([0xFF, 0xFF]);
        assert_eq!(
            translated(binary_rows, &bytes).unwrap(),
            "\"7\",\"x\"\"\"\n\\N,\"\"\n"
        );
        // The end is missing, or something is behind it.
        assert!(translated(binary_rows, &begun).is_err());
        bytes.push(0);
        assert!(translated(binary_rows, &bytes).is_err());
    }

    #[test]
    fn wrong_bytes_are_errors() {
        let with = |row: &[u8]| [SIGNATURE.as_slice(), &[0; 8], row].concat();
        for wrong in [
            b"PGCOPX".to_vec(),
            with(&[0, 3]),
            with(&[0, 2, 0, 0, 0, 3, 1, 2, 3]),
            with(&[0, 2, 0xFF, 0xFF, 0xFF, 0xFE]),
            with(&[0, 2, 0x7F, 0xFF, 0xFF, 0xFF]),
        ] {
            let error = translated(binary_rows, &wrong).unwrap_err();
            let known = ["22P04", "22P03", "54000"];
            assert!(known.contains(&error.sqlstate.as_ref()), "{wrong:?}");
        }
    }
}
