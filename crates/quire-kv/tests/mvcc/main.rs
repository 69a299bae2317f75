//! Transactions over trees: against a model, under threads, after crashes.
#![allow(clippy::unwrap_used)]

mod anomalies;
mod crash;
mod fixture;
mod history;
mod history_crash;
mod large;
mod locks;
mod model;
mod visibility;
