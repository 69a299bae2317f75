//! Transactions over trees: against a model, under threads, after crashes.
#![allow(clippy::unwrap_used)]

mod fixture;
mod locks;
mod model;
mod visibility;
