#![allow(clippy::unwrap_used)]
//! Advice on real tables.

mod fixture;
mod whole_tables;
