//! SQL types on the wire: their numbers, and values as text and in binary, in both directions.
//!
//! | module | answers |
//! |---|---|
//! | `pg_type` | which type of PostgreSQL an Arrow type is |
//! | `cell` | one value, whether it stands in an Arrow array or was computed for itself |
//! | `text`, `binary` | how a value is written |
//! | `float`, `calendar`, `numeric` | digits of floats, days and times, decimals |
//! | `parameter`, `scalar_parameter`, `array_parameter` | what a client's bytes for a parameter mean |
//! | `format` | whether that is text or binary |
//!
//! Formats are those of PostgreSQL 15 with `DateStyle` ISO, `IntervalStyle` postgres, `bytea_output` hex and
//! `extra_float_digits` 1; timestamps with time zone are shown where the session is, with their offset.

mod array_parameter;
mod binary;
mod calendar;
mod cell;
mod float;
mod format;
mod numeric;
mod parameter;
mod parameter_error;
mod pg_type;
mod scalar_parameter;
mod text;

pub(crate) use binary::write_binary;
pub(crate) use cell::{WireCell, WireColumn};
pub(crate) use format::WireFormat;
pub(crate) use numeric::rescaled;
pub(crate) use parameter::Parameter;
pub(crate) use parameter_error::ParameterError;
pub(crate) use pg_type::PgType;
pub(crate) use scalar_parameter::utf8;
pub(crate) use text::write_text;
