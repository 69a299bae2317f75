//! Laws of row pages: beside an ordered map, divided, built, and damaged.
#![allow(clippy::unwrap_used)]

mod build;
mod columns;
mod damage;
mod divide;
mod inner;
mod model;
mod operation;
mod padding;
mod random;
