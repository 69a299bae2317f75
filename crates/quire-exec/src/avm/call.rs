//! Functions that are not of the machine.

use std::sync::Arc;

use quire_tables::row_table::TupleValue;

use super::operand::{Call, TargetRegister};
use super::program::Asides;
use super::register::{Bank, Register};
use super::registers::{RegisterSet, WriteRegister};
use super::trap::Trap;
use crate::plan::{PlanScalar, ScalarFunction};

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
    pub fn value(&self, register: Register) -> PlanScalar<'_> {
        PlanScalar::from(self.tuple_value(register))
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
            Bank::Word(number) => WriteRegister::<i64>::write_null(TargetRegister(number), self),
            Bank::Wide(number) => TargetRegister(number).write_null(self),
            Bank::Text(number) => TargetRegister(number).write_null(self),
        }
    }

    /// Gives a register a value; one of another kind makes it NULL. A string is kept with those of the program that
    /// runs; if none does, with the constants.
    ///
    /// # Errors
    /// Strings of more than 4 GiB.
    pub fn set_value(&mut self, register: Register, value: &PlanScalar<'_>) -> Result<(), Trap> {
        match (register, value) {
            (Register::Boolean(number), PlanScalar::Boolean(value)) => {
                TargetRegister(number).write(self, i64::from(*value));
            }
            (Register::Integer(number), PlanScalar::Integer(value)) => {
                TargetRegister(number).write(self, *value)
            }
            (Register::Real(number), PlanScalar::Real(value)) => {
                TargetRegister(number).write(self, *value)
            }
            (Register::Double(number), PlanScalar::Double(value)) => {
                TargetRegister(number).write(self, *value)
            }
            (Register::Decimal(number), PlanScalar::Decimal(value)) => {
                TargetRegister(number).write(self, *value)
            }
            (Register::Text(number), PlanScalar::Bytes(bytes)) => {
                let place = self.make(|_, made| {
                    made.extend_from_slice(bytes);
                    Ok(())
                })?;
                TargetRegister(number).write(self, place);
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
    let arguments: Vec<PlanScalar<'_>> = call
        .arguments
        .iter()
        .map(|argument| registers.value(*argument))
        .collect();
    // It may be borrowed from the registers, which are written now.
    let value = call.function.call(&arguments)?.into_value(false)?;
    registers.set_value(call.target, &PlanScalar::from(value.as_tuple_value()))
}
