//! Iterators that pass rows on: filters, limits, and one input after the other.

use super::{Explanation, ProgramStep, RegisterIterator};
use crate::avm::{Program, RegisterSet, Trap};

/// The rows of its input that a program does not reject, with what the program computes of them.
pub struct Filter<I> {
    input: I,
    step: ProgramStep,
}

impl<I: RegisterIterator> Filter<I> {
    /// Runs `program` on each row of `input`.
    ///
    /// # Errors
    /// Constants of the program that are too long.
    pub fn new(input: I, program: Program, registers: &mut RegisterSet) -> Result<Self, Trap> {
        let step = ProgramStep::new(program, registers)?;
        Ok(Self { input, step })
    }
}

impl<I: RegisterIterator> RegisterIterator for Filter<I> {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        while self.input.next(registers)? {
            if self.step.run(registers)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn restart(&mut self) -> bool {
        self.input.restart()
    }

    fn explain(&self, explanation: &mut Explanation) {
        explanation.line("filter");
        explanation.program("rows", &self.step);
        explanation.input(&self.input);
    }
}

/// Some rows of its input, behind some others.
pub struct LimitIterator<I> {
    input: I,
    skipped: u64,
    left: u64,
}

impl<I: RegisterIterator> LimitIterator<I> {
    /// `most` rows of `input` behind its first `skipped`.
    pub fn new(input: I, skipped: u64, most: Option<u64>) -> Self {
        Self {
            input,
            skipped,
            left: most.unwrap_or(u64::MAX),
        }
    }
}

impl<I: RegisterIterator> RegisterIterator for LimitIterator<I> {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        if self.left == 0 {
            return Ok(false);
        }
        while self.skipped > 0 {
            self.skipped -= 1;
            if !self.input.next(registers)? {
                self.left = 0;
                return Ok(false);
            }
        }
        self.left -= 1;
        let has_row = self.input.next(registers)?;
        if !has_row {
            self.left = 0;
        }
        Ok(has_row)
    }

    fn explain(&self, explanation: &mut Explanation) {
        let (left, skipped) = (self.left, self.skipped);
        match left {
            u64::MAX => explanation.line(format_args!("all rows behind {skipped}")),
            _ => explanation.line(format_args!("{left} rows behind {skipped}")),
        }
        explanation.input(&self.input);
    }
}

/// The rows of several inputs, one after the other. Each leaves its columns in the same registers.
pub struct Union<I> {
    inputs: std::vec::IntoIter<I>,
    present: Option<I>,
}

impl<I: RegisterIterator> Union<I> {
    /// All rows of all `inputs`.
    pub fn new(inputs: Vec<I>) -> Self {
        let mut inputs = inputs.into_iter();
        let present = inputs.next();
        Self { inputs, present }
    }
}

impl<I: RegisterIterator> RegisterIterator for Union<I> {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        while let Some(present) = &mut self.present {
            if present.next(registers)? {
                return Ok(true);
            }
            self.present = self.inputs.next();
        }
        Ok(false)
    }

    fn explain(&self, explanation: &mut Explanation) {
        explanation.line("union of all rows");
        for input in self.present.iter().chain(self.inputs.as_slice()) {
            explanation.input(input);
        }
    }
}
