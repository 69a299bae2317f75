//! How fast are row tables, beside SQLite? `cargo run --release --manifest-path bench/row_speed/Cargo.toml -- FOLDER [PART…]`
//!
//! Parts: `memory` (all data in the pool), `bulk` (rows in the order of the key), `large` (8 times the pool; `misses`: its reads alone), `throttled` (4 times the pool, on a SATA SSD as
//! `ThrottledDisk` models it), `background` (compression by threads and by whoever fills a page),
//! `targets` (images of any size and of fixed ones), `embedded` (prepared statements of the embedded interface; only with `--features
//! embedded`). FOLDER must exist; files
//! `row_speed.*` in it are removed. What is compared runs in turn, in short rounds; figures are medians, ratios those of the
//! medians.
#![forbid(unsafe_code)]

mod bulk;
#[cfg(feature = "embedded")]
mod embedded;
mod measure;
mod parts;
mod quire;
mod rows;
mod sqlite;
mod targets;

use std::path::PathBuf;

/// Anything that goes wrong.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A database that is measured.
pub trait Peer {
    /// Does the work of one thread.
    fn worker(&self) -> Result<Box<dyn Worker>, Failure>;
}

/// One thread's access.
pub trait Worker: Send {
    /// Reads a row by its key, all columns. Returns the length of its texts.
    fn select(&mut self, id: i64) -> Result<usize, Failure>;
    /// Adds 1 to a number of a row, in a transaction of its own.
    fn update(&mut self, id: i64, is_durable: bool) -> Result<(), Failure>;
    /// Begins a transaction.
    fn begin(&mut self, is_durable: bool) -> Result<(), Failure>;
    /// Inserts a row.
    fn insert(&mut self, id: i64) -> Result<(), Failure>;
    /// Ends the transaction.
    fn commit(&mut self) -> Result<(), Failure>;
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("which folder?")?);
    let parts: Vec<String> = arguments.collect();
    let is_wanted = |name: &str| parts.is_empty() || parts.iter().any(|part| part == name);
    if is_wanted("memory") {
        parts::memory(&folder)?;
    }
    if is_wanted("bulk") {
        bulk::bulk(&folder)?;
    }
    if is_wanted("large") {
        parts::large(&folder, false)?;
    }
    if parts.iter().any(|part| part == "misses") {
        parts::large(&folder, true)?;
    }
    if is_wanted("throttled") {
        parts::throttled(&folder)?;
    }
    if is_wanted("background") {
        parts::background(&folder)?;
    }
    if is_wanted("targets") {
        targets::targets(&folder)?;
    }
    #[cfg(feature = "embedded")]
    if is_wanted("embedded") {
        parts::embedded(&folder)?;
    }
    parts::remove_files(&folder)
}
