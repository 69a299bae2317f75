//! `quire check FILE`: verifies everything that must hold in a database file, and saves what can be
//! saved of a broken one.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use quire::{Database, Finding};

use crate::exit_code;
use crate::render::escape_controls;
use crate::shell::{Diagnostic, bytes_text, count_text, describe, describe_plain};

/// Prints each finding, then one line that sums up.
pub fn run(file: &Path) -> ExitCode {
    let report = match Database::check(file) {
        Ok(report) => report,
        Err(error) => return trouble(&describe(&Diagnostic::from(&error), "", None, false)),
    };
    let mut text = finding_lines(&report.findings);
    text.push_str(&format!(
        "{}: {} pages, {}: {}\n",
        file.display(),
        count_text(report.page_count),
        bytes_text(report.file_bytes),
        verdict(report.findings.len())
    ));
    print(&text);
    if report.findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Copies the file and rebuilds the copy from the pages that are whole, then checks the copy.
pub fn run_rebuild(file: &Path, copy: &Path) -> ExitCode {
    if let Err(error) = copy_file(file, copy) {
        let message = format!(
            "cannot copy {} to {}: {error}",
            file.display(),
            copy.display()
        );
        return trouble(&describe_plain(&message, None, false));
    }
    let report = match Database::rebuild(copy) {
        Ok(report) => report,
        Err(error) => {
            // Nothing could be saved; what stays behind would only stand in the way next time.
            let _ = fs::remove_file(copy);
            return trouble(&describe(&Diagnostic::from(&error), "", None, false));
        }
    };
    let mut text = finding_lines(&report.findings);
    text.push_str(&format!(
        "{}: {} pages found in {}, up to commit {}\n",
        copy.display(),
        count_text(report.page_count),
        file.display(),
        count_text(report.commit_sequence)
    ));
    print(&text);
    run(copy)
}

/// Only into a file that does not exist yet: it may be the one good copy.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mut target = File::create_new(to)?;
    io::copy(&mut source, &mut target)?;
    target.sync_all()
}

fn finding_lines(findings: &[Finding]) -> String {
    findings
        .iter()
        .map(|finding| format!("{}\n", escape_controls(&finding.to_string())))
        .collect()
}

fn verdict(finding_count: usize) -> String {
    match finding_count {
        0 => "nothing wrong".to_owned(),
        1 => "1 finding".to_owned(),
        several => format!("{} findings", count_text(several as u64)),
    }
}

/// A closed output does not change the verdict.
fn print(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}

fn trouble(text: &str) -> ExitCode {
    let _ = io::stderr().write_all(text.as_bytes());
    ExitCode::from(exit_code::TROUBLE)
}
