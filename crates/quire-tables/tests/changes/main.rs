//! Changed rows of column tables: delta, deletions, and their merge into row groups.
#![allow(clippy::unwrap_used)]

mod concurrent;
mod fixture;
mod full_disk;
mod model;
