//! PostgreSQL as a server of a workload.

use super::super::postgresql::PostgreSqlTarget;
use super::super::server_process::ServerProcess;
use super::super::{Target, TargetError};
use super::ServerSettings;
use super::programs::{ServerPrograms, free_port};
use nix::sys::signal::Signal;
use std::path::{Path, PathBuf};

const POSTGRESQL: ServerPrograms = ServerPrograms {
    name: "PostgreSQL",
    user: "postgres",
};
/// Where Debian keeps the versions' programs.
const DEBIAN_VERSIONS: &str = "/usr/lib/postgresql";

/// Starts PostgreSQL in a directory, which the server's user must be able to reach. Tables are made with `table_options`, such as
/// `WITH (fillfactor = 90)`.
///
/// # Errors
/// When PostgreSQL is not installed or does not start.
pub fn start_postgresql(
    directory: &Path,
    settings: &ServerSettings,
    table_options: &str,
) -> Result<PostgreSqlTarget, TargetError> {
    let places = newest_version().into_iter().collect::<Vec<_>>();
    let (server, initdb) = (
        POSTGRESQL.find("postgres", &places)?,
        POSTGRESQL.find("initdb", &places)?,
    );
    let (data, log) = (directory.join("data"), directory.join("server.log"));
    POSTGRESQL.create_directory(directory)?;
    if !data.join("PG_VERSION").exists() {
        let mut command = POSTGRESQL.command(&initdb)?;
        command.arg("-D").arg(&data);
        command.args([
            "-U",
            "workload",
            "--auth=trust",
            "--encoding=UTF8",
            "--no-locale",
        ]);
        POSTGRESQL.run(command, &log)?;
    }
    let port = free_port()?;
    let mut command = POSTGRESQL.command(&server)?;
    command.arg("-D").arg(&data);
    let settings = [
        format!("port={port}"),
        "listen_addresses=127.0.0.1".into(),
        // The path of a socket may have 107 bytes; a directory's may be longer.
        "unix_socket_directories=".into(),
        format!("shared_buffers={}MB", settings.pool_mib()),
        format!("max_connections={}", settings.connections_max),
        "fsync=on".into(),
        "synchronous_commit=on".into(),
    ];
    for setting in settings {
        command.args(["-c", &setting]);
    }
    let connection = format!("host=127.0.0.1 port={port} user=workload dbname=postgres");
    let target = PostgreSqlTarget::new(&name_of_version(&data), &connection)
        .with_table_options(table_options);
    // SIGTERM would wait for the clients.
    let server = ServerProcess::start(
        POSTGRESQL.name,
        command,
        Signal::SIGINT,
        &data,
        &log,
        || target.connect().map(drop),
    )?;
    Ok(target.with_server(server))
}

/// As in `PostgreSQL 15`.
fn name_of_version(data: &Path) -> String {
    let version = std::fs::read_to_string(data.join("PG_VERSION")).unwrap_or_default();
    format!("{} {}", POSTGRESQL.name, version.trim())
}

fn newest_version() -> Option<PathBuf> {
    let versions = std::fs::read_dir(DEBIAN_VERSIONS)
        .into_iter()
        .flatten()
        .flatten();
    let numbered = versions.filter_map(|version| {
        let number: u32 = version.file_name().to_str()?.parse().ok()?;
        Some((number, version.path().join("bin")))
    });
    numbered.max().map(|(_, path)| path)
}
