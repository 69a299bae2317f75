//! Keys compare as their strings do, have the documented bytes, come back, and survive wrong bytes.
#![allow(clippy::unwrap_used)] // A test may panic: that is how it fails.

mod corrupt;
mod golden;
mod laws;
mod naive;
mod strings;
