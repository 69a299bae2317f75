//! Encoding and decoding of messages of PostgreSQL's protocol, versions 3.0 and 3.2.
//!
//! | field | bytes | content |
//! |---|---|---|
//! | type | 1 | an ASCII letter; absent in the first packet of a connection |
//! | length | 4 | bytes of this field and the body, big endian |
//! | body | length - 4 | integers in big endian, null-terminated strings |
//!
//! Decoding never reads beyond the body. A body that is truncated, has trailing bytes or is not UTF-8 is
//! [`crate::malformed::Malformed`], never a panic. Counts and lengths in a message are checked against its size before anything is
//! allocated for them.

mod backend;
mod frontend;
mod reader;
mod sasl;
mod startup;

pub(crate) use backend::{Described, MessageBuffer};
pub(crate) use frontend::{Bind, DescribeTarget, Frontend};
pub(crate) use sasl::SaslInitial;
pub(crate) use startup::{StartupPacket, StartupRequest};
