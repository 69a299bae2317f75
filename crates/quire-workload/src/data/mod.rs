//! How do the rows of a workload become files, once, and then the tables of any target?
//!
//! [`DataFolder::generate`] writes a CSV file for each table, in the format that [`Target::load`](crate::Target::load) describes, and a stamp
//! that says of which workload, scale and seed they are. [`load_tables`] fills a target with them. The same folder serves all targets, so all
//! have the same rows.

mod csv;
mod error;
mod folder;
mod load;
mod stamp;

pub use error::WorkloadDataError;
pub use folder::{DataFolder, GenerationProgress};
pub use load::{LoadOutcome, LoadStep, LoadStepKind, load_tables};
pub use stamp::{DataIdentity, GeneratedTable};
