//! Mounted data sets against the file system of the host, a model in memory, and kills.
#![allow(clippy::unwrap_used)]

mod concurrency;
mod content;
mod ends;
mod host;
mod killed;
mod killed_sqlite;
mod mounting;
#[path = "../../../quire-device/tests/device/random.rs"]
mod random;
mod views;
