//! For tests only: repeatable random numbers, models, oracles and campaigns of faults.
#![forbid(unsafe_code)]

pub mod engine;
pub mod log;
pub mod plan;
pub mod random;
mod recovery;
pub mod rows;
pub mod store;
