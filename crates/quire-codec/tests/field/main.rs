//! The fields of one tuple keep their laws, have the bytes of the paper's tables, and survive wrong ones.
#![allow(clippy::unwrap_used)] // A test may panic: that is how it fails.

mod corrupt;
mod golden;
mod laws;
mod naive;
mod rows;
