//! Functions that are not of the machine.

use std::sync::Arc;

use super::operand::{Call, Target, Text, Wide, Word};
use super::program::Asides;
use super::registers::{RegisterSet, Write};
use super::trap::Trap;
use crate::plan::{Scalar, ScalarFunction, ValueKind};
use crate::row_table::TupleValue;

/// A register and what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Register {
    Boolean(Word),
    Integer(Word),
    Real(Word),
    Double(Word),
    Decimal(Wide),
    Text(Text),
}

impl Register {
    /// A register for values of a kind.
    #[must_use]
    pub const fn new(kind: ValueKind, number: u8) -> Self {
        match kind {
            ValueKind::Boolean => Self::Boolean(Word(number)),
            ValueKind::Integer => Self::Integer(Word(number)),
            ValueKind::Real => Self::Real(Word(number)),
            ValueKind::Double => Self::Double(Word(number)),
            ValueKind::Decimal => Self::Decimal(Wide(number)),
            ValueKind::Bytes => Self::Text(Text(number)),
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
}

/// A call of a function: where its arguments are, and where its value goes.
#[derive(Clone, Debug)]
pub struct FunctionCall {
    pub function: Arc<dyn ScalarFunction>,
    pub arguments: Vec<Register>,
    pub target: Register,
}

impl RegisterSet {
    /// The value of a register.
    #[must_use]
    pub fn value(&self, register: Register) -> Scalar<'_> {
        Scalar::from(self.tuple_value(register))
    }

    /// Whether a register is NULL.
    #[must_use]
    pub fn is_null(&self, register: Register) -> bool {
        match register {
            Register::Decimal(number) => self.is_null_wide(number),
            Register::Text(number) => self.is_null_text(number),
            Register::Boolean(number)
            | Register::Integer(number)
            | Register::Real(number)
            | Register::Double(number) => self.is_null_word(number),
        }
    }

    /// The value of a register as tuples and keys take it.
    pub(crate) fn tuple_value(&self, register: Register) -> TupleValue<'_> {
        if self.is_null(register) {
            return TupleValue::Null;
        }
        match register {
            Register::Boolean(number) => TupleValue::Bool(self.word(number) != 0),
            Register::Integer(number) => TupleValue::Integer(self.word(number)),
            Register::Real(number) => TupleValue::Float32(f32::from_bits(self.word(number) as u32)),
            Register::Double(number) => {
                TupleValue::Float64(f64::from_bits(self.word(number) as u64))
            }
            Register::Decimal(number) => TupleValue::Wide(self.wide(number)),
            Register::Text(number) => TupleValue::Bytes(self.text(number)),
        }
    }

    /// Makes a register NULL.
    pub fn set_null(&mut self, register: Register) {
        match register {
            Register::Decimal(number) => Target(number).write_null(self),
            Register::Text(number) => Target(number).write_null(self),
            Register::Boolean(number)
            | Register::Integer(number)
            | Register::Real(number)
            | Register::Double(number) => Write::<i64>::write_null(Target(number), self),
        }
    }

    /// Gives a register a value; one of another kind makes it NULL. A string is kept with those of the program that
    /// runs; if none does, with the constants.
    ///
    /// # Errors
    /// Strings of more than 4 GiB.
    pub fn set_value(&mut self, register: Register, value: &Scalar<'_>) -> Result<(), Trap> {
        match (register, value) {
            (Register::Boolean(number), Scalar::Boolean(value)) => {
                Target(number).write(self, i64::from(*value));
            }
            (Register::Integer(number), Scalar::Integer(value)) => {
                Target(number).write(self, *value)
            }
            (Register::Real(number), Scalar::Real(value)) => Target(number).write(self, *value),
            (Register::Double(number), Scalar::Double(value)) => Target(number).write(self, *value),
            (Register::Decimal(number), Scalar::Decimal(value)) => {
                Target(number).write(self, *value)
            }
            (Register::Text(number), Scalar::Bytes(bytes)) => {
                let place = self.make(|_, made| {
                    made.extend_from_slice(bytes);
                    Ok(())
                })?;
                Target(number).write(self, place);
            }
            (register, _) => self.set_null(register),
        }
        Ok(())
    }
}

/// Calls a function.
pub(super) fn call(registers: &mut RegisterSet, asides: &Asides, call: Call) -> Result<(), Trap> {
    let Some(call) = asides.calls.get(usize::from(call.0)) else {
        return Err(Trap::slot());
    };
    let arguments: Vec<Scalar<'_>> = call
        .arguments
        .iter()
        .map(|argument| registers.value(*argument))
        .collect();
    let value = match call.function.call(&arguments)? {
        // Nothing that is returned may be borrowed from the registers that are written now.
        Scalar::Bytes(bytes) => Scalar::Bytes(bytes.into_owned().into()),
        Scalar::Null => Scalar::Null,
        Scalar::Boolean(value) => Scalar::Boolean(value),
        Scalar::Integer(value) => Scalar::Integer(value),
        Scalar::Decimal(value) => Scalar::Decimal(value),
        Scalar::Real(value) => Scalar::Real(value),
        Scalar::Double(value) => Scalar::Double(value),
    };
    registers.set_value(call.target, &value)
}
