//! `quire workload`: transactions of many users, on Quire and on other databases.

mod arguments;
mod named;
mod progress;
mod run;
mod targets;

pub use arguments::WorkloadArguments;
pub use run::run;
