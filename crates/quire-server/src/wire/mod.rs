//! Messages of PostgreSQL's protocol 3.0 and 3.2, as bytes.
//!
//! | part | bytes | what |
//! |---|---|---|
//! | type | 1 | a letter; the first packet of a connection has none |
//! | length | 4 | big endian, of itself and the body |
//! | body | length - 4 | integers big endian, strings ended by a zero byte |
//!
//! A body is read within its own bounds: what is too short, too long or not UTF-8 is [`crate::malformed::Malformed`], never a panic, and never a
//! piece of the next message. Nothing is allocated by a count or a length that the bytes of the message do not back.

mod backend;
mod frontend;
mod reader;
mod sasl;
mod startup;

pub(crate) use backend::{Described, MessageBuffer};
pub(crate) use frontend::{Bind, DescribeTarget, Frontend};
pub(crate) use sasl::SaslInitial;
pub(crate) use startup::{StartupPacket, StartupRequest};
