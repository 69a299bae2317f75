//! What clients send: text and CSV as they come, but for the mark of the end, and the binary format as CSV.

use quire::arrow::datatypes::SchemaRef;
use quire::{CopyFormat, CopyKind};
use quire_text::temporal::TimeZoneRules;

use super::outgoing::SIGNATURE;
use crate::failure::ServerFailure;
use crate::types::{Parameter, PgType, WireCell, WireFormat, write_text};

/// Bytes of a row that has not come in full.
const ROW_BYTES_MAX: usize = 64 << 20;

/// Takes what comes piece by piece; pieces end anywhere.
pub(super) enum CopyTranslator {
    Csv(CsvEnd),
    Text(TextEnd),
    /// Becomes CSV.
    Binary(BinaryRows),
}

impl CopyTranslator {
    pub(super) fn new(format: &CopyFormat, columns: &SchemaRef) -> Self {
        match format.kind {
            CopyKind::Csv => Self::Csv(CsvEnd::default()),
            CopyKind::Text => Self::Text(TextEnd::default()),
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
            Self::Csv(end) => end.translate(bytes, csv),
            Self::Text(end) => end.translate(bytes, csv),
            Self::Binary(rows) => rows.translate(bytes, csv)?,
        }
        Ok(())
    }

    /// Whether the rows are lines that came.
    pub(super) fn has_lines(&self) -> bool {
        !matches!(self, Self::Binary(_))
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self, csv: &mut Vec<u8>) -> Result<(), ServerFailure> {
        match self {
            Self::Csv(end) => end.finish(csv),
            Self::Text(end) => end.finish(csv),
            Self::Binary(rows) if rows.is_over => {}
            Self::Binary(_) => {
                let text = "unexpected EOF in COPY data";
                return Err(ServerFailure::error("22P04", text));
            }
        }
        Ok(())
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

/// `\.` in a line of its own, behind which nothing is a row.
#[derive(Default)]
pub(super) struct TextEnd {
    /// The beginning of a line, as long as it may become the mark.
    held: Vec<u8>,
    is_within_line: bool,
    is_over: bool,
}

impl TextEnd {
    const MARKS: [&[u8]; 2] = [b"\\.\n", b"\\.\r\n"];

    fn translate(&mut self, bytes: &[u8], text: &mut Vec<u8>) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.is_over {
                return;
            }
            self.line_piece(piece, text);
        }
    }

    /// Takes a line, or a part of one.
    fn line_piece(&mut self, piece: &[u8], text: &mut Vec<u8>) {
        if !self.is_within_line {
            self.held.extend_from_slice(piece);
            let line = self.held.as_slice();
            self.is_over = Self::MARKS.contains(&line);
            if self.is_over || Self::MARKS.iter().any(|mark| mark.starts_with(line)) {
                return;
            }
            text.append(&mut self.held);
        } else {
            text.extend_from_slice(piece);
        }
        self.is_within_line = !piece.ends_with(b"\n");
    }

    fn finish(&mut self, text: &mut Vec<u8>) {
        let is_mark = matches!(self.held.as_slice(), b"\\." | b"\\.\r");
        if !self.is_over && !is_mark {
            text.append(&mut self.held);
        }
    }
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
    fn text_ends_with_the_mark_in_a_line_of_its_own() {
        let make = || CopyTranslator::Text(TextEnd::default());
        let text = |bytes: &[u8]| translated(make, bytes).unwrap();
        assert_eq!(text(b"1\t\\N\n\\.\nignored\n"), "1\t\\N\n");
        assert_eq!(text(b"1\n\\.\r\nignored\n"), "1\n");
        for end in [b"\\.".as_slice(), b"\\.\r", b"\\.\n", b""] {
            assert_eq!(text(&[b"1\n", end].concat()), "1\n");
        }
        for whole in ["a\\.\n", "\\.x\n", "\\", "\\\\.\n", "a\\", "", "\n\n"] {
            assert_eq!(text(whole.as_bytes()), whole);
        }
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
