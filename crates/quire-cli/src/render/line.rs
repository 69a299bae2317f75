//! Line mode: `name = value`, one value a line, an empty line between rows.

use std::io::{self, Write};

use quire::arrow::array::RecordBatch;
use quire::arrow::datatypes::Schema;

use super::value::Texts;
use super::width::{Alignment, display_width, escape_controls, push_padded};
use super::{RenderFormat, Renderer};

/// Writes a paragraph for each row.
pub struct LineRenderer {
    null_text: String,
    names: Vec<String>,
    name_width: usize,
    row_count: usize,
}

impl LineRenderer {
    /// Paragraphs for rows of this schema.
    pub fn new(format: &RenderFormat, schema: &Schema) -> Self {
        let names: Vec<String> = schema
            .fields()
            .iter()
            .map(|field| escape_controls(field.name()).into_owned())
            .collect();
        let name_width = names
            .iter()
            .map(|name| display_width(name))
            .max()
            .unwrap_or(0);
        Self {
            null_text: format.null_text().to_owned(),
            names,
            name_width,
            row_count: 0,
        }
    }

    /// The lines of a value stand below each other.
    fn push_value(&self, name: &str, value: &str, out: &mut String) {
        push_padded(name, self.name_width, Alignment::Right, out);
        out.push_str(" = ");
        for (index, line) in value.split('\n').enumerate() {
            if index > 0 {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', self.name_width + 3));
            }
            out.push_str(&escape_controls(line));
        }
        out.push('\n');
    }
}

impl Renderer for LineRenderer {
    fn begin(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> io::Result<()> {
        let columns: Vec<Texts> = batch
            .columns()
            .iter()
            .map(|array| Texts::new(array.as_ref()))
            .collect();
        for row in 0..batch.num_rows() {
            let mut paragraph = String::new();
            if self.row_count > 0 {
                paragraph.push('\n');
            }
            for (name, column) in self.names.iter().zip(&columns) {
                let mut text = String::new();
                if column.write(row, &mut text) {
                    self.push_value(name, &text, &mut paragraph);
                } else {
                    self.push_value(name, &self.null_text, &mut paragraph);
                }
            }
            self.row_count += 1;
            out.write_all(paragraph.as_bytes())?;
        }
        Ok(())
    }

    fn finish(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
