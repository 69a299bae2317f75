//! Insert mode: the rows as INSERT statements.

use std::io::{self, Write};

use quire::arrow::array::RecordBatch;
use quire::arrow::datatypes::{DataType, Schema};

use super::value::Texts;
use super::{RenderFormat, Renderer};
use crate::keywords::{quote_identifier, quote_literal};

/// Writes a statement for each row.
pub struct InsertRenderer {
    start: String,
}

impl InsertRenderer {
    /// Statements for rows of this schema.
    pub fn new(format: &RenderFormat, schema: &Schema) -> Self {
        let table = quote_identifier(&format.insert_table);
        let names: Vec<String> = schema
            .fields()
            .iter()
            .map(|field| quote_identifier(field.name()))
            .collect();
        let columns = if format.header {
            format!(" ({})", names.join(", "))
        } else {
            String::new()
        };
        Self {
            start: format!("INSERT INTO {table}{columns} VALUES ("),
        }
    }
}

fn is_bare_literal(data_type: &DataType, text: &str) -> bool {
    data_type == &DataType::Boolean
        || (data_type.is_numeric() && text.ends_with(|last: char| last.is_ascii_digit()))
}

impl Renderer for InsertRenderer {
    fn begin(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> io::Result<()> {
        let columns: Vec<(&DataType, Texts)> = batch
            .columns()
            .iter()
            .map(|array| (array.data_type(), Texts::new(array.as_ref())))
            .collect();
        let mut text = String::new();
        for row in 0..batch.num_rows() {
            let mut statement = self.start.clone();
            for (index, (data_type, column)) in columns.iter().enumerate() {
                if index > 0 {
                    statement.push_str(", ");
                }
                text.clear();
                if !column.write(row, &mut text) {
                    statement.push_str("NULL");
                } else if is_bare_literal(data_type, &text) {
                    statement.push_str(&text);
                } else {
                    statement.push_str(&quote_literal(&text));
                }
            }
            writeln!(out, "{statement});")?;
        }
        Ok(())
    }

    fn finish(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
