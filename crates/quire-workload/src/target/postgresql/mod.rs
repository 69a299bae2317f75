//! Servers that speak PostgreSQL's protocol as targets: PostgreSQL and Quire's own.

mod error_text;
mod numeric;
mod session;
mod wire_value;

use super::dialect::SqlDialect;
use super::server_process::ServerProcess;
use super::{Target, TargetError, WorkloadSession};
use crate::WorkloadTable;
use error_text::error_text;
use postgres::{Client, NoTls};
use session::PostgreSqlSession;
use std::fs::File;
use std::io;
use std::path::Path;

/// A server that speaks PostgreSQL's protocol.
///
/// Transactions run at the server's default, READ COMMITTED. A result of type NUMERIC that has more digits than 64 bits hold, such as an
/// average, is a double.
pub struct PostgreSqlTarget {
    name: String,
    /// As libpq has them: `host=127.0.0.1 port=5432 user=… dbname=…`.
    connection: String,
    table_options: String,
    server: Option<ServerProcess>,
}

impl PostgreSqlTarget {
    /// A server that runs already. Its size and its processes are not known.
    pub fn new(name: &str, connection: &str) -> Self {
        Self {
            name: name.to_owned(),
            connection: connection.to_owned(),
            table_options: String::new(),
            server: None,
        }
    }

    /// What tables are made with, such as `WITH (page_codec = zstd)`.
    #[must_use]
    pub fn with_table_options(mut self, options: &str) -> Self {
        options.clone_into(&mut self.table_options);
        self
    }

    /// The server's process, which ends with this target.
    #[must_use]
    pub(super) fn with_server(mut self, server: ServerProcess) -> Self {
        self.server = Some(server);
        self
    }

    fn client(&self) -> Result<Client, TargetError> {
        Client::connect(&self.connection, NoTls).map_err(|error| self.refused(&error))
    }

    fn run(&self, statement: &str) -> Result<(), TargetError> {
        self.client()?
            .batch_execute(statement)
            .map_err(|error| self.refused(&error))
    }

    fn refused(&self, error: &postgres::Error) -> TargetError {
        TargetError::Refused {
            target: self.name.clone(),
            message: error_text(error),
        }
    }
}

impl Target for PostgreSqlTarget {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn create_table(&self, table: &WorkloadTable) -> Result<(), TargetError> {
        self.run(&SqlDialect::PostgreSql.create_table(table, &self.table_options))
    }

    fn load(&self, table: &WorkloadTable, csv: &Path) -> Result<(), TargetError> {
        let wrong = |error| TargetError::File {
            path: csv.to_owned(),
            error,
        };
        let mut file = File::open(csv).map_err(wrong)?;
        let mut client = self.client()?;
        let copy = format!("COPY {} FROM STDIN (FORMAT csv)", table.name);
        let mut writer = client
            .copy_in(&copy)
            .map_err(|error| self.refused(&error))?;
        io::copy(&mut file, &mut writer).map_err(wrong)?;
        writer
            .finish()
            .map(drop)
            .map_err(|error| self.refused(&error))
    }

    fn create_indexes(&self, table: &WorkloadTable) -> Result<(), TargetError> {
        for index in &table.indexes {
            self.run(&SqlDialect::PostgreSql.create_index(table, index))?;
        }
        Ok(())
    }

    fn settle(&self) -> Result<(), TargetError> {
        self.run("ANALYZE")?;
        self.run("CHECKPOINT")
    }

    fn connect(&self) -> Result<Box<dyn WorkloadSession>, TargetError> {
        Ok(Box::new(PostgreSqlSession::new(self.client()?)))
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
