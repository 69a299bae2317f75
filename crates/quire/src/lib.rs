//! SQL in, rows out: the database as a program embeds it.
//!
//! A [`Database`] is one file (or memory); a [`Connection`] runs statements; a query's [`Rows`]
//! arrive as Arrow record batches while they are read. Planning and most operators are
//! DataFusion's; the tables, what is pushed into their scans, the order of joins, and the meaning
//! of what DataFusion leaves open are ours. Statements are parsed by `quire-sql` and planned by `quire-planner`.
//!
//! A program that has to look at something while it waits for a statement does so by [`while_waiting`]:
//!
//! ```
//! use std::rc::Rc;
//!
//! let mut connection = quire::Database::in_memory()?.connect();
//! let cancel = connection.cancel_handle();
//! let sql = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b WHERE a + b < 0";
//! let outcome = quire::while_waiting(Rc::new(move || cancel.cancel()), || {
//!     match connection.execute(sql)? {
//!         quire::Outcome::Rows(mut rows) => rows.next_batch(),
//!         quire::Outcome::Done(_) => Ok(None),
//!     }
//! });
//! assert_eq!(outcome.unwrap_err().sqlstate(), "57014");
//! # Ok::<(), quire::Error>(())
//! ```
#![forbid(unsafe_code)]

mod backup;
mod check;
mod connection;
mod database;
mod definition_text;
mod device;
mod experiment_options;
mod machine;
mod memory;
mod memory_limits;
mod merging;
mod native;
mod opened;
mod options;
mod outcome;
mod pg_catalog;
mod plan_cache;
mod planners;
mod planning;
mod result_rows;
mod roles;
pub mod scram;
mod session;
mod sessions;
mod settings;
mod sql;
mod statement;
#[cfg(test)]
mod tests;
mod tuple_counts;
mod value_ref;

pub use connection::{Connection, TableSummary, TransactionStatus};
pub use database::Database;
#[doc(hidden)]
pub use experiment_options::ExperimentOptions;
pub use options::DatabaseOptions;
pub use outcome::{Completion, Outcome, Rows};
pub use quire_device::{DeviceSpecification, DeviceSpecificationError};
pub use quire_error::cancel::CancelHandle;
pub use quire_error::chore::while_waiting;
pub use quire_error::progress::{Phase, Progress, ProgressHandle};
pub use quire_error::{Error, Position};
pub use quire_files::{AtomicFile, TypedArrayBuilder};
pub use quire_planner::external::{ExternalRows, ExternalTable, ExternalTables};
pub use quire_store::pool::PoolPolicy;
pub use quire_store::{CheckReport, Finding, RebuildReport};
pub use quire_tables::row_table::{Decimal, Value};
pub use quire_tables::{ColumnDefinition, SqlType, TableDefinition};
pub use roles::Role;
pub use sql::DumpPart;
pub use sql::load::{CopyFormat, CopyIn, CopyKind, CopyStream};
pub use statement::{Prepared, Reply};
pub use value_ref::ValueRef;

/// The Arrow crate whose types appear in this crate's results.
pub use arrow;

/// Compiles what READMEs show.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../README.md")]
struct LibraryExamples;
