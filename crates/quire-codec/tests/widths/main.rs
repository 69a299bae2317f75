//! Every layout of integers, at every type and width, against bytes made by a slow encoder that follows the text of
//! the format, on every instruction set.
#![allow(clippy::unwrap_used)] // A test may panic: that is how it fails.

#[path = "../laws/backends.rs"]
mod backends;
mod layouts;
mod slow;
