//! Databases by their names, each made anew in a folder.

use std::env;
use std::path::Path;

use quire::DatabaseOptions;
use quire_experiments::EmbeddedTarget;
use quire_workload::target::postgresql::PostgreSqlTarget;
use quire_workload::target::servers::{
    ServerSettings, start_mariadb, start_postgresql, start_quire,
};
use quire_workload::target::sqlite::SqliteTarget;
use quire_workload::{Target, TargetError};

use super::arguments::{TargetName, WorkloadArguments};

/// Where a workload runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WantedTarget {
    /// Made for the run.
    Own(TargetName),
    /// The address of a server that runs already.
    Running(String),
}

impl WantedTarget {
    /// All that are asked for.
    pub(super) fn all(arguments: &WorkloadArguments) -> Vec<Self> {
        let running = arguments.servers.iter().cloned().map(Self::Running);
        let own = arguments.targets.iter().copied().map(Self::Own);
        own.chain(running).collect()
    }

    /// The name of its folder.
    pub(super) fn folder(&self) -> String {
        match self {
            Self::Own(name) => format!("{name:?}").to_lowercase(),
            Self::Running(_) => "running".to_owned(),
        }
    }

    /// Opens or starts it in a folder.
    ///
    /// # Errors
    /// When it is not installed, does not start, or refuses.
    pub(super) fn start(
        &self,
        arguments: &WorkloadArguments,
        directory: &Path,
    ) -> Result<Box<dyn Target>, TargetError> {
        let settings = ServerSettings {
            pool_bytes: arguments.cache as u64,
            connections_max: arguments.users + 10,
        };
        // Also those without a key, which would be kept by columns: transactions insert single rows.
        let options = match arguments.table_options.as_str() {
            "" => "USING row".to_owned(),
            options => format!("USING row WITH ({options})"),
        };
        Ok(match self {
            Self::Running(url) => Box::new(PostgreSqlTarget::new("server", url)),
            Self::Own(TargetName::Embedded) => Box::new(embedded(arguments, directory, &options)?),
            Self::Own(TargetName::Quire) => {
                let program = env::current_exe().map_err(|error| TargetError::File {
                    path: "quire".into(),
                    error,
                })?;
                Box::new(start_quire(&program, directory, &settings, &options)?)
            }
            Self::Own(TargetName::Postgresql) => {
                Box::new(start_postgresql(directory, &settings, "")?)
            }
            Self::Own(TargetName::Mariadb) => Box::new(start_mariadb(directory, &settings, "")?),
            Self::Own(TargetName::MariadbCompressed) => {
                let options = "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8";
                Box::new(start_mariadb(directory, &settings, options)?)
            }
            Self::Own(TargetName::Sqlite) => Box::new(SqliteTarget::open(directory)?),
        })
    }
}

fn embedded(
    arguments: &WorkloadArguments,
    directory: &Path,
    table_options: &str,
) -> Result<EmbeddedTarget, TargetError> {
    let options = DatabaseOptions {
        cache_bytes: arguments.cache,
        ..DatabaseOptions::default()
    };
    match &arguments.device {
        None => EmbeddedTarget::open(directory, options, table_options),
        Some(device) => EmbeddedTarget::on_device(directory, device, options, table_options),
    }
}
