//! Why the bytes of a parameter are no value.

use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum ParameterError {
    #[error("invalid input syntax for type {type_name}: \"{text}\"")]
    Malformed {
        type_name: &'static str,
        text: String,
    },
    #[error("incorrect binary data format for type {0}")]
    Binary(&'static str),
    #[error("value is out of range for type {0}")]
    OutOfRange(&'static str),
    #[error("invalid byte sequence for encoding \"UTF8\"")]
    NoText,
}

impl ParameterError {
    pub(crate) fn sqlstate(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => "22P02",
            Self::Binary(_) => "22P03",
            Self::OutOfRange(_) => "22003",
            Self::NoText => "22021",
        }
    }
}
