//! The formats of `COPY`: what clients send as the CSV that the engine reads, and rows as clients take them.
//!
//! The formats are those of PostgreSQL's manual, reference page of `COPY`, sections *Text Format*, *CSV Format*, *Binary Format*.

mod incoming;
mod outgoing;

pub(crate) use incoming::Translator;
pub(crate) use outgoing::RowWriter;

/// What a binary copy begins with.
const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xFF\r\n\0";
