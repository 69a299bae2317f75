//! A run on a fake database whose statements say how long they take, and whether they fail.
#![allow(clippy::unwrap_used)]

mod data;
mod fake;
mod runs;
