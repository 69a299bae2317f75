//! `\copy`: rows between a table and a file, in the formats of PostgreSQL.

use std::fs::File;
use std::path::Path;

use quire::AtomicFile;
use quire_text::sql_scanner::SqlScanner;

use super::CommandResult;
use crate::bare_words::bare_words;
use crate::rows_behind::{ProcessInput, RowLines};
use crate::shell::{CopyRowSource, Flow, RowTarget, Shell, ShellFailure, StandardInput};

const USAGE: &str = "usage: \\copy TABLE [(COLUMN, …)] from|to FILE|stdin|stdout|pstdin|pstdout [[with] (OPTION, …)]; a query \
                     stands in parentheses";

/// The other end of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CopyEndpoint {
    File(String),
    /// `stdin`, `stdout`: where the command comes from, where results go.
    Shell,
    /// `pstdin`, `pstdout`: those of the program.
    Process,
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    is_from: bool,
    place: CopyEndpoint,
    /// The statement for it.
    sql: String,
}

pub fn copy(shell: &mut Shell, arguments: &str, lines: &mut dyn RowLines) -> CommandResult {
    let request = parse(arguments)?;
    let sql = &request.sql;
    match (request.is_from, request.place) {
        (true, CopyEndpoint::File(name)) => {
            let file = File::open(&name)
                .map_err(|error| ShellFailure::Command(format!("cannot read {name}: {error}")))?;
            shell.copy_with(
                sql,
                CopyRowSource::Reader(Box::new(file)),
                RowTarget::Output,
            )?;
        }
        (true, CopyEndpoint::Shell) => {
            shell.copy_with(sql, CopyRowSource::Lines(lines), RowTarget::Output)?;
        }
        // What is typed at the prompt is what the standard input has.
        (true, CopyEndpoint::Process) => match shell.standard_input() {
            _ if lines.are_typed() => {
                shell.copy_with(sql, CopyRowSource::Lines(lines), RowTarget::Output)?;
            }
            StandardInput::Script => {
                shell.copy_with(sql, CopyRowSource::Lines(lines), RowTarget::Output)?;
            }
            StandardInput::Free => {
                let source = CopyRowSource::Lines(&mut ProcessInput);
                shell.copy_with(sql, source, RowTarget::Output)?;
            }
            StandardInput::OtherScript => {
                let text =
                    "the standard input is a script; name a file, or say stdin for the lines below";
                return Err(ShellFailure::Command(text.to_owned()));
            }
        },
        (false, place) => {
            let target = match place {
                CopyEndpoint::File(name) => RowTarget::File(
                    AtomicFile::create(Path::new(&name))
                        .map_err(|error| ShellFailure::Command(error.to_string()))?,
                ),
                CopyEndpoint::Shell => RowTarget::Output,
                CopyEndpoint::Process => RowTarget::ProcessOutput,
            };
            shell.copy_with(sql, CopyRowSource::Lines(lines), target)?;
        }
    }
    Ok(Flow::Continue)
}

fn parse(arguments: &str) -> Result<Request, ShellFailure> {
    let usage = || ShellFailure::Command(USAGE.to_owned());
    let arguments = arguments.trim().trim_end_matches(';').trim_end();
    let words = bare_words(arguments);
    let direction = words.iter().find(|word| word.is("from") || word.is("to"));
    let direction = direction.ok_or_else(usage)?;
    let target = arguments[..direction.place.start].trim();
    let behind = arguments[direction.place.end..].trim_start();
    let (place, options) = split_place(behind).ok_or_else(usage)?;
    let is_from = direction.is("from");
    let place = match (place.to_ascii_lowercase().as_str(), is_from) {
        ("", _) => return Err(usage()),
        ("program", _) => {
            let text = "programs are not run; use a pipe: quire FILE -c \"\\copy TABLE to stdout\" | PROGRAM";
            return Err(ShellFailure::Command(text.to_owned()));
        }
        ("stdin", true) | ("stdout", false) => CopyEndpoint::Shell,
        ("pstdin", true) | ("pstdout", false) => CopyEndpoint::Process,
        ("stdin" | "stdout" | "pstdin" | "pstdout", _) => return Err(usage()),
        _ => CopyEndpoint::File(unquoted(place)),
    };
    if target.is_empty() {
        return Err(usage());
    }
    let ends = if is_from { "FROM STDIN" } else { "TO STDOUT" };
    let sql = format!("COPY {target} {ends} {options}");
    Ok(Request {
        is_from,
        place,
        sql: sql.trim_end().to_owned(),
    })
}

/// The name of a file, in quotes if it has blanks, and what follows it.
fn split_place(text: &str) -> Option<(&str, &str)> {
    let end = match text.bytes().next()? {
        b'\'' => SqlScanner::default().next(text)?.place.end,
        _ => text.find(char::is_whitespace).unwrap_or(text.len()),
    };
    Some((text.get(..end)?, text.get(end..)?.trim_start()))
}

fn unquoted(place: &str) -> String {
    let inner = place
        .strip_prefix('\'')
        .and_then(|place| place.strip_suffix('\''));
    inner.map_or_else(|| place.to_owned(), |inner| inner.replace("''", "'"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{CopyEndpoint, Request, parse};
    use crate::shell::ShellFailure;

    fn parsed(arguments: &str) -> Request {
        parse(arguments).unwrap()
    }

    #[test]
    fn places_and_options_are_told_apart() {
        assert_eq!(
            parsed(" t (a, \"from\") from 'it''s here.csv' with (format csv, header);"),
            Request {
                is_from: true,
                place: CopyEndpoint::File("it's here.csv".to_owned()),
                sql: "COPY t (a, \"from\") FROM STDIN with (format csv, header)".to_owned(),
            }
        );
        assert_eq!(
            parsed("(select a from t where b = 'to x') TO /tmp/x.txt csv"),
            Request {
                is_from: false,
                place: CopyEndpoint::File("/tmp/x.txt".to_owned()),
                sql: "COPY (select a from t where b = 'to x') TO STDOUT csv".to_owned(),
            }
        );
        for (text, place) in [
            ("t from stdin", CopyEndpoint::Shell),
            ("t from PSTDIN", CopyEndpoint::Process),
            ("t to stdout", CopyEndpoint::Shell),
            ("t to pstdout", CopyEndpoint::Process),
            ("t to 'stdout'", CopyEndpoint::File("stdout".to_owned())),
        ] {
            assert_eq!(parsed(text).place, place, "{text}");
        }
    }

    #[test]
    fn what_is_no_copy_is_refused() {
        for text in [
            "",
            "t",
            "t from",
            "from 'f'",
            "t to stdin",
            "t from stdout",
            "t from program 'ls'",
            "t from 'open",
        ] {
            assert!(
                matches!(parse(text), Err(ShellFailure::Command(_))),
                "{text}"
            );
        }
    }
}
