//! Parquet in and out.

mod convert;
mod reader;
mod types;
mod writer;

#[cfg(test)]
pub(super) mod tests;

pub use reader::{ParquetFile, ParquetReader};
pub use writer::{ParquetWriteOptions, ParquetWriter};
