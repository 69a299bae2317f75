//! Functions that are not of the machine.

use std::sync::Arc;

use quire_tables::row_table::TupleValue;

use super::operand::{Call, Target};
use super::program::Asides;
use super::register::{Bank, Register};
use super::registers::{RegisterSet, Write};
use super::trap::Trap;
use crate::plan::{Scalar, ScalarFunction};

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
        match register.bank() {
            Bank::Word(number) => self.is_null_word(number),
            Bank::Wide(number) => self.is_null_wide(number),
            Bank::Text(number) => self.is_null_text(number),
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
    pub(crate) fn set_null(&mut self, register: Register) {
        match register.bank() {
            Bank::Word(number) => Write::<i64>::write_null(Target(number), self),
            Bank::Wide(number) => Target(number).write_null(self),
            Bank::Text(number) => Target(number).write_null(self),
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
    // It may be borrowed from the registers, which are written now.
    let value = call.function.call(&arguments)?.into_value(false)?;
    registers.set_value(call.target, &Scalar::from(value.as_tuple_value()))
}
