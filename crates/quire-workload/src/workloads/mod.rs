//! The workloads.

pub mod baidu;
mod english;
mod key_distribution;
mod permutation;
mod statements;
pub mod sysbench;
pub mod tpc_b;
pub mod tpc_c;

pub use key_distribution::{KeyDistribution, zipf_exponent_of_share};
pub mod calling_circle;
pub mod order_entry;
pub mod stress_test;

mod definitions;
mod run_clock;
mod violations;
