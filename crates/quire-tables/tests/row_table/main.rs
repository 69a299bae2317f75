//! Rows as keys and tuples, against naive twins.
#![allow(clippy::unwrap_used)]

mod fixture;
mod index;
mod long_values;
mod ranges;
mod rows;
mod values;
