//! SQL in, rows out: the database as a program embeds it.
//!
//! A [`Database`] is one file (or memory); a [`Connection`] runs statements; a query's [`Rows`]
//! arrive as Arrow record batches while they are read. Planning and most operators are
//! DataFusion's; the tables, what is pushed into their scans, the order of joins, and the meaning
//! of what DataFusion leaves open are ours. This is the only room that knows DataFusion.
#![forbid(unsafe_code)]

mod backup;
mod connection;
mod database;
mod machine;
mod memory;
mod merging;
mod options;
mod outcome;
mod pg_catalog;
mod roles;
pub mod scram;
mod session;
mod sessions;
mod sql;
mod statement;
mod transaction;
#[cfg(test)]
mod translation_tests;

pub use connection::{Connection, TableSummary, TransactionStatus};
pub use database::Database;
pub use options::DatabaseOptions;
pub use outcome::{Completion, Outcome, Rows};
pub use quire_error::cancel::CancelHandle;
pub use quire_error::progress::{Phase, Progress, ProgressHandle};
pub use quire_error::wait::while_waiting;
pub use quire_error::{Error, Position};
pub use quire_files::AtomicFile;
pub use quire_planner::external::{ExternalRows, ExternalTable, ExternalTables};
pub use quire_store::{CheckReport, Finding, RebuildReport};
pub use quire_tables::row_table::{Decimal, Value};
pub use quire_tables::{ColumnDefinition, SqlType, TableDefinition};
pub use roles::Role;
pub use sql::DumpPart;
pub use sql::load::{CopyFormat, CopyIn, CopyKind, CopyStream};
pub use statement::{Prepared, Reply, ValueRef};

/// The Arrow crate whose types appear in this crate's results.
pub use arrow;
