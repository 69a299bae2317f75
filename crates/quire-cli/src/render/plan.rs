//! The answer to EXPLAIN in box and table mode: its lines as they are, not in one cell.

use std::io::{self, Write};

use quire::arrow::array::RecordBatch;
use quire::arrow::datatypes::Schema;

use super::Renderer;
use super::value::Texts;
use super::width::escape_controls;

/// Whether these are the columns of EXPLAIN.
pub fn is_plan(schema: &Schema) -> bool {
    let names: Vec<&str> = schema
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .collect();
    names == ["plan_type", "plan"] || names == ["QUERY PLAN"]
}

/// Writes each plan below its type, if it has one.
pub struct Plan;

impl Renderer for Plan {
    fn begin(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> io::Result<()> {
        let texts: Vec<Texts> = batch
            .columns()
            .iter()
            .map(|array| Texts::new(array.as_ref()))
            .collect();
        for row in 0..batch.num_rows() {
            for (index, column) in texts.iter().enumerate() {
                let mut text = String::new();
                column.write(row, &mut text);
                let (indent, end) = match (index, texts.len()) {
                    (0, 2) => ("", ":"),
                    (_, 2) => ("  ", ""),
                    _ => ("", ""),
                };
                for line in text.lines() {
                    writeln!(out, "{indent}{}{end}", escape_controls(line))?;
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
