//! Integers.
pub mod bitpack;
