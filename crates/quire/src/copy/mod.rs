//! Files in, files out: CSV and Parquet to Arrow record batches and back.
//!
//! Nothing here knows SQL, tables or DataFusion. A reader streams batches in the Arrow types of
//! Quire's SQL types (`Boolean`, `Int16/32/64`, `Float32/64`, `Decimal128`, `Date32`,
//! `Timestamp(µs)` with or without `+00:00`, `Utf8View`, `BinaryView`) with bounded memory, in
//! file order, on several threads; a writer takes such batches. See the README beside this file.

pub(crate) mod atomic_file;
pub(crate) mod control;
pub(crate) mod csv;
pub(crate) mod error;
pub(crate) mod parquet;
mod pipeline;
mod sql_name;

pub use atomic_file::AtomicFile;
pub(crate) use control::{CopyControl, CopyPhase, CopyProgress};
pub(crate) use csv::{
    DATES, FIRST_MOMENT, Reason, civil_from_days, days_from_civil, month_days, parse_date,
    parse_decimal, parse_time, parse_timestamp, write_f32, write_f64,
};
pub(crate) use error::CopyError;
pub(crate) use sql_name::{sql_name, sql_type_name};
