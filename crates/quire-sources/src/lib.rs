//! Tables of other databases as streams of Arrow record batches, with their definitions.
//!
//! A [`SourceDatabase`] is a SQLite file or a database of a PostgreSQL server, seen at one moment and never changed. It lists its tables,
//! says what each is defined as, and reads rows in the Arrow types of Quire's SQL types (`Boolean`, `Int16/32/64`, `Float32/64`,
//! `Decimal128`, `Date32`, `Timestamp(µs)` with or without `+00:00`, `Utf8View`, `BinaryView`) with bounded memory. See the README of the crate.
#![forbid(unsafe_code)]

mod batch;
mod constant;
mod database;
pub mod definition;
mod error;
mod postgres;
mod sample;
mod sqlite;

pub use database::{SourceDatabase, SourceReader};
pub use error::SourceError;
pub use sample::SourceSample;

/// Compiles and runs what the README shows.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct SourceExamples;
