//! A register with what is in it, as compilers, callers and iterators name it.

use super::operand::{Operand, OperandKind, TextRegister, Wide, WordRegister};
use crate::plan::ValueKind;

/// A register and what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Register {
    Boolean(WordRegister),
    Integer(WordRegister),
    Real(WordRegister),
    Double(WordRegister),
    Decimal(Wide),
    Text(TextRegister),
}

/// A register by the size of its values.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bank {
    Word(WordRegister),
    Wide(Wide),
    Text(TextRegister),
}

impl Register {
    /// A register for values of a kind.
    #[must_use]
    pub const fn new(kind: ValueKind, number: u8) -> Self {
        match kind {
            ValueKind::Boolean => Self::Boolean(WordRegister(number)),
            ValueKind::Integer => Self::Integer(WordRegister(number)),
            ValueKind::Real => Self::Real(WordRegister(number)),
            ValueKind::Double => Self::Double(WordRegister(number)),
            ValueKind::Decimal => Self::Decimal(Wide(number)),
            ValueKind::Bytes => Self::Text(TextRegister(number)),
        }
    }

    /// What is in it.
    #[must_use]
    pub const fn kind(self) -> ValueKind {
        match self {
            Self::Boolean(_) => ValueKind::Boolean,
            Self::Integer(_) => ValueKind::Integer,
            Self::Real(_) => ValueKind::Real,
            Self::Double(_) => ValueKind::Double,
            Self::Decimal(_) => ValueKind::Decimal,
            Self::Text(_) => ValueKind::Bytes,
        }
    }

    pub(super) const fn bank(self) -> Bank {
        match self {
            Self::Boolean(word) | Self::Integer(word) | Self::Real(word) | Self::Double(word) => {
                Bank::Word(word)
            }
            Self::Decimal(wide) => Bank::Wide(wide),
            Self::Text(text) => Bank::Text(text),
        }
    }

    /// The register as an operand that is read.
    #[must_use]
    pub fn operand(self) -> Operand {
        let (kind, number) = match self.bank() {
            Bank::Word(word) => (OperandKind::Word, word.0),
            Bank::Wide(wide) => (OperandKind::Wide, wide.0),
            Bank::Text(text) => (OperandKind::Text, text.0),
        };
        Operand {
            kind,
            number: number.into(),
            tuple: 0,
        }
    }
}
