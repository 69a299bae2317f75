//! CSV in and out.

mod chunk;
mod column;
mod field_index;
mod file;
mod infer;
mod options;
mod profile;
mod reader;
mod records;
mod sniff;
mod splitter;
mod writer;

#[cfg(test)]
mod tests;

pub use file::CsvFile;

pub use options::{CsvFlag, CsvOptions, Delimiter, OnError, TextLimit};
pub use reader::CsvReader;

pub use writer::{CsvWriteOptions, CsvWriter};
