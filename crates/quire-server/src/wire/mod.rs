//! Messages of PostgreSQL's protocol 3.0 and 3.2, as bytes.
//!
//! | part | bytes | what |
//! |---|---|---|
//! | type | 1 | a letter; the first packet of a connection has none |
//! | length | 4 | big endian, of itself and the body |
//! | body | length - 4 | integers big endian, strings ended by a zero byte |
//!
//! A body is read within its own bounds: what is too short, too long or not UTF-8 is [`Malformed`], never a panic, and never a
//! piece of the next message. Nothing is allocated by a count or a length that the bytes of the message do not back.

mod backend;
mod frontend;
mod reader;
mod sasl;
mod startup;

pub(crate) use backend::{Described, Output};
pub(crate) use frontend::{Bind, Frontend, Target};
pub(crate) use sasl::SaslInitial;
pub(crate) use startup::{Opening, StartupPacket};

use thiserror::Error;

/// Bytes that are no message of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("invalid message: {0}")]
pub(crate) struct Malformed(pub(crate) &'static str);

/// How a value is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Binary,
}

impl Format {
    fn of_code(code: i16) -> Result<Self, Malformed> {
        match code {
            0 => Ok(Self::Text),
            1 => Ok(Self::Binary),
            _ => Err(Malformed("a format code is neither 0 nor 1")),
        }
    }

    pub(crate) fn code(self) -> i16 {
        match self {
            Self::Text => 0,
            Self::Binary => 1,
        }
    }

    /// The format of the value at `index`, of a list that has one for each, one for all, or none, which means text.
    pub(crate) fn at(formats: &[Self], index: usize) -> Self {
        match formats {
            [] => Self::Text,
            [all] => *all,
            each => each.get(index).copied().unwrap_or(Self::Text),
        }
    }
}
