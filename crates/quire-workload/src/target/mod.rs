//! What a database system is to a workload.

mod csv;
mod descriptors;
pub mod dialect;
pub mod mariadb;
mod placeholders;
pub mod postgresql;
mod server_process;
pub mod servers;
pub mod sqlite;
pub mod stored;
mod text_value;

use crate::{SqlValue, WorkloadTable};
use std::path::Path;

/// Rows of a result.
pub type WorkloadRows = Vec<Vec<SqlValue>>;

/// A database that holds a workload's tables.
pub trait Target: Send + Sync {
    /// As it is named in reports, such as `PostgreSQL 15`.
    fn name(&self) -> String;

    /// Makes a table with its primary key, without its indexes.
    ///
    /// # Errors
    /// When the database refuses.
    fn create_table(&self, table: &WorkloadTable) -> Result<(), TargetError>;

    /// Loads the rows of a CSV file: no header, fields with a comma, a quote or a line break in double quotes, NULL as an empty field without
    /// quotes, an empty text as `""`.
    ///
    /// # Errors
    /// When the database refuses.
    fn load(&self, table: &WorkloadTable, csv: &Path) -> Result<(), TargetError>;

    /// Makes the indexes of a loaded table.
    ///
    /// # Errors
    /// When the database refuses.
    fn create_indexes(&self, table: &WorkloadTable) -> Result<(), TargetError>;

    /// Brings the database to rest: statistics, and all changes on the disk.
    ///
    /// # Errors
    /// When the database refuses.
    fn settle(&self) -> Result<(), TargetError>;

    /// A connection of one user.
    ///
    /// # Errors
    /// When there is none.
    fn connect(&self) -> Result<Box<dyn WorkloadSession>, TargetError>;

    /// The bytes that its files take on the disk (allocated blocks, not lengths).
    ///
    /// # Errors
    /// When they cannot be read.
    fn stored_bytes(&self) -> Result<u64, TargetError>;

    /// The processes of the database, none if it runs in this one.
    fn processes(&self) -> Vec<u32>;
}

/// A connection of one user. Each text of a statement is prepared once.
pub trait WorkloadSession: Send {
    /// Executes a statement that returns rows.
    ///
    /// # Errors
    /// When it fails.
    fn query(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<WorkloadRows, SessionError>;

    /// Executes a statement that returns the number of rows that it has changed.
    ///
    /// # Errors
    /// When it fails.
    fn execute(&mut self, sql: &str, parameters: &[SqlValue]) -> Result<u64, SessionError>;

    /// Begins a transaction. Without it each statement is one.
    ///
    /// # Errors
    /// When it fails.
    fn begin(&mut self) -> Result<(), SessionError>;

    /// Commits.
    ///
    /// # Errors
    /// When it fails; then nothing of the transaction is in the database.
    fn commit(&mut self) -> Result<(), SessionError>;

    /// Rolls back; without a transaction it does nothing.
    ///
    /// # Errors
    /// When it fails.
    fn rollback(&mut self) -> Result<(), SessionError>;
}

/// Why a statement failed.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum SessionError {
    /// Deadlock, serialization failure, lock timeout or a busy database: the transaction is run again after a rollback.
    #[error("the transaction has to be run again: {0}")]
    Retry(String),
    #[error("{statement}: {message}")]
    Failed { statement: String, message: String },
}

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    #[error("{target} refuses: {message}")]
    Refused { target: String, message: String },
    #[error("{target} does not start: {message}")]
    NotStarted { target: String, message: String },
    #[error("{path}: {error}")]
    File {
        path: std::path::PathBuf,
        error: std::io::Error,
    },
}
