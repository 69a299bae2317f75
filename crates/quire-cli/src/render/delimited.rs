//! CSV and TSV: what COPY … TO writes, so that COPY … FROM reads it back unchanged.
//!
//! CSV: a field is quoted when it holds a comma, a quote, a line end or what stands for NULL, so
//! that an empty text (`""`) differs from NULL (nothing). TSV: PostgreSQL's text format; tab, line
//! ends and backslash are escaped by a backslash, and NULL is `\N`.

use std::io::{self, Write};

use quire::arrow::array::RecordBatch;
use quire::arrow::datatypes::SchemaRef;

use super::value::Texts;
use super::{RenderFormat, RenderMode, Renderer};

/// Writes one line for each row.
pub struct Delimited {
    format: RenderFormat,
    schema: SchemaRef,
    line: String,
}

impl Delimited {
    /// Lines for rows of this schema.
    pub fn new(format: &RenderFormat, schema: SchemaRef) -> Self {
        Self {
            format: format.clone(),
            schema,
            line: String::new(),
        }
    }

    fn push_field(&mut self, text: &str) {
        if self.format.mode == RenderMode::Tsv {
            push_escaped(text, &mut self.line);
        } else if text.contains(['"', ',', '\n', '\r']) || text == self.format.null_text() {
            self.line.push('"');
            self.line.push_str(&text.replace('"', "\"\""));
            self.line.push('"');
        } else {
            self.line.push_str(text);
        }
    }

    fn push_separator(&mut self, index: usize) {
        if index > 0 {
            self.line.push(if self.format.mode == RenderMode::Tsv {
                '\t'
            } else {
                ','
            });
        }
    }

    fn end_line(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.line.push('\n');
        out.write_all(self.line.as_bytes())?;
        self.line.clear();
        Ok(())
    }
}

/// A value that reads as the NULL text gets a backslash too many on purpose: `\N` becomes `\\N`.
fn push_escaped(text: &str, line: &mut String) {
    for character in text.chars() {
        match character {
            '\\' => line.push_str("\\\\"),
            '\t' => line.push_str("\\t"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            other => line.push(other),
        }
    }
}

impl Renderer for Delimited {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !self.format.header {
            return Ok(());
        }
        let schema = self.schema.clone();
        for (index, field) in schema.fields().iter().enumerate() {
            self.push_separator(index);
            self.push_field(field.name());
        }
        self.end_line(out)
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> io::Result<()> {
        let columns: Vec<Texts> = batch
            .columns()
            .iter()
            .map(|array| Texts::new(array.as_ref()))
            .collect();
        let mut text = String::new();
        for row in 0..batch.num_rows() {
            for (index, column) in columns.iter().enumerate() {
                self.push_separator(index);
                text.clear();
                if column.write(row, &mut text) {
                    self.push_field(&text);
                } else {
                    self.line.push_str(self.format.null_text());
                }
            }
            self.end_line(out)?;
        }
        Ok(())
    }

    fn finish(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
