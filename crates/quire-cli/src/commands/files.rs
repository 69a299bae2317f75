//! Commands that read or write files.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use super::CommandResult;
use crate::keywords::{quote_identifier, quote_literal};
use crate::shell::{Flow, Location, Shell, ShellFailure, bytes_text};

/// Loads a file into a table, which is made to fit the file when it is missing.
pub fn import(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    let (file, table) = (&arguments[0], &arguments[1]);
    let exists = super::summaries(shell)?
        .iter()
        .any(|summary| &summary.name == table);
    let (table, file) = (quote_identifier(table), quote_literal(file));
    let sql = if exists {
        format!("COPY {table} FROM {file}")
    } else {
        format!("CREATE TABLE {table} AS SELECT * FROM {file}")
    };
    shell.execute(&sql)?;
    Ok(Flow::Continue)
}

pub fn read(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    let name = &arguments[0];
    if !shell.can_read_deeper() {
        return Err(ShellFailure::Command(
            "scripts read each other too deep; does one read itself?".to_owned(),
        ));
    }
    let file = File::open(name)
        .map_err(|error| ShellFailure::Command(format!("cannot read {name}: {error}")))?;
    Ok(shell.run_script(BufReader::new(file), Some(name))?)
}

/// Copies the database to a new file.
pub fn backup(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    let (replaces, file) = match arguments {
        [flag, file] if flag == "--force" => (true, file),
        [file] if file != "--force" => (false, file),
        _ => {
            return Err(ShellFailure::Command(
                "usage: .backup [--force] FILE".to_owned(),
            ));
        }
    };
    shell.run_statement(|shell| {
        let copied = shell.connection()?.backup(file, replaces);
        let bytes = copied.map_err(|error| ShellFailure::Statement {
            error,
            sql: String::new(),
        })?;
        if shell.is_interactive() {
            shell.show_line(&format!("{} in {file}.", bytes_text(bytes)))?;
        }
        Ok(())
    })?;
    Ok(Flow::Continue)
}

pub fn output(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    match arguments.first().map(String::as_str) {
        None | Some("stdout") => shell.output.reset()?,
        Some(name) => redirect(shell, name, false)?,
    }
    Ok(Flow::Continue)
}

pub fn once(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    redirect(shell, &arguments[0], true)?;
    Ok(Flow::Continue)
}

fn redirect(shell: &mut Shell, name: &str, is_once: bool) -> Result<(), ShellFailure> {
    shell
        .output
        .redirect(Path::new(name), is_once)
        .map_err(|error| ShellFailure::Command(format!("cannot write {name}: {error}")))
}

pub fn open(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    let (read_only, file) = match arguments {
        [flag] if flag == "--readonly" => {
            return Err(ShellFailure::Command("--readonly needs a file".to_owned()));
        }
        [flag, file] if flag == "--readonly" => (true, Some(file)),
        [_, _] => {
            return Err(ShellFailure::Command(
                "usage: .open [--readonly] [FILE]".to_owned(),
            ));
        }
        [file] => (false, Some(file)),
        _ => (false, None),
    };
    let path = file.filter(|file| *file != ":memory:").map(Into::into);
    shell.reopen(Location { path, read_only })?;
    Ok(Flow::Continue)
}
