//! Plans of queries, what they cost, and the row-at-a-time executor that runs them.
//!
//! [`plan`] is the algebra. [`access`] finds the range of keys that a condition leaves. [`costs`] has the time of each operation on this
//! machine. [`explained`] is what `EXPLAIN` shows. [`avm`] is the register machine, and [`mod@tuple`] lowers a plan to iterators over its registers.
#![forbid(unsafe_code)]

pub mod access;
pub mod avm;
pub mod costs;
pub mod explained;
mod key_hash;
pub mod plan;
pub mod tuple;
