//! MariaDB as a server of a workload.

use super::super::TargetError;
use super::super::mariadb::MariaDbTarget;
use super::super::server_process::ServerProcess;
use super::ServerSettings;
use super::programs::{ServerPrograms, free_port};
use nix::sys::signal::Signal;
use std::path::{Path, PathBuf};

const MARIADB: ServerPrograms = ServerPrograms {
    name: "MariaDB",
    user: "mysql",
};

/// Starts MariaDB in a directory, which the server's user must be able to reach. Tables are made with `table_options`, such as
/// `ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8` or `PAGE_COMPRESSED=1`.
///
/// # Errors
/// When MariaDB is not installed or does not start.
pub fn start_mariadb(
    directory: &Path,
    settings: &ServerSettings,
    table_options: &str,
) -> Result<MariaDbTarget, TargetError> {
    let places = [PathBuf::from("/usr/sbin")];
    let (server, install) = (
        MARIADB.find("mariadbd", &places)?,
        MARIADB.find("mariadb-install-db", &places)?,
    );
    let (data, log) = (directory.join("data"), directory.join("server.log"));
    MARIADB.create_directory(directory)?;
    if !data.join("mysql").exists() {
        let mut command = MARIADB.command(&install)?;
        command
            .arg("--no-defaults")
            .arg(format!("--datadir={}", data.display()));
        command.args(["--skip-test-db", "--auth-root-authentication-method=normal"]);
        MARIADB.run(command, &log)?;
    }
    let port = free_port()?;
    let mut command = MARIADB.command(&server)?;
    // The path of a socket may have 107 bytes; a directory's may be longer.
    let socket = std::env::temp_dir().join(format!("quire-workload-mariadb-{port}.socket"));
    let pool_mib = settings.pool_mib();
    command.arg("--no-defaults").args([
        format!("--datadir={}", data.display()),
        format!("--port={port}"),
        "--bind-address=127.0.0.1".into(),
        format!("--socket={}", socket.display()),
        format!("--pid-file={}", data.join("mariadbd.pid").display()),
        "--skip-name-resolve".into(),
        format!("--max-connections={}", settings.connections_max),
        // Each session prepares its own.
        "--max-prepared-stmt-count=1048576".into(),
        "--local-infile=1".into(),
        format!("--innodb-buffer-pool-size={pool_mib}M"),
        "--innodb-flush-log-at-trx-commit=1".into(),
        // Large enough that checkpoints are not what is measured; no larger than the pool, as small databases are weighed with it.
        format!("--innodb-log-file-size={}M", pool_mib.clamp(96, 1_024)),
    ]);
    let target = MariaDbTarget::new(MARIADB.name, "127.0.0.1", port, "root")
        .with_table_options(table_options);
    let server = ServerProcess::start(MARIADB.name, command, Signal::SIGTERM, &data, &log, || {
        target.create_database()
    })?;
    Ok(target.named_by_version()?.with_server(server))
}
