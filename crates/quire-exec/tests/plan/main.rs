//! The plan algebra: what expressions say of themselves, and what they compute.
#![allow(clippy::unwrap_used)]

mod arithmetic;
mod conditions;
mod properties;
mod relations;
