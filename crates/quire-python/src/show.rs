//! The first rows of a result as a table of text.

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use arrow::util::display::{ArrayFormatter, FormatOptions};

use crate::type_name;

/// Characters of a value that are shown.
const CELL_CHARACTERS_MAX: usize = 40;

/// Draws at most `row_count` rows; says when there are more.
pub fn table(schema: &Schema, batches: &[RecordBatch], row_count: usize) -> String {
    let mut lines: Vec<Vec<String>> = vec![
        schema
            .fields()
            .iter()
            .map(|field| shortened(field.name()))
            .collect(),
        schema
            .fields()
            .iter()
            .map(|field| type_name::of(field.data_type()).to_lowercase())
            .collect(),
    ];
    let found: usize = batches.iter().map(RecordBatch::num_rows).sum();
    for batch in batches {
        for row in 0..batch.num_rows() {
            if lines.len() < row_count + 2 {
                lines.push(cells(batch, row));
            }
        }
    }
    let shown = lines.len() - 2;
    let mut text = drawn(&lines);
    let noun = if shown == 1 { "row" } else { "rows" };
    text.push_str(&if found > shown {
        format!("({shown} {noun} shown, there are more)")
    } else {
        format!("({shown} {noun})")
    });
    text
}

fn cells(batch: &RecordBatch, row: usize) -> Vec<String> {
    let options = FormatOptions::default().with_null("NULL");
    let cell = |column| match ArrayFormatter::try_new(column, &options) {
        Ok(formatter) => match formatter.value(row).try_to_string() {
            Ok(text) => shortened(&text),
            Err(_) => "?".to_owned(),
        },
        Err(_) => "?".to_owned(),
    };
    batch
        .columns()
        .iter()
        .map(|column| cell(column.as_ref()))
        .collect()
}

fn shortened(text: &str) -> String {
    let text = text.replace(['\n', '\r', '\t'], " ");
    if text.chars().count() > CELL_CHARACTERS_MAX {
        text.chars()
            .take(CELL_CHARACTERS_MAX - 1)
            .chain(['…'])
            .collect()
    } else {
        text
    }
}

fn drawn(lines: &[Vec<String>]) -> String {
    let column_count = lines.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..column_count).map(width).collect();
    let bar = |left: &str, between: &str, right: &str| {
        let parts: Vec<String> = widths.iter().map(|width| "─".repeat(width + 2)).collect();
        format!("{left}{}{right}\n", parts.join(between))
    };
    let mut text = bar("┌", "┬", "┐");
    for (number, line) in lines.iter().enumerate() {
        for (cell, width) in line.iter().zip(&widths) {
            let missing = width - cell.chars().count();
            text.push_str(&format!("│ {cell}{} ", " ".repeat(missing)));
        }
        text.push_str("│\n");
        if number == 1 {
            text.push_str(&bar("├", "┼", "┤"));
        }
    }
    text.push_str(&bar("└", "┴", "┘"));
    text
}
