//! Quire inside this process as the target of a workload.
//!
//! The driver's threads run the statements themselves: there is no server, no protocol and no second process, so processor time is that of the
//! driver and the database together.

mod session;
mod values;

use std::fs;
use std::path::{Path, PathBuf};

use quire::{Connection, Database, DatabaseOptions, Error, Outcome};
use quire_device::{DeviceMonitor, DeviceOpenOptions, DeviceSpecification, open_device};
use quire_store::OpenMode;
use quire_workload::target::dialect::SqlDialect;
use quire_workload::target::stored::allocated_bytes;
use quire_workload::{Target, TargetError, WorkloadSession, WorkloadTable};

use session::EmbeddedSession;

/// A database file that this process has opened.
pub struct EmbeddedTarget {
    database: Database,
    directory: PathBuf,
    table_options: String,
    /// What the device below says of itself, if there is one.
    monitor: Option<DeviceMonitor>,
}

impl EmbeddedTarget {
    /// Opens `workload.quire` in a directory, or makes both. `table_options` are those of `CREATE TABLE`, such as `WITH (page_codec = zstd)`,
    /// or empty.
    ///
    /// # Errors
    /// When the directory cannot be made or the database cannot be opened.
    pub fn open(
        directory: &Path,
        options: DatabaseOptions,
        table_options: &str,
    ) -> Result<Self, TargetError> {
        make_directory(directory)?;
        let database = Database::open_with(directory.join(FILE), options).map_err(not_started)?;
        Ok(Self {
            database,
            directory: directory.to_owned(),
            table_options: table_options.to_owned(),
            monitor: None,
        })
    }

    /// The same on a device that compresses what the database writes, or is slow, or both.
    ///
    /// # Errors
    /// As [`EmbeddedTarget::open`].
    pub fn on_device(
        directory: &Path,
        device: &DeviceSpecification,
        options: DatabaseOptions,
        table_options: &str,
    ) -> Result<Self, TargetError> {
        make_directory(directory)?;
        let path = directory.join(FILE);
        let device =
            open_device(path, device, DeviceOpenOptions::default()).map_err(not_started)?;
        let database = Database::on_disk(device.disk, OpenMode::ReadWrite, options);
        Ok(Self {
            database: database.map_err(not_started)?,
            directory: directory.to_owned(),
            table_options: table_options.to_owned(),
            monitor: Some(device.monitor),
        })
    }

    /// Bytes that the database has on its device by those that the device stores of them; `None` without a device.
    pub fn compression_ratio(&self) -> Option<f64> {
        let statistics = self.monitor.as_ref()?.statistics()?;
        Some(statistics.compression_ratio())
    }

    fn run(&self, sql: &str) -> Result<(), TargetError> {
        run(&mut self.database.connect(), sql).map_err(refused)
    }
}

const NAME: &str = "Quire, embedded";
const FILE: &str = "workload.quire";

fn make_directory(directory: &Path) -> Result<(), TargetError> {
    fs::create_dir_all(directory).map_err(|error| TargetError::File {
        path: directory.to_owned(),
        error,
    })
}

fn not_started(error: impl std::fmt::Display) -> TargetError {
    TargetError::NotStarted {
        target: NAME.to_owned(),
        message: error.to_string(),
    }
}

/// Runs a statement to its end.
fn run(connection: &mut Connection, sql: &str) -> Result<(), Error> {
    if let Outcome::Rows(mut rows) = connection.execute(sql)? {
        while rows.next_batch()?.is_some() {}
    }
    Ok(())
}

fn refused(error: Error) -> TargetError {
    TargetError::Refused {
        target: NAME.to_owned(),
        message: error.to_string(),
    }
}

impl Target for EmbeddedTarget {
    fn name(&self) -> String {
        NAME.to_owned()
    }

    fn create_table(&self, table: &WorkloadTable) -> Result<(), TargetError> {
        self.run(&SqlDialect::PostgreSql.create_table(table, &self.table_options))
    }

    fn load(&self, table: &WorkloadTable, csv: &Path) -> Result<(), TargetError> {
        let path = csv.display().to_string().replace('\'', "''");
        let sql = format!(
            "COPY {} FROM '{path}' (FORMAT csv, HEADER false)",
            table.name
        );
        self.run(&sql)
    }

    fn create_indexes(&self, table: &WorkloadTable) -> Result<(), TargetError> {
        let dialect = SqlDialect::PostgreSql;
        let mut indexes = table.indexes.iter();
        indexes.try_for_each(|index| self.run(&dialect.create_index(table, index)))
    }

    fn settle(&self) -> Result<(), TargetError> {
        self.run("ANALYZE")?;
        self.run("CHECKPOINT")
    }

    fn connect(&self) -> Result<Box<dyn WorkloadSession>, TargetError> {
        Ok(Box::new(EmbeddedSession::new(self.database.connect())))
    }

    fn stored_bytes(&self) -> Result<u64, TargetError> {
        allocated_bytes(&self.directory)
    }

    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }
}
