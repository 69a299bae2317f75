//! The workloads.

pub mod calling_circle;
pub mod order_entry;
pub mod stress_test;

mod definitions;
mod run_clock;
mod violations;
