//! The B+tree: against an ordered map, under threads, after crashes, damaged, and read ahead.
#![allow(clippy::unwrap_used)]

mod build;
mod crash;
mod damage;
mod fixture;
mod leaf_rates;
mod model;
mod read_ahead;
mod targets;
mod threads;
