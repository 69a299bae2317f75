//! What does each byte on disk mean?
#![forbid(unsafe_code)]

pub mod segment;
