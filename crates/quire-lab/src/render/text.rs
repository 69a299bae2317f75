//! A table for a terminal.

use super::columns::columns;
use super::short;
use crate::{Figure, Paper};

/// The figure as a table: a line for each position, a column for each series, and below it the verdicts and the notes.
pub fn text(figure: &Figure) -> String {
    let mut text = format!("{}\n", figure.title);
    if figure.paper != Paper::None {
        text += &format!("{}, {}\n", figure.paper.citation(), figure.number);
    }
    let mut cells = vec![first_column(figure)];
    for column in columns(figure) {
        let mut lines = vec![column.name, column.origin.to_owned()];
        let values = column.values.iter();
        lines.extend(values.map(|value| value.map_or_else(|| "-".to_owned(), short)));
        cells.push(lines);
    }
    text += &format!("values: {}\n\n", figure.y.label());
    let widths: Vec<usize> = cells
        .iter()
        .map(|column| {
            column
                .iter()
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    for line in 0..figure.positions.count() + 2 {
        let mut cells = cells
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(at, (column, width))| {
                let cell = column.get(line).map_or("", String::as_str);
                match at {
                    0 => format!("{cell:<width$}"),
                    _ => format!("  {cell:>width$}"),
                }
            });
        let line: String = cells.by_ref().collect();
        text += line.trim_end();
        text.push('\n');
    }
    text.push('\n');
    for remark in figure.remarks() {
        text += &format!("- {remark}\n");
    }
    text
}

fn first_column(figure: &Figure) -> Vec<String> {
    let mut column = vec![figure.x.label(), String::new()];
    column.extend(figure.positions.names());
    column
}
