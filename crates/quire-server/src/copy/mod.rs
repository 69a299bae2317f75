//! The formats of `COPY`: what clients send, as the engine reads it, and rows as clients take them. Whoever has bytes of these
//! formats may use it, such as a shell: [`CopyReceiver`] and [`CopySender`] take what [`quire::Connection::begin_copy`] begins.
//!
//! The formats are those of PostgreSQL's manual, reference page of `COPY`, sections *Text Format*, *CSV Format*, *Binary Format*.

mod binary_column;
mod binary_rows;
mod exchange;
mod lines;
mod outgoing;

pub use exchange::{CopyFailure, CopyReceiver, CopySender};
use outgoing::CopyRowWriter;
