//! What the pool promises: whatever happens at the same time, a page is what was done to it; a flush is all of one instant.
#![allow(clippy::unwrap_used)]

mod budget;
mod columns;
mod compression;
mod compression_threads;
mod crashes;
mod dictionaries;
mod flushes;
mod glances;
mod instants;
mod leaves;
mod model;
mod support;
mod twins;
