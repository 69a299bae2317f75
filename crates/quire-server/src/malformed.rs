//! Bytes that are no message.

use thiserror::Error;

/// Bytes that are no message of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("invalid message: {0}")]
pub(crate) struct Malformed(pub(crate) &'static str);
