//! The shell: a terminal's or a script's way to a database.
//!
//! This crate turns keys, scripts and options into calls of `quire` and its answers into text. It
//! knows no SQL beyond where a statement ends; see its README for the commands and modes.
#![deny(unsafe_code)]

mod allocator;
mod arguments;
mod bare_words;
mod check;
mod commands;
mod data_set;
mod editor;
mod exit_code;
mod inspect;
mod interactive;
mod interrupt;
mod keywords;
mod lab;
mod lexer;
mod mount;
mod render;
mod rows_behind;
mod run_script;
mod script;
mod serve;
mod shell;
mod workload;

use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Write};
use std::process::{self, ExitCode};
use std::time::Duration;

use quire_server::ServerOptions;

use arguments::{Action, CommandLine, StartupScript};
use shell::{Diagnostic, Flow, Shell, describe};

fn main() -> ExitCode {
    let (arguments, sources) = CommandLine::read();
    match &arguments.action {
        Some(Action::Check { file, rebuild }) => {
            return match rebuild {
                Some(copy) => check::run_rebuild(file, copy),
                None => check::run(file),
            };
        }
        Some(Action::Inspect { file, html }) => return inspect::run(file, html.as_deref()),
        Some(Action::DataSet(action)) => return data_set::run(action),
        Some(Action::Mount(mount)) => return mount::run(mount),
        Some(Action::Unmount { directory }) => return mount::run_unmount(directory),
        Some(Action::Lab(lab)) => return lab::run(lab),
        Some(Action::Workload(arguments)) => return workload::run(arguments),
        Some(Action::Serve {
            file,
            listen,
            security,
            connections,
            statement_timeout,
            resources,
        }) => {
            let server = ServerOptions {
                listen: *listen,
                connections_max: *connections,
                statement_timeout: statement_timeout.map(Duration::from_millis),
                ..serve::secured(security)
            };
            return serve::run(file, server, *resources);
        }
        None => {}
    }
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let is_interactive = sources.is_empty() && is_terminal;
    let opened = Shell::open(
        arguments.location(),
        arguments.resources,
        arguments.settings(),
        is_interactive,
    );
    let mut shell = match opened {
        Ok(shell) => shell,
        Err(error) => {
            let text = describe(&Diagnostic::from(&error), "", None, false);
            let _ = io::stderr().write_all(text.as_bytes());
            return ExitCode::from(exit_code::FAILURE);
        }
    };
    let result = if is_interactive {
        interactive::run(&mut shell)
    } else if sources.is_empty() {
        shell.run_standard_input().map(|_| ())
    } else {
        run_sources(&mut shell, sources)
    };
    let code = exit_code(&shell, result);
    if shell.has_cancelled() {
        // Closing in good order would wait for a join that does not look; all that was committed
        // is in the file.
        process::exit(code.into());
    }
    ExitCode::from(code)
}

fn run_sources(shell: &mut Shell, sources: Vec<StartupScript>) -> io::Result<()> {
    for source in sources {
        let flow = match source {
            StartupScript::Text(text) => shell.run_script(text.as_bytes(), None)?,
            StartupScript::File(path) if path.as_os_str() == "-" => shell.run_standard_input()?,
            StartupScript::File(path) => {
                let name = path.display().to_string();
                match File::open(&path) {
                    Ok(file) => shell.run_script(BufReader::new(file), Some(&name))?,
                    Err(error) => shell.fail(&format!("cannot read {name}: {error}"), None),
                }
            }
        };
        if flow != Flow::Continue {
            break;
        }
    }
    Ok(())
}

fn exit_code(shell: &Shell, result: io::Result<()>) -> u8 {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => exit_code::NOBODY_READS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "ERROR:  cannot write: {error}");
            exit_code::FAILURE
        }
        Ok(()) if shell.was_stopped() => exit_code::INTERRUPTED,
        Ok(()) if shell.had_error && !shell.is_interactive() => exit_code::FAILURE,
        Ok(()) => 0,
    }
}
