//! Rows as text: one renderer for each output mode.
//!
//! A renderer is given the schema, then the batches as they arrive, then the end. It knows neither
//! SQL nor the terminal; what it needs of either is in [`RenderFormat`].

mod delimited;
mod float;
mod grid;
mod insert;
mod json;
mod layout;
mod line;
mod plan;
mod sample;
mod type_name;
mod value;
mod width;
mod zone;

use std::io::{self, Write};
use std::sync::Arc;

use clap::ValueEnum;
use quire::arrow::array::RecordBatch;
use quire::arrow::datatypes::SchemaRef;

pub use width::{display_width, escape_controls};
pub use zone::in_zone;

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RenderMode {
    /// A drawn table with names and types, cut to the terminal
    Box,
    /// A table of + - | characters
    #[value(alias = "ascii")]
    Table,
    /// Comma-separated values as COPY … TO writes them
    Csv,
    /// Tab-separated values; tabs, line ends and backslashes escaped by a backslash, NULL as \N
    #[value(alias = "tabs")]
    Tsv,
    /// One JSON array of objects
    Json,
    /// One JSON object a line
    #[value(aliases = ["jsonl", "ndjson"])]
    Jsonlines,
    /// One line for each value
    Line,
    /// A Markdown table
    #[value(alias = "md")]
    Markdown,
    /// INSERT statements
    Insert,
}

impl RenderMode {
    /// The name that `.mode` and `--mode` take.
    pub fn name(self) -> &'static str {
        match self {
            RenderMode::Box => "box",
            RenderMode::Table => "table",
            RenderMode::Csv => "csv",
            RenderMode::Tsv => "tsv",
            RenderMode::Json => "json",
            RenderMode::Jsonlines => "jsonlines",
            RenderMode::Line => "line",
            RenderMode::Markdown => "markdown",
            RenderMode::Insert => "insert",
        }
    }

    /// What stands for NULL unless the user chose a text of their own.
    fn default_null_text(self) -> &'static str {
        match self {
            RenderMode::Csv => "",
            RenderMode::Tsv => "\\N",
            _ => "NULL",
        }
    }
}

/// Everything that decides how rows look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderFormat {
    pub mode: RenderMode,
    /// Whether the names of the columns are written.
    pub header: bool,
    /// What stands for NULL; `None` is the mode's own choice.
    pub null_text: Option<String>,
    /// Rows shown by box and table; the middle of a longer result is left out.
    pub row_limit: Option<usize>,
    /// Terminal columns that box and table may take.
    pub width_limit: Option<usize>,
    /// Table named by the statements of insert mode.
    pub insert_table: String,
    /// Whether types and NULLs are dimmed by terminal escapes.
    pub color: bool,
}

impl RenderFormat {
    /// The mode with nothing limited.
    #[cfg(test)]
    pub fn plain(mode: RenderMode) -> Self {
        Self {
            mode,
            header: true,
            null_text: None,
            row_limit: None,
            width_limit: None,
            insert_table: "t".to_owned(),
            color: false,
        }
    }

    fn null_text(&self) -> &str {
        self.null_text
            .as_deref()
            .unwrap_or(self.mode.default_null_text())
    }
}

/// Writes one result. `begin` comes first, then any number of `batch`, then `finish`.
pub trait Renderer {
    /// What stands before the first row.
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()>;
    /// The next rows.
    fn batch(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> io::Result<()>;
    /// No more rows; not called when the query failed.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()>;
}

/// The renderer of the format's mode for a result of these columns.
pub fn renderer(format: &RenderFormat, schema: &SchemaRef) -> Box<dyn Renderer> {
    let schema = Arc::clone(schema);
    match format.mode {
        RenderMode::Box | RenderMode::Table if plan::is_plan(&schema) => {
            Box::new(plan::PlanRenderer)
        }
        RenderMode::Box | RenderMode::Table | RenderMode::Markdown => {
            Box::new(grid::GridRenderer::new(format, schema))
        }
        RenderMode::Csv | RenderMode::Tsv => Box::new(delimited::Delimited::new(format, schema)),
        RenderMode::Json | RenderMode::Jsonlines => Box::new(json::Json::new(format, &schema)),
        RenderMode::Line => Box::new(line::LineRenderer::new(format, &schema)),
        RenderMode::Insert => Box::new(insert::InsertRenderer::new(format, &schema)),
    }
}

#[cfg(test)]
mod tests;
