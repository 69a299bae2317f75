//! Quire's server as a server of a workload.

use super::super::postgresql::PostgreSqlTarget;
use super::super::server_process::ServerProcess;
use super::super::{Target, TargetError};
use super::ServerSettings;
use super::programs::free_port;
use nix::sys::signal::Signal;
use std::path::Path;
use std::process::Command;

const NAME: &str = "Quire";

/// Starts Quire's server, the program `quire`, with a database in a directory. Tables are made with `table_options`, such as
/// `WITH (page_codec = zstd)`.
///
/// # Errors
/// When the program is not there or does not start.
pub fn start_quire(
    quire: &Path,
    directory: &Path,
    settings: &ServerSettings,
    table_options: &str,
) -> Result<PostgreSqlTarget, TargetError> {
    let (data, log) = (directory.join("data"), directory.join("server.log"));
    std::fs::create_dir_all(&data).map_err(|error| TargetError::File {
        path: data.clone(),
        error,
    })?;
    let port = free_port()?;
    let mut command = Command::new(quire);
    command.arg("serve").arg(data.join("workload.quire"));
    command.arg(format!("--listen=127.0.0.1:{port}"));
    command.arg(format!("--cache={}MiB", settings.pool_mib()));
    command.arg(format!("--connections={}", settings.connections_max));
    let connection = format!("host=127.0.0.1 port={port} user=workload dbname=workload");
    let target = PostgreSqlTarget::new(NAME, &connection).with_table_options(table_options);
    let server = ServerProcess::start(NAME, command, Signal::SIGTERM, &data, &log, || {
        target.connect().map(drop)
    })?;
    Ok(target.with_server(server))
}
