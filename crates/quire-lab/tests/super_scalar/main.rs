//! Segments of the paper's layout: written as the definition says, and the laws of every scheme, type, width
//! and way of compressing and decompressing.
#![allow(clippy::unwrap_used)] // A test may panic: that is how it fails.

mod analysis;
mod columns;
mod damage;
mod definition;
mod golden;
mod laws;
