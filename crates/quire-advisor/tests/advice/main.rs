#![allow(clippy::unwrap_used)]
//! Advice on real tables.

mod behaviour;
mod fixture;
mod whole_tables;
