//! The registers of a query, given out to its programs.

use quire_tables::row_table::Value;

use super::same::is_same_constant;
use crate::avm::operand::{TargetRegister, TextRegister, Tuple, Wide, WordRegister};
use crate::avm::register::Register;
use crate::avm::registers::{REGISTERS_MAX, RegisterSet};
use crate::avm::trap::Trap;
use crate::avm::verify::ProgramError;
use crate::plan::{PlanScalar, ValueKind};

/// Why a query has no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// A bank is used up.
    #[error(
        "the expressions need more than {REGISTERS_MAX} registers of one kind; another engine must take them"
    )]
    TooManyRegisters,
    /// More than 65,535 instructions.
    #[error("the expressions make a program that is too long; another engine must take them")]
    TooLong,
    /// What this machine does not do.
    #[error("no opcode does this: {0}")]
    Unsupported(&'static str),
    /// A column that nobody gave a place.
    #[error("column {0} is not where the program looks; this is a mistake of the planner")]
    NoColumn(usize),
    /// A mistake of the compiler.
    #[error("the compiled program is wrong: {0}")]
    Program(#[from] ProgramError),
}

/// Gives out the registers of a query: each to one owner. Constants and parameters are shared.
#[derive(Clone, Debug, Default)]
pub struct RegisterPool {
    words: usize,
    wides: usize,
    texts: usize,
    tuples: usize,
    constants: Vec<(Register, Value)>,
    /// Registers of parameters by their numbers.
    parameters: Vec<Option<Register>>,
    now: Option<WordRegister>,
}

fn next(count: &mut usize) -> Result<u8, CompileError> {
    let number = u8::try_from(*count).map_err(|_| CompileError::TooManyRegisters)?;
    *count += 1;
    Ok(number)
}

impl RegisterPool {
    /// A register for a tuple.
    ///
    /// # Errors
    /// There is none left.
    pub fn tuple(&mut self) -> Result<Tuple, CompileError> {
        next(&mut self.tuples).map(Tuple)
    }

    pub(super) fn word(&mut self) -> Result<WordRegister, CompileError> {
        next(&mut self.words).map(WordRegister)
    }

    pub(super) fn wide(&mut self) -> Result<Wide, CompileError> {
        next(&mut self.wides).map(Wide)
    }

    pub(super) fn text(&mut self) -> Result<TextRegister, CompileError> {
        next(&mut self.texts).map(TextRegister)
    }

    /// A register for values of a kind.
    ///
    /// # Errors
    /// There is none left.
    pub fn fresh(&mut self, kind: ValueKind) -> Result<Register, CompileError> {
        let count = match kind {
            ValueKind::Decimal => &mut self.wides,
            ValueKind::Bytes => &mut self.texts,
            ValueKind::Boolean | ValueKind::Integer | ValueKind::Real | ValueKind::Double => {
                &mut self.words
            }
        };
        next(count).map(|number| Register::new(kind, number))
    }

    /// The register of a constant.
    pub(super) fn constant(
        &mut self,
        kind: ValueKind,
        value: &Value,
    ) -> Result<Register, CompileError> {
        let mut known = self.constants.iter();
        let found = known
            .find(|(register, known)| register.kind() == kind && is_same_constant(known, value));
        if let Some((register, _)) = found {
            return Ok(*register);
        }
        let register = self.fresh(kind)?;
        self.constants.push((register, value.clone()));
        Ok(register)
    }

    /// The register of a parameter, numbered from 0.
    pub(super) fn parameter(
        &mut self,
        number: usize,
        kind: ValueKind,
    ) -> Result<Register, CompileError> {
        if self.parameters.len() <= number {
            self.parameters.resize(number + 1, None);
        }
        match self.parameters.get(number).copied().flatten() {
            Some(register) if register.kind() == kind => Ok(register),
            Some(_) => Err(CompileError::Unsupported("a parameter of two kinds")),
            None => {
                let register = self.fresh(kind)?;
                if let Some(place) = self.parameters.get_mut(number) {
                    *place = Some(register);
                }
                Ok(register)
            }
        }
    }

    /// The register of the time.
    pub(super) fn now(&mut self) -> Result<WordRegister, CompileError> {
        match self.now {
            Some(word) => Ok(word),
            None => {
                let word = self.word()?;
                self.now = Some(word);
                Ok(word)
            }
        }
    }

    /// Whether several programs read the register: that of a constant, a parameter or the time.
    pub(super) fn is_shared(&self, register: Register) -> bool {
        let mut constants = self.constants.iter();
        constants.any(|(constant, _)| *constant == register)
            || self.inputs().any(|input| input == register)
    }

    /// Registers and what they hold from the beginning.
    #[must_use]
    pub fn constants(&self) -> &[(Register, Value)] {
        &self.constants
    }

    /// The registers of parameters by their numbers from 0; none for those that nobody asks for.
    #[must_use]
    pub fn parameters(&self) -> &[Option<Register>] {
        &self.parameters
    }

    /// Gives the registers of a query what they hold from the beginning: constants, these values of its parameters, and the time
    /// in microseconds since 1970. Once for each execution, when all its programs are compiled.
    ///
    /// # Errors
    /// Strings of more than 4 GiB.
    pub fn load(
        &self,
        registers: &mut RegisterSet,
        parameters: &[Value],
        now: i64,
    ) -> Result<(), Trap> {
        let fixed = self
            .constants
            .iter()
            .map(|(register, value)| (*register, value));
        let given = self.parameters.iter().zip(parameters);
        let given = given.filter_map(|(register, value)| Some(((*register)?, value)));
        for (register, value) in fixed.chain(given) {
            registers.set_value(register, &PlanScalar::from(value.as_tuple_value()))?;
        }
        if let Some(word) = self.now {
            registers.set_word(TargetRegister(word), now);
        }
        Ok(())
    }

    /// Registers that whoever runs the query fills.
    pub(super) fn inputs(&self) -> impl Iterator<Item = Register> {
        let now = self.now.map(Register::Integer);
        self.parameters.iter().copied().flatten().chain(now)
    }
}
