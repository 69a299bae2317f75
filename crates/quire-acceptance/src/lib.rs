//! Does the whole keep its word? What the tests and the benchmark of this crate share.
//!
//! The crate stands above all others and nothing depends on it. Tests that need only the shell are written in Python
//! (`tests/acceptance` in the repository's root); here are those that need a connection: the sqllogictest corpora, the
//! life of a row, and the comparison of speed with DataFusion in the same process.
#![forbid(unsafe_code)]

pub mod sql_logic;
