//! The workloads.

pub mod baidu;
mod english;
mod key_distribution;
mod permutation;
mod standard;
mod statements;
pub mod sysbench;
pub mod tpc_b;
pub mod tpc_c;

pub use key_distribution::{KeyDistribution, zipf_exponent_of_share};
pub use standard::{STANDARD_SCALES, standard};
