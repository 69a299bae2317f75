//! Parquet in and out.

mod convert;
mod reader;
mod types;
mod writer;

#[cfg(test)]
pub(super) mod tests;

pub use reader::ParquetFile;
pub use writer::{ParquetWriteOptions, ParquetWriter};
