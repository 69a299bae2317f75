//! What does a transactional workload do on a database, on any directory, at any load?
//!
//! A [`Workload`] describes its tables, generates their rows from a seed, and gives each simulated user its [`Transaction`]s. A
//! [`Target`] is a database system that holds the tables and accepts [`Session`]s. Neither knows the other: every workload runs on every
//! target, with the same rows and the same statements.
#![forbid(unsafe_code)]

pub mod data;
pub mod driver;
pub mod measure;
mod random;
pub mod report;
mod schema;
pub mod target;
mod value;
mod workload;
pub mod workloads;

pub use random::SeededRandom;
pub use schema::{ColumnDefinition, ColumnType, IndexDefinition, TableDefinition};
pub use target::{Rows, Session, SessionError, Target, TargetError};
pub use value::SqlValue;
pub use workload::{
    ConditionOutcome, RowSink, Transaction, TransactionEnd, TransactionKind, User, Workload,
};
