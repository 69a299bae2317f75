//! The workloads.

pub mod baidu;
pub mod calling_circle;
mod definitions;
mod english;
mod key_distribution;
pub mod order_entry;
mod permutation;
mod run_clock;
mod statements;
pub mod stress_test;
pub mod sysbench;
pub mod tpc_b;
pub mod tpc_c;
mod violations;

pub use key_distribution::{KeyDistribution, zipf_exponent_of_share};
