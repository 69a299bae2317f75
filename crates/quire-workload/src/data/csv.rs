//! Rows as lines of a CSV file.

use crate::{SqlValue, WorkloadRowSink};
use std::io::{self, Write};

/// Writes rows in the format that [`Target::load`](crate::Target::load) describes; lines end with a line feed.
pub(super) struct CsvRowSink<W: Write> {
    out: W,
    /// One line; kept, so that it is allocated once.
    line: String,
    field: String,
    rows: u64,
    bytes: u64,
}

impl<W: Write> CsvRowSink<W> {
    /// A sink that writes to `out`, a line with one call.
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            line: String::new(),
            field: String::new(),
            rows: 0,
            bytes: 0,
        }
    }

    /// Rows so far.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Bytes so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What was written to; it is not flushed.
    pub(super) fn into_inner(self) -> W {
        self.out
    }

    fn push(&mut self, value: &SqlValue) {
        use std::fmt::Write as _;
        match value {
            SqlValue::Null => {}
            SqlValue::Text(text) if needs_quotes(text) => push_quoted(&mut self.line, text),
            SqlValue::Text(text) => self.line.push_str(text),
            // Numbers and times have no character that needs quotes.
            other => {
                self.field.clear();
                let _ = write!(self.field, "{other}");
                self.line.push_str(&self.field);
            }
        }
    }
}

impl<W: Write> WorkloadRowSink for CsvRowSink<W> {
    fn row(&mut self, values: &[SqlValue]) -> io::Result<()> {
        self.line.clear();
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                self.line.push(',');
            }
            self.push(value);
        }
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes())?;
        self.rows += 1;
        self.bytes += self.line.len() as u64;
        Ok(())
    }
}

/// An empty text is not NULL. A line of `\.` ends the data for `COPY` of PostgreSQL before version 18.
fn needs_quotes(text: &str) -> bool {
    text.is_empty() || text.starts_with("\\.") || text.contains([',', '"', '\n', '\r'])
}

fn push_quoted(line: &mut String, text: &str) {
    line.push('"');
    for character in text.chars() {
        if character == '"' {
            line.push('"');
        }
        line.push(character);
    }
    line.push('"');
}

#[cfg(test)]
mod tests {
    use super::CsvRowSink;
    use crate::{SeededRandom, SqlValue, WorkloadRowSink};

    /// Fields of each line; `None` is an empty field without quotes. A reader of its own, a state machine by character.
    fn read(text: &str) -> Vec<Vec<Option<String>>> {
        let (mut rows, mut row) = (Vec::new(), Vec::new());
        let mut characters = text.chars().peekable();
        while characters.peek().is_some() {
            let mut field = String::new();
            let is_quoted = characters.next_if_eq(&'"').is_some();
            let end = loop {
                match characters.next().expect("a line ends with a line feed") {
                    '"' if is_quoted => match characters.next().expect("a line feed") {
                        '"' => field.push('"'),
                        end => break end,
                    },
                    end @ (',' | '\n') if !is_quoted => break end,
                    other => field.push(other),
                }
            };
            row.push((is_quoted || !field.is_empty()).then_some(field));
            match end {
                ',' => {}
                '\n' => rows.push(std::mem::take(&mut row)),
                other => panic!("{other:?} behind a quote in {text:?}"),
            }
        }
        rows
    }

    fn written(rows: &[Vec<SqlValue>]) -> String {
        let mut sink = CsvRowSink::new(Vec::new());
        for row in rows {
            sink.row(row).unwrap();
        }
        assert_eq!(sink.rows(), rows.len() as u64);
        let bytes = sink.bytes();
        let text = String::from_utf8(sink.into_inner()).unwrap();
        assert_eq!(bytes, text.len() as u64);
        text
    }

    #[test]
    fn null_and_an_empty_text_differ() {
        let text = written(&[vec![
            SqlValue::Null,
            SqlValue::text(""),
            SqlValue::Integer(-5),
        ]]);
        assert_eq!(text, ",\"\",-5\n");
    }

    #[test]
    fn values_of_all_kinds_come_back() {
        let decimal = SqlValue::Decimal {
            unscaled: -1_205,
            scale: 2,
        };
        let row = vec![
            SqlValue::Integer(i64::MIN),
            SqlValue::Double(0.1),
            decimal,
            SqlValue::Date(0),
            SqlValue::Timestamp(1_000_001),
            SqlValue::text("a \"quoted\", text\r\nwith lines"),
            SqlValue::text("\\."),
            SqlValue::text(" spaces "),
            SqlValue::text("NULL"),
            SqlValue::text("é ⇒ 🦀"),
            SqlValue::Null,
        ];
        let expected: [Option<&str>; 11] = [
            Some("-9223372036854775808"),
            Some("0.1"),
            Some("-12.05"),
            Some("1970-01-01"),
            Some("1970-01-01 00:00:01.000001"),
            Some("a \"quoted\", text\r\nwith lines"),
            Some("\\."),
            Some(" spaces "),
            Some("NULL"),
            Some("é ⇒ 🦀"),
            None,
        ];
        let expected: Vec<Option<String>> = expected
            .map(|text| text.map(str::to_owned))
            .into_iter()
            .collect();
        let text = written(&[row.clone(), row]);
        assert_eq!(read(&text), [expected.clone(), expected]);
        assert!(text.contains("\"\\.\""));
    }

    #[test]
    fn any_texts_come_back() {
        let seed = 11;
        let mut random = SeededRandom::new(seed);
        let pieces = ["", "a", ",", "\"", "\n", "\r", "\\.", " ", "ß"];
        let mut rows = Vec::new();
        for _ in 0..500 {
            let row = (0..3).map(|_| {
                let count = random.below(6);
                let text: String = (0..count).map(|_| *random.pick(&pieces)).collect();
                random.happens(0.8).then_some(text)
            });
            rows.push(row.collect::<Vec<Option<String>>>());
        }
        let values: Vec<Vec<SqlValue>> = rows
            .iter()
            .map(|row| {
                row.iter()
                    .map(|text| text.as_ref().map_or(SqlValue::Null, SqlValue::text))
                    .collect()
            })
            .collect();
        assert_eq!(read(&written(&values)), rows, "seed {seed}");
    }
}
