//! What the program says when it ends.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// A statement or command failed.
pub const FAILURE: u8 = 1;

/// What a shell reports for a program ended by SIGINT.
pub const INTERRUPTED: u8 = 130;

/// What a shell reports for a program that SIGPIPE ended.
pub const NOBODY_READS: u8 = 141;

/// What was asked for could not be done: a file cannot be read, or an option is wrong.
pub const TROUBLE: u8 = 2;

/// Success, or [`FAILURE`] after the error is written to the standard error.
pub fn reported<E: Display>(result: Result<(), E>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A closed standard error leaves nowhere to report to.
            let _ = writeln!(io::stderr(), "quire: {error}");
            ExitCode::from(FAILURE)
        }
    }
}
