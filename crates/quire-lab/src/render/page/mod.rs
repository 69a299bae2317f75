//! A report as one page of HTML, which needs no other file and no script.
//!
//! The page is well-formed XML but for its first line. What is wider than a screen scrolls by itself; colours follow the reader's choice of
//! light or dark.

mod anchors;
mod contents;
mod figures;
mod outcomes;
mod plain;
mod style;

pub use plain::figure_page;

use super::markup::escaped;
use crate::report::LabReport;
use std::fmt::Write as _;

/// The page: contents, a table of all verdicts, how it was measured, and the figures by paper and number.
pub fn page(report: &LabReport) -> String {
    let mut html = beginning(&report.title);
    contents::contents(&mut html, report);
    contents::verdicts(&mut html, report);
    contents::measured(&mut html, report);
    for paper in contents::shown_papers(report) {
        figures::paper(&mut html, report, paper);
    }
    let _ = writeln!(html, "</body></html>");
    html
}

/// All up to the title.
fn beginning(title: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/><title>{title}</title>\
         <style>{}</style></head>\n<body>\n<h1>{title}</h1>\n",
        style::style()
    )
}
