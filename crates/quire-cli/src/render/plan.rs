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
    names == ["QUERY PLAN"]
}

/// Writes the lines of a plan.
pub struct PlanRenderer;

impl Renderer for PlanRenderer {
    fn begin(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> io::Result<()> {
        for array in batch.columns() {
            let column = Texts::new(array.as_ref());
            for row in 0..batch.num_rows() {
                let mut text = String::new();
                column.write(row, &mut text);
                for line in text.lines() {
                    writeln!(out, "{}", escape_controls(line))?;
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
