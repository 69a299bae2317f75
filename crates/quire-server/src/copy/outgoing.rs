//! Rows as clients take them.

use quire::arrow::datatypes::SchemaRef;
use quire::{CopyFormat, CopyKind};
use quire_text::temporal::TimeZoneRules;

use crate::types::{PgType, WireCell, write_binary, write_text};

/// What a binary copy begins with.
pub(super) const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xFF\r\n\0";

/// Writes rows in one of the formats.
pub(super) struct CopyRowWriter {
    format: CopyFormat,
    names: Vec<String>,
    types: Vec<PgType>,
    /// Columns that are quoted in CSV whatever is in them.
    is_forced: Vec<bool>,
    value: Vec<u8>,
}

impl CopyRowWriter {
    pub(super) fn new(format: CopyFormat, schema: &SchemaRef) -> Self {
        let fields = schema.fields().iter();
        let is_forced = |name: &String| {
            let forced = &format.force_quote;
            forced.iter().any(|known| known == "*" || known == name)
        };
        let names: Vec<String> = fields.clone().map(|field| field.name().clone()).collect();
        Self {
            is_forced: names.iter().map(is_forced).collect(),
            types: fields.map(|field| PgType::of(field.data_type())).collect(),
            names,
            format,
            value: Vec::new(),
        }
    }

    pub(super) fn column_count(&self) -> usize {
        self.types.len()
    }

    pub(super) fn is_binary(&self) -> bool {
        self.format.kind == CopyKind::Binary
    }

    /// What comes before the rows, if anything does.
    pub(super) fn write_start(&mut self, out: &mut Vec<u8>) {
        if self.is_binary() {
            out.extend_from_slice(SIGNATURE);
            out.extend([0; 8]);
        } else if self.format.header {
            let names = std::mem::take(&mut self.names);
            let is_forced = std::mem::take(&mut self.is_forced);
            self.write_row(out, names.iter().map(|name| WireCell::Text(name)));
            self.is_forced = is_forced;
        }
    }

    /// What comes behind them.
    pub(super) fn write_end(&self, out: &mut Vec<u8>) {
        if self.is_binary() {
            out.extend((-1_i16).to_be_bytes());
        }
    }

    pub(super) fn write_row<'c>(
        &mut self,
        out: &mut Vec<u8>,
        cells: impl ExactSizeIterator<Item = WireCell<'c>>,
    ) {
        if self.is_binary() {
            out.extend((cells.len() as u16).to_be_bytes());
        }
        let utc = TimeZoneRules::default();
        for (index, cell) in cells.enumerate() {
            if self.is_binary() {
                self.write_binary(out, &cell, index);
                continue;
            }
            if index > 0 {
                out.push(self.format.delimiter);
            }
            self.value.clear();
            match (write_text(&mut self.value, &cell, &utc), self.format.kind) {
                (false, _) => out.extend_from_slice(self.format.null.as_bytes()),
                (true, CopyKind::Csv) => self.write_csv(out, index),
                (true, _) => self.write_escaped(out),
            }
        }
        if !self.is_binary() {
            out.push(b'\n');
        }
    }

    fn write_binary(&mut self, out: &mut Vec<u8>, cell: &WireCell<'_>, index: usize) {
        self.value.clear();
        let pg_type = self.types.get(index).unwrap_or(&PgType::Text);
        if write_binary(&mut self.value, cell, pg_type) {
            out.extend((self.value.len() as i32).to_be_bytes());
            out.extend_from_slice(&self.value);
        } else {
            out.extend((-1_i32).to_be_bytes());
        }
    }

    fn write_csv(&self, out: &mut Vec<u8>, index: usize) {
        let CopyFormat { quote, escape, .. } = self.format;
        let special = [self.format.delimiter, quote, b'\n', b'\r'];
        let is_quoted = self.is_forced.get(index) == Some(&true)
            || self.value == self.format.null.as_bytes()
            || self.value == b"\\."
            || self.value.iter().any(|byte| special.contains(byte));
        if !is_quoted {
            out.extend_from_slice(&self.value);
            return;
        }
        out.push(quote);
        for byte in &self.value {
            if *byte == quote || *byte == escape {
                out.push(escape);
            }
            out.push(*byte);
        }
        out.push(quote);
    }

    fn write_escaped(&self, out: &mut Vec<u8>) {
        for byte in &self.value {
            let letter = match byte {
                8 => b'b',
                9 => b't',
                10 => b'n',
                11 => b'v',
                12 => b'f',
                13 => b'r',
                b'\\' => b'\\',
                byte if *byte == self.format.delimiter => *byte,
                byte => {
                    out.push(*byte);
                    continue;
                }
            };
            out.extend([b'\\', letter]);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use quire::arrow::datatypes::{DataType, Field, Schema};

    use super::*;

    fn written(format: CopyFormat, values: &[Option<&str>]) -> String {
        let fields = values
            .iter()
            .map(|_| Field::new("a b", DataType::Utf8, true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let mut writer = CopyRowWriter::new(format, &schema);
        let mut out = Vec::new();
        writer.write_start(&mut out);
        let cells = values
            .iter()
            .map(|value| value.map_or(WireCell::Null, WireCell::Text));
        writer.write_row(&mut out, cells);
        writer.write_end(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn csv() -> CopyFormat {
        CopyFormat {
            kind: CopyKind::Csv,
            delimiter: b',',
            null: String::new(),
            header: false,
            quote: b'"',
            escape: b'"',
            force_quote: Vec::new(),
        }
    }

    // What PostgreSQL 15 writes of these values.
    #[test]
    fn texts_are_escaped() {
        let text = CopyFormat {
            kind: CopyKind::Text,
            delimiter: b'\t',
            null: "\\N".to_owned(),
            ..csv()
        };
        assert_eq!(
            written(text, &[Some("a\tb\\"), None, Some(""), Some("x\ny")]),
            "a\\tb\\\\\t\\N\t\tx\\ny\n"
        );
    }

    #[test]
    fn csv_is_quoted_where_it_must_be() {
        assert_eq!(
            written(
                csv(),
                &[Some("a,b"), None, Some(""), Some("x\"y"), Some("z")]
            ),
            "\"a,b\",,\"\",\"x\"\"y\",z\n"
        );
        let forced = CopyFormat {
            header: true,
            force_quote: vec!["*".to_owned()],
            escape: b'\\',
            ..csv()
        };
        assert_eq!(written(forced, &[Some("\\\"")]), "a b\n\"\\\\\\\"\"\n");
    }
}
