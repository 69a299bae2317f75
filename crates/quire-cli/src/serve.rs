//! `quire serve`: a database for clients of PostgreSQL.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;

use quire::{Database, DatabaseOptions};
use quire_server::{Server, ServerOptions};

const FAILURE_EXIT_CODE: u8 = 1;

/// Serves until the process is interrupted or told to end.
pub fn run(
    file: &Path,
    server: ServerOptions,
    cache_bytes: Option<usize>,
    memory_bytes: Option<usize>,
    threads: Option<usize>,
) -> ExitCode {
    let mut options = DatabaseOptions::default();
    options.cache_bytes = cache_bytes.unwrap_or(options.cache_bytes);
    options.memory_bytes = memory_bytes.unwrap_or(options.memory_bytes);
    options.threads = threads.unwrap_or(options.threads);
    match serve(file, server, options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "quire: {error}");
            ExitCode::from(FAILURE_EXIT_CODE)
        }
    }
}

fn serve(
    file: &Path,
    server: ServerOptions,
    options: DatabaseOptions,
) -> Result<(), Box<dyn std::error::Error>> {
    // Whoever interrupts while the file is opened is heard.
    let (sender, interrupted) = mpsc::channel();
    ctrlc::set_handler(move || {
        // Once is enough.
        let _ = sender.send(());
    })?;
    let database = if file.as_os_str() == ":memory:" {
        Database::in_memory_with(options)?
    } else {
        Database::open_with(file, options)?
    };
    for notice in database.notices() {
        writeln!(io::stderr(), "NOTICE:  {notice}")?;
    }
    let server = Server::start(database, server)?;
    writeln!(io::stdout(), "listening on {}", server.address())?;
    io::stdout().flush()?;
    // An error means that nobody can interrupt any more; then there is nothing to wait for.
    let _ = interrupted.recv();
    server.stop();
    Ok(())
}
