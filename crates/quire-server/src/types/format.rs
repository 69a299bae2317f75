//! How values are spelled on the wire.

use crate::malformed::Malformed;

/// How a value is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WireFormat {
    Text,
    Binary,
}

impl WireFormat {
    pub(crate) fn of_code(code: i16) -> Result<Self, Malformed> {
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
