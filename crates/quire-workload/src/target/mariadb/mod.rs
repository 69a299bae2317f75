//! MariaDB as a target.

mod load;
mod session;
mod values;

use super::dialect::SqlDialect;
use super::server_process::ServerProcess;
use super::{Target, TargetError, WorkloadSession};
use crate::WorkloadTable;
use mysql::consts::CapabilityFlags;
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use session::MariaDbSession;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

const DATABASE: &str = "workload";
/// Texts, identifiers and `||` as standard SQL has them, and errors instead of values that are cut to fit.
const SQL_MODE: &str = "SET sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO'";
const SETTLE_TIMEOUT: Duration = Duration::from_secs(600);

/// MariaDB with InnoDB.
///
/// Transactions run at the server's default, REPEATABLE READ. A changed row is one that the statement found, also if it had the new values
/// already, as in the other systems. Decimals as parameters are texts, which the server takes as doubles where it computes with them: they
/// are exact up to 15 digits.
pub struct MariaDbTarget {
    name: String,
    host: String,
    port: u16,
    user: String,
    table_options: String,
    server: Option<ServerProcess>,
}

impl MariaDbTarget {
    /// A server that runs already, with a user without a password; tables are in its database `workload`. Its size and its processes are
    /// not known.
    pub fn new(name: &str, host: &str, port: u16, user: &str) -> Self {
        Self {
            name: name.to_owned(),
            host: host.to_owned(),
            port,
            user: user.to_owned(),
            table_options: String::new(),
            server: None,
        }
    }

    /// What tables are made with, such as `ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8`.
    #[must_use]
    pub fn with_table_options(mut self, options: &str) -> Self {
        options.clone_into(&mut self.table_options);
        self
    }

    /// Makes the database `workload`, unless it is there.
    ///
    /// # Errors
    /// When the server refuses.
    pub fn create_database(&self) -> Result<(), TargetError> {
        let connection = Conn::new(self.options());
        let made = connection.and_then(|mut connection| {
            connection.query_drop(format!("CREATE DATABASE IF NOT EXISTS {DATABASE}"))
        });
        made.map_err(|error| self.refused(&error))
    }

    /// The server's process, which ends with this target.
    #[must_use]
    pub(super) fn with_server(mut self, server: ServerProcess) -> Self {
        self.server = Some(server);
        self
    }

    /// Adds the server's version to the name, as in `MariaDB 10.11`.
    pub(super) fn named_by_version(mut self) -> Result<Self, TargetError> {
        let version: Option<String> = self
            .connection()?
            .query_first("SELECT VERSION()")
            .map_err(|error| self.refused(&error))?;
        let version = version.unwrap_or_default();
        let numbers: Vec<&str> = version.splitn(3, '.').take(2).collect();
        self.name = format!("{} {}", self.name, numbers.join("."));
        Ok(self)
    }

    fn options(&self) -> OptsBuilder {
        OptsBuilder::new()
            .ip_or_hostname(Some(self.host.clone()))
            .tcp_port(self.port)
            .user(Some(self.user.clone()))
            // By the loopback, as the other servers.
            .prefer_socket(false)
            // A session keeps its statements by itself.
            .stmt_cache_size(0)
            .additional_capabilities(CapabilityFlags::CLIENT_FOUND_ROWS)
            .init(vec![SQL_MODE])
    }

    fn connection(&self) -> Result<Conn, TargetError> {
        Conn::new(self.options().db_name(Some(DATABASE))).map_err(|error| self.refused(&error))
    }

    fn run(&self, statement: &str) -> Result<(), TargetError> {
        self.connection()?
            .query_drop(statement)
            .map_err(|error| self.refused(&error))
    }

    fn refused(&self, error: &mysql::Error) -> TargetError {
        self.refused_because(error.to_string())
    }

    fn refused_because(&self, message: String) -> TargetError {
        TargetError::Refused {
            target: self.name.clone(),
            message,
        }
    }

    /// Waits until InnoDB has written all its pages.
    fn wait_for_pages(&self) -> Result<(), TargetError> {
        let mut connection = self.connection()?;
        let started = Instant::now();
        while started.elapsed() < SETTLE_TIMEOUT {
            let dirty: Option<(String, u64)> = connection
                .query_first("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'")
                .map_err(|error| self.refused(&error))?;
            if dirty.is_some_and(|(_, pages)| pages == 0) {
                return Ok(());
            }
            sleep(Duration::from_millis(100));
        }
        Err(self.refused_because(format!(
            "pages are still not on the disk after {} s",
            SETTLE_TIMEOUT.as_secs()
        )))
    }
}

impl Target for MariaDbTarget {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn create_table(&self, table: &WorkloadTable) -> Result<(), TargetError> {
        self.run(&SqlDialect::MariaDb.create_table(table, &self.table_options))
    }

    fn load(&self, table: &WorkloadTable, csv: &Path) -> Result<(), TargetError> {
        load::load_csv(&mut self.connection()?, table, csv)
            .map_err(|error| self.refused_because(error.to_string()))
    }

    fn create_indexes(&self, table: &WorkloadTable) -> Result<(), TargetError> {
        for index in &table.indexes {
            self.run(&SqlDialect::MariaDb.create_index(table, index))?;
        }
        Ok(())
    }

    fn settle(&self) -> Result<(), TargetError> {
        let mut connection = self.connection()?;
        let tables: Vec<String> = connection
            .query("SHOW TABLES")
            .map_err(|error| self.refused(&error))?;
        for table in tables {
            self.run(&format!("ANALYZE TABLE \"{table}\""))?;
        }
        // InnoDB writes pages at leisure: with a limit of no dirty page, and no limit of its rate, it does so now.
        let rate: Option<u64> = connection
            .query_first("SELECT @@innodb_io_capacity")
            .map_err(|error| self.refused(&error))?;
        let share: Option<f64> = connection
            .query_first("SELECT @@innodb_max_dirty_pages_pct")
            .map_err(|error| self.refused(&error))?;
        self.run("SET GLOBAL innodb_io_capacity_max = 100000, GLOBAL innodb_io_capacity = 100000, GLOBAL innodb_max_dirty_pages_pct = 0")?;
        let waited = self.wait_for_pages();
        let (rate, share) = (rate.unwrap_or(200), share.unwrap_or(90.0));
        self.run(&format!(
            "SET GLOBAL innodb_io_capacity = {rate}, GLOBAL innodb_max_dirty_pages_pct = {share}"
        ))?;
        self.run("SET GLOBAL innodb_io_capacity_max = DEFAULT")?;
        waited
    }

    fn connect(&self) -> Result<Box<dyn WorkloadSession>, TargetError> {
        Ok(Box::new(MariaDbSession::new(self.connection()?)))
    }

    fn stored_bytes(&self) -> Result<u64, TargetError> {
        ServerProcess::stored_bytes(self.server.as_ref(), &self.name)
    }

    fn processes(&self) -> Vec<u32> {
        self.server
            .as_ref()
            .map(ServerProcess::processes)
            .unwrap_or_default()
    }
}
