//! Values as text: what SQL's literals, `COPY` and the wire read and write; and the elements of SQL's own text.
//!
//! Numbers, truth values, bytes, dates, times, intervals and time zones, in PostgreSQL's forms, and the SQL name of each Arrow type.
//! Nothing here knows tables, statements or the planner.
#![forbid(unsafe_code)]

pub mod base64;
pub mod boolean;
pub mod bytea;
pub mod calendar;
mod gregorian;
pub mod iso_time_form;
pub mod number_in;
pub mod number_out;
pub mod sql_scanner;
pub mod temporal;
pub mod time_limit;
pub mod type_name;
mod zone;

/// Compiles what the README shows.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct TextExamples;
