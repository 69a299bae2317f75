//! `quire check FILE`: verifies everything that must hold in a database file.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use quire::Database;

use crate::render::escape_controls;
use crate::shell::{Diagnostic, bytes_text, count_text, describe};

/// The file could not be examined.
const TROUBLE_EXIT_CODE: u8 = 2;

/// Prints each finding, then one line that sums up.
pub fn run(file: &Path) -> ExitCode {
    let report = match Database::check(file) {
        Ok(report) => report,
        Err(error) => {
            let text = describe(&Diagnostic::from(&error), "", None, false);
            let _ = io::stderr().write_all(text.as_bytes());
            return ExitCode::from(TROUBLE_EXIT_CODE);
        }
    };
    let mut text = String::new();
    for finding in &report.findings {
        text.push_str(&escape_controls(&finding.to_string()));
        text.push('\n');
    }
    let verdict = match report.findings.len() {
        0 => "nothing wrong".to_owned(),
        1 => "1 finding".to_owned(),
        several => format!("{} findings", count_text(several as u64)),
    };
    text.push_str(&format!(
        "{}: {} pages, {}: {verdict}\n",
        file.display(),
        count_text(report.page_count),
        bytes_text(report.file_bytes)
    ));
    // A closed output does not change the verdict.
    let _ = io::stdout().write_all(text.as_bytes());
    if report.findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
