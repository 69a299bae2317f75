//! A figure as text for a terminal, as CSV for a program, as SVG for a page; a report as one page of HTML.

mod columns;
mod csv;
mod markup;
mod page;
mod svg;
mod text;

pub use csv::csv;
pub use page::{figure_page, page};
pub use svg::svg;
pub use text::text;

/// Three or four significant digits.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        0.0 => "0".to_owned(),
        _ => format!("{value:.4}"),
    }
}
