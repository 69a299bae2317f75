//! CSV in and out.

mod chunk;
mod column;
mod field_index;
mod file;
pub(super) mod format;
mod infer;
mod number;
mod options;
mod profile;
mod reader;
mod records;
mod scalar;
mod sniff;
mod splitter;
mod time;
mod writer;

#[cfg(test)]
mod tests;

pub use file::CsvFile;
pub(crate) use format::{write_f32, write_f64};
pub(crate) use number::{Reason, parse_decimal};
pub use options::{Choice, CsvOptions, Delimiter, OnError, TextLimit};
pub use reader::CsvReader;
pub(crate) use time::{
    DATES, FIRST_MOMENT, civil_from_days, days_from_civil, month_days, parse_date, parse_time,
    parse_timestamp,
};
pub use writer::{CsvWriteOptions, CsvWriter};
