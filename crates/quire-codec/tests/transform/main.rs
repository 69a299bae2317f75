//! Page transforms: the bytes of each, derived by hand; the laws, against the definition written out; the choice.
#![allow(clippy::unwrap_used)] // A test may panic: that is how it fails.

mod choice;
mod golden;
mod laws;
mod naive;
mod refusals;
