//! The B+tree: against an ordered map, under threads, after crashes, and damaged.
#![allow(clippy::unwrap_used)]

mod build;
mod crash;
mod damage;
mod fixture;
mod model;
mod targets;
mod threads;
