//! The laws every codec obeys, for every codec and type: what comes out is what went in, one value is the same
//! as all of them, the size announced is the size written, and wrong bytes are an error or wrong values, never
//! a panic. (Text has its own suite; segments, with NULLs, are in `quire-format`.)
#![allow(clippy::unwrap_used)] // A test may panic: that is how it fails.

mod aside;
mod backends;
mod booleans;
mod exceptions;
mod floats;
mod fused;
mod integers;
mod packed;
mod random;
mod shapes;
mod subject;
