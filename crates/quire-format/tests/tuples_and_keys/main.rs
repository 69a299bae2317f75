//! The laws of tuples and of keys.
#![allow(clippy::unwrap_used)] // A test may panic: that is how it fails.

mod corrupt;
mod golden;
mod keys;
mod keys_corrupt;
mod keys_golden;
mod laws;
mod naive;
mod paper;
mod refusals;
mod rows;
