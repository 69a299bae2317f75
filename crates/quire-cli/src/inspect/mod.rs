//! `quire inspect FILE`: where the bytes went.

mod html;
mod part;
mod text;
mod treemap;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use quire::{Database, DatabaseOptions, Error};

use crate::exit_code;
use crate::shell::{Diagnostic, describe, describe_plain};

/// Prints what the file is made of, or writes it as a page.
pub fn run(file: &Path, html: Option<&Path>) -> ExitCode {
    let whole = match examined(file) {
        Ok(whole) => whole,
        Err(error) => return trouble(&describe(&Diagnostic::from(&error), "", None, false)),
    };
    let Some(page) = html else {
        let codecs = part::FilePart {
            parts: text::codecs(&whole),
            name: "by codec".to_owned(),
            ..whole.clone()
        };
        let text = format!("{}\n{}", text::table(&whole), text::table(&codecs));
        let _ = io::stdout().write_all(text.as_bytes());
        return ExitCode::SUCCESS;
    };
    match fs::write(page, html::page(&whole)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let message = format!("cannot write {}: {error}", page.display());
            trouble(&describe_plain(&message, None, false))
        }
    }
}

fn examined(file: &Path) -> Result<part::FilePart, Error> {
    let options = DatabaseOptions {
        read_only: true,
        ..DatabaseOptions::default()
    };
    let database = Database::open_with(file, options)?;
    let name = file.file_name().unwrap_or(file.as_os_str());
    part::whole(&mut database.connect(), &name.to_string_lossy())
}

fn trouble(text: &str) -> ExitCode {
    let _ = io::stderr().write_all(text.as_bytes());
    ExitCode::from(exit_code::TROUBLE)
}
