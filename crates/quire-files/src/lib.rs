//! Files in, files out: CSV and Parquet to Arrow record batches and back.
//!
//! Nothing here knows SQL, tables or DataFusion. A reader streams batches in the Arrow types of
//! Quire's SQL types (`Boolean`, `Int16/32/64`, `Float32/64`, `Decimal128`, `Date32`,
//! `Timestamp(µs)` with or without `+00:00`, `Utf8View`, `BinaryView`) with bounded memory, in
//! file order, on several threads; a writer takes such batches. See the README of the crate.
#![forbid(unsafe_code)]

pub mod atomic_file;
pub mod control;
pub mod csv;
pub mod error;
pub mod parquet;
mod pipeline;
mod typed_array_builder;
mod writable;

pub use atomic_file::AtomicFile;
pub use control::{CopyControl, CopyPhase, CopyProgress};
pub use typed_array_builder::TypedArrayBuilder;

pub use error::CopyError;
