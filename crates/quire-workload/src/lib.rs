//! What does a transactional workload do on a database, on any directory, at any load?
//!
//! A [`Workload`] describes its tables, generates their rows from a seed, and gives each simulated user its [`WorkloadTransaction`]s. A
//! [`Target`] is a database system that holds the tables and accepts [`WorkloadSession`]s. Neither knows the other: every workload runs on every
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
pub use schema::{ColumnType, WorkloadColumn, WorkloadIndex, WorkloadTable};
pub use target::{SessionError, Target, TargetError, WorkloadRows, WorkloadSession};
pub use value::SqlValue;
pub use workload::{
    ConditionOutcome, TransactionEnd, TransactionKind, User, Workload, WorkloadRowSink,
    WorkloadTransaction,
};
