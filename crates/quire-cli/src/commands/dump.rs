//! `.dump`: the database as SQL.

use quire::{CopyStream, DumpPart, TransactionStatus};
use quire_server::copy::CopySender;

use super::CommandResult;
use super::describe::matches_pattern;
use crate::shell::{Flow, Shell, ShellFailure};

/// So that all tables are of one moment, whatever others commit.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ";

const USAGE: &str = "usage: .dump [--portable] [PATTERN]";

pub fn dump(shell: &mut Shell, arguments: &[String]) -> CommandResult {
    let (is_portable, pattern) = match arguments {
        [flag, pattern] if flag == "--portable" => (true, Some(pattern)),
        [flag] if flag == "--portable" => (true, None),
        [pattern] if !pattern.starts_with("--") => (false, Some(pattern)),
        [] => (false, None),
        _ => return Err(ShellFailure::Command(USAGE.to_owned())),
    };
    shell.run_statement(|shell| {
        // In a transaction, what that sees is written.
        let is_own = shell.connection()?.transaction_status() == TransactionStatus::Idle;
        if is_own {
            run(shell, BEGIN)?;
        }
        let written = write_parts(shell, is_portable, pattern.map(String::as_str));
        if is_own {
            run(shell, "ROLLBACK")?;
        }
        written
    })?;
    Ok(Flow::Continue)
}

fn run(shell: &mut Shell, sql: &str) -> Result<(), ShellFailure> {
    let done = shell.connection()?.execute(sql);
    done.map(|_| ()).map_err(|error| failed(error, sql))
}

fn failed(error: quire::Error, sql: &str) -> ShellFailure {
    ShellFailure::Statement {
        error,
        sql: sql.to_owned(),
    }
}

fn write_parts(
    shell: &mut Shell,
    is_portable: bool,
    pattern: Option<&str>,
) -> Result<(), ShellFailure> {
    let is_wanted = |name: &str| pattern.is_none_or(|pattern| matches_pattern(pattern, name));
    let parts = shell.connection()?.dump(is_portable, is_wanted);
    let parts = parts.map_err(|error| failed(error, ""))?;
    if let (true, Some(pattern)) = (parts.is_empty(), pattern) {
        let text = format!("nothing is called {pattern}; .tables lists the tables");
        return Err(ShellFailure::Command(text));
    }
    let heading = if is_portable {
        "-- Dump of a Quire database for other systems. psql runs it.\nSET client_encoding = 'UTF8';"
    } else {
        "-- Dump of a Quire database. quire FILE -f runs it."
    };
    writeln!(shell.output.writer(), "{heading}")?;
    for part in &parts {
        match part {
            DumpPart::Statement(text) => {
                // What has several lines stands by itself.
                let gap = if text.contains('\n') { "\n" } else { "" };
                writeln!(shell.output.writer(), "{gap}{text}")?;
            }
            DumpPart::Rows { copy_out, copy_in } => write_rows(shell, copy_out, copy_in)?,
        }
    }
    Ok(())
}

fn write_rows(shell: &mut Shell, copy_out: &str, copy_in: &str) -> Result<(), ShellFailure> {
    let begun = shell.connection()?.begin_copy(copy_out);
    let begun = begun.map_err(|error| failed(error, copy_out))?;
    let Some(CopyStream::Out(rows, format)) = begun else {
        return Err(ShellFailure::Command(format!("no rows come of {copy_out}")));
    };
    let writer = shell.output.writer();
    writeln!(writer, "\n{copy_in};")?;
    CopySender::new(rows, format)
        .run(|piece| writer.write_all(piece).map_err(ShellFailure::Output))?;
    Ok(writeln!(writer, "\\.")?)
}
