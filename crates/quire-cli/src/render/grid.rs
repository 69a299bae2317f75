//! Tables whose columns line up: box, table and markdown.
//!
//! A column is as wide as its widest value, so nothing is written before the last row has come.
//! Until then rows are kept as Arrow batches; with a row limit only the first and the last ones.

use std::borrow::Cow;
use std::io::{self, Write};

use quire::arrow::array::RecordBatch;
use quire::arrow::datatypes::SchemaRef;

use super::layout::{GAP_WIDTH, GridLayout, LaidOut, lay_out};
use super::sample::RowSample;
use super::type_name::{is_numeric, type_name};
use super::value::Texts;
use super::width::{Alignment, ELLIPSIS, display_width, escape_controls, fit, push_padded};
use super::{RenderFormat, RenderMode, Renderer};

const DIM: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

/// Stands in every column for the rows left out.
const LEFT_OUT_ROW: &str = "⋮";

/// Writes box, table and markdown.
pub struct GridRenderer {
    format: RenderFormat,
    columns: Vec<GridColumn>,
    sample: RowSample,
}

struct GridColumn {
    name: String,
    type_name: String,
    alignment: Alignment,
}

/// The characters of a horizontal line: left end, line, crossing, right end.
type Rule = [char; 4];

const BOX_TOP: Rule = ['┌', '─', '┬', '┐'];
const BOX_MIDDLE: Rule = ['├', '─', '┼', '┤'];
const BOX_BOTTOM: Rule = ['└', '─', '┴', '┘'];
const TABLE_RULE: Rule = ['+', '-', '+', '+'];

/// One cell, ready to be fitted into its column.
struct GridCell<'a> {
    text: Cow<'a, str>,
    is_dim: bool,
}

impl GridRenderer {
    /// A grid for rows of this schema.
    pub fn new(format: &RenderFormat, schema: SchemaRef) -> Self {
        let mode = format.mode;
        let columns = schema
            .fields()
            .iter()
            .map(|field| GridColumn {
                name: escape(mode, field.name()).into_owned(),
                type_name: type_name(field.data_type()),
                alignment: if is_numeric(field.data_type()) {
                    Alignment::Right
                } else {
                    Alignment::Left
                },
            })
            .collect();
        let row_limit = if mode == RenderMode::Markdown {
            None
        } else {
            format.row_limit
        };
        Self {
            format: format.clone(),
            columns,
            sample: RowSample::new(row_limit),
        }
    }

    fn shows_header(&self) -> bool {
        // Markdown has no table without a header.
        self.format.header || self.format.mode == RenderMode::Markdown
    }

    fn natural_widths(&self) -> Vec<usize> {
        let null_width = display_width(self.format.null_text());
        let mut widths: Vec<usize> = self
            .columns
            .iter()
            .map(|column| match (self.shows_header(), self.format.mode) {
                (false, _) => 1,
                (true, RenderMode::Box) => {
                    display_width(&column.name).max(display_width(&column.type_name))
                }
                (true, RenderMode::Markdown) => display_width(&column.name).max(3),
                (true, _) => display_width(&column.name).max(1),
            })
            .collect();
        let mut text = String::new();
        for batch in self.sample.head().chain(self.sample.tail()) {
            for (width, array) in widths.iter_mut().zip(batch.columns()) {
                let texts = Texts::new(array.as_ref());
                for row in 0..batch.num_rows() {
                    text.clear();
                    let value_width = if texts.write(row, &mut text) {
                        display_width(&escape(self.format.mode, &text))
                    } else {
                        null_width
                    };
                    *width = value_width.max(*width);
                }
            }
        }
        widths
    }

    fn write_header(&self, layout: &GridLayout, out: &mut dyn Write) -> io::Result<()> {
        let names = self.columns.iter().map(|column| GridCell {
            text: Cow::Borrowed(column.name.as_str()),
            is_dim: false,
        });
        self.write_cells(layout, &names.collect::<Vec<_>>(), out)?;
        match self.format.mode {
            RenderMode::Markdown => self.write_markdown_rule(layout, out),
            RenderMode::Box => {
                let types = self.columns.iter().map(|column| GridCell {
                    text: Cow::Borrowed(column.type_name.as_str()),
                    is_dim: true,
                });
                self.write_cells(layout, &types.collect::<Vec<_>>(), out)?;
                write_rule(layout, BOX_MIDDLE, out)
            }
            _ => write_rule(layout, TABLE_RULE, out),
        }
    }

    fn write_batch(
        &self,
        layout: &GridLayout,
        batch: &RecordBatch,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let texts: Vec<Texts> = batch
            .columns()
            .iter()
            .map(|array| Texts::new(array.as_ref()))
            .collect();
        for row in 0..batch.num_rows() {
            let cells: Vec<GridCell> = texts.iter().map(|texts| self.cell(texts, row)).collect();
            self.write_cells(layout, &cells, out)?;
        }
        Ok(())
    }

    fn cell(&self, texts: &Texts, row: usize) -> GridCell<'_> {
        let mut text = String::new();
        if texts.write(row, &mut text) {
            let text = match escape(self.format.mode, &text) {
                Cow::Borrowed(_) => text,
                Cow::Owned(escaped) => escaped,
            };
            GridCell {
                text: Cow::Owned(text),
                is_dim: false,
            }
        } else {
            GridCell {
                text: Cow::Borrowed(self.format.null_text()),
                is_dim: true,
            }
        }
    }

    fn write_cells(
        &self,
        layout: &GridLayout,
        cells: &[GridCell],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let bar = if self.format.mode == RenderMode::Box {
            '│'
        } else {
            '|'
        };
        let mut line = String::new();
        for laid_out in &layout.columns {
            line.push(bar);
            line.push(' ');
            match *laid_out {
                LaidOut::Gap => line.push(ELLIPSIS),
                LaidOut::Column { index, width } => {
                    let is_dim = self.format.color && cells[index].is_dim;
                    line.push_str(if is_dim { DIM } else { "" });
                    let text = fit(&cells[index].text, width);
                    push_padded(&text, width, self.columns[index].alignment, &mut line);
                    line.push_str(if is_dim { PLAIN } else { "" });
                }
            }
            line.push(' ');
        }
        line.push(bar);
        line.push('\n');
        out.write_all(line.as_bytes())
    }

    fn write_left_out_row(&self, layout: &GridLayout, out: &mut dyn Write) -> io::Result<()> {
        let cells: Vec<GridCell> = self
            .columns
            .iter()
            .map(|_| GridCell {
                text: Cow::Borrowed(LEFT_OUT_ROW),
                is_dim: true,
            })
            .collect();
        self.write_cells(layout, &cells, out)
    }

    fn write_markdown_rule(&self, layout: &GridLayout, out: &mut dyn Write) -> io::Result<()> {
        let mut line = String::new();
        for laid_out in &layout.columns {
            if let LaidOut::Column { index, width } = *laid_out {
                line.push_str("| ");
                let is_right = self.columns[index].alignment == Alignment::Right;
                line.extend(std::iter::repeat_n('-', width - usize::from(is_right)));
                line.push_str(if is_right { ": " } else { " " });
            }
        }
        writeln!(out, "{line}|")
    }

    fn write_footer(&self, layout: &GridLayout, out: &mut dyn Write) -> io::Result<()> {
        let (row_count, shown_rows) = (self.sample.row_count(), self.sample.shown_row_count());
        let column_count = self.columns.len();
        let shown_columns = layout
            .columns
            .iter()
            .filter(|laid_out| matches!(laid_out, LaidOut::Column { .. }))
            .count();
        let is_cut = shown_rows < row_count || shown_columns < column_count;
        if self.format.mode == RenderMode::Markdown
            || (self.format.mode == RenderMode::Table && !is_cut)
        {
            return Ok(());
        }
        write!(
            out,
            "{row_count} {}",
            if row_count == 1 { "row" } else { "rows" }
        )?;
        if shown_rows < row_count {
            write!(out, " ({shown_rows} shown)")?;
        }
        if shown_columns < column_count {
            write!(out, ", {column_count} columns ({shown_columns} shown)")?;
        }
        writeln!(out)
    }
}

impl Renderer for GridRenderer {
    fn begin(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, _: &mut dyn Write) -> io::Result<()> {
        self.sample.push(batch);
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let width_limit = if self.format.mode == RenderMode::Markdown {
            None
        } else {
            self.format.width_limit
        };
        let layout = lay_out(&self.natural_widths(), width_limit);
        if layout.columns.is_empty() {
            return self.write_footer(&layout, out);
        }
        let (top, bottom) = match self.format.mode {
            RenderMode::Box => (Some(BOX_TOP), Some(BOX_BOTTOM)),
            RenderMode::Table => (Some(TABLE_RULE), Some(TABLE_RULE)),
            _ => (None, None),
        };
        if let Some(rule) = top {
            write_rule(&layout, rule, out)?;
        }
        if self.shows_header() {
            self.write_header(&layout, out)?;
        }
        for batch in self.sample.head() {
            self.write_batch(&layout, batch, out)?;
        }
        if self.sample.shown_row_count() < self.sample.row_count() {
            self.write_left_out_row(&layout, out)?;
        }
        for batch in self.sample.tail() {
            self.write_batch(&layout, batch, out)?;
        }
        if let Some(rule) = bottom {
            write_rule(&layout, rule, out)?;
        }
        self.write_footer(&layout, out)
    }
}

fn write_rule(
    layout: &GridLayout,
    [left, line, crossing, right]: Rule,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut text = String::new();
    for (position, laid_out) in layout.columns.iter().enumerate() {
        text.push(if position == 0 { left } else { crossing });
        let width = match laid_out {
            LaidOut::Column { width, .. } => *width,
            LaidOut::Gap => GAP_WIDTH,
        };
        text.extend(std::iter::repeat_n(line, width + 2));
    }
    text.push(right);
    writeln!(out, "{text}")
}

/// Text that keeps to its cell: no line ends, and in Markdown no bars.
fn escape(mode: RenderMode, text: &str) -> Cow<'_, str> {
    if mode == RenderMode::Markdown && text.contains(['|', '\n']) {
        let marked = text.replace('|', "\\|").replace('\n', "<br>");
        return Cow::Owned(escape_controls(&marked).into_owned());
    }
    escape_controls(text)
}
