//! Transactional B+trees over byte keys and values.
//!
//! This crate knows nothing about tables or types. [`btree`] has the tree, [`mvcc`] transactions over several trees with recovery and
//! checkpoints, and [`progress`] the counters and the cancellation of long-running statements.
#![forbid(unsafe_code)]

pub mod btree;
pub mod mvcc;
pub mod progress;
