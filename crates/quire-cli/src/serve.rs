//! `quire serve`: a database for clients of PostgreSQL.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use quire::{Database, DatabaseOptions};
use quire_server::{Authentication, Server, ServerOptions, TlsFiles};

use crate::arguments::{AuthenticationMode, LogTarget, Security, TlsMode};
use crate::shell::Resources;
use crate::{allocator, exit_code};

/// Options that let in whom they should.
pub fn secured(security: &Security) -> ServerOptions {
    let files = security.tls_cert.as_ref().zip(security.tls_key.as_ref());
    ServerOptions {
        authentication: match security.auth {
            None => Authentication::Automatic,
            Some(AuthenticationMode::Trust) => Authentication::Trust,
            Some(AuthenticationMode::Scram) => Authentication::Scram,
        },
        tls: files.map(|(certificate, key)| TlsFiles {
            certificate: certificate.clone(),
            key: key.clone(),
        }),
        requires_tls: security.tls == TlsMode::Required,
        startup_timeout: Duration::from_secs(security.authentication_timeout),
        logs: security.log == LogTarget::Stderr,
        ..ServerOptions::default()
    }
}

/// Serves until the process is interrupted or told to end.
pub fn run(file: &Path, server: ServerOptions, resources: Resources) -> ExitCode {
    let options = resources.options();
    allocator::suit(&options);
    exit_code::reported(serve(file, server, options))
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
