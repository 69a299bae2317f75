//! Programs as machine code, which another crate makes: when it is made, and how it takes turns with the interpreter.
//!
//! Machine code computes what is common and short. Whatever else there is, it leaves to the interpreter: it says at which instruction it has stopped,
//! that one is interpreted, and the code is entered again further on. All registers are where the interpreter looks for them whenever the
//! code stops, and an instruction at which it stops has changed nothing. So errors have one source, and damaged tuples one decoder.

use std::cell::{Cell, OnceCell};
use std::fmt;

use quire_format::tuple::ColumnAccess;

use super::instruction::InstructionFlow;
use super::operand::{Attribute, Tuple};
use super::program::{Loaded, Program};
use super::registers::{Banks, RegisterSet, TuplePlace, TupleSource};
use super::trap::Trap;

/// Makes machine code of programs.
pub trait ProgramCompiler: fmt::Debug + Send + Sync {
    /// How often a program of so many instructions must have run before it is compiled: until then it has cost as much as compiling it does.
    fn runs_before(&self, instructions: usize) -> u32;

    /// The code of a program over tuples that are read as `registers` read them now; none if it would not be faster.
    fn compile(&self, program: &Program, registers: &RegisterSet) -> Option<Box<dyn NativeCode>>;
}

/// The machine code of one program.
pub trait NativeCode: fmt::Debug + Send {
    /// Whether the code can be entered at an instruction.
    fn enters(&self, instruction: usize) -> bool;

    /// Runs from an instruction on that can be entered, for the row that the registers hold.
    fn run(&self, registers: &mut RegisterSet, from: usize) -> NativeExit;
}

/// What machine code works on.
#[derive(Debug)]
pub struct NativeFrame<'r> {
    banks: &'r mut Banks,
    buffers: &'r [Vec<u8>],
    states: &'r mut [i128],
}

impl NativeFrame<'_> {
    /// The registers.
    #[inline(always)]
    pub fn banks(&mut self) -> &mut Banks {
        self.banks
    }

    /// The buffer from the first byte of a register's tuple on, and how many of these bytes are the tuple. None for a tuple of NULLs.
    #[inline(always)]
    #[must_use]
    pub fn tuple(&self, register: Tuple) -> Option<(&[u8], usize)> {
        let TuplePlace {
            buffer,
            start,
            key_bytes,
            tuple_bytes,
        } = self.banks.tuples[usize::from(register.0)];
        let buffer = self.buffers.get(usize::from(buffer))?;
        let bytes = buffer.get((start as usize).checked_add(key_bytes as usize)?..)?;
        Some((bytes, tuple_bytes as usize))
    }

    /// The slots of the present group, and what follows them.
    #[inline(always)]
    pub fn slots(&mut self) -> &mut [i128] {
        self.states
    }
}

/// Why machine code has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeExit {
    /// The program has ended: whether the row is taken.
    Stopped(bool),
    /// This instruction is for the interpreter: for every row, or only for this one.
    Interpret { instruction: usize, is_usual: bool },
}

/// What an unusual row costs, in runs that make up for it.
const UNUSUAL_RUNS: u32 = 4;
/// Debt at which code is given up.
const DEBT_MAX: u32 = 4096;

/// Machine code in use, with a record of whether it does its work.
#[derive(Debug)]
pub struct Native {
    code: Box<dyn NativeCode>,
    /// Whether the code has the first instruction.
    begins: bool,
    /// Grows with unusual rows and shrinks with others.
    debt: Cell<u32>,
}

impl Native {
    /// Code that has not run yet.
    #[must_use]
    pub fn new(code: Box<dyn NativeCode>) -> Self {
        Self {
            begins: code.enters(0),
            code,
            debt: Cell::new(0),
        }
    }

    /// Whether most rows were usual so far.
    #[must_use]
    pub fn is_worth_it(&self) -> bool {
        self.debt.get() < DEBT_MAX
    }

    #[inline]
    fn note(&self, is_usual: bool) {
        let debt = self.debt.get();
        match is_usual {
            true if debt == 0 => {}
            true => self.debt.set(debt - 1),
            false => self.debt.set(debt.saturating_add(UNUSUAL_RUNS)),
        }
    }
}

impl RegisterSet {
    /// Programs of these registers that run often are compiled.
    pub fn compile_with(&mut self, compiler: std::sync::Arc<dyn ProgramCompiler>) {
        self.compiler = Some(compiler);
    }

    /// Where the values of an attribute are in its tuples; none if only a call can tell.
    #[must_use]
    pub fn access(&self, attribute: Attribute) -> Option<ColumnAccess> {
        let ordinal = usize::from(attribute.ordinal);
        match self.sources.get(usize::from(attribute.tuple.0))? {
            TupleSource::Rows(table) => table.layout().access(ordinal),
            TupleSource::Temporary(layout) => layout.access(ordinal),
            TupleSource::None => None,
        }
    }

    /// What machine code works on.
    #[inline(always)]
    pub fn native_frame(&mut self) -> NativeFrame<'_> {
        let (banks, buffers, states) = self.native_parts();
        let group = states.group;
        NativeFrame {
            banks,
            buffers,
            states: states.values.get_mut(group..).unwrap_or_default(),
        }
    }
}

impl Program {
    /// Runs the program as [`Self::run`] does, by machine code that was made of it.
    ///
    /// # Errors
    /// As [`Self::run`].
    #[inline]
    pub fn run_native(
        &self,
        native: &Native,
        loaded: Loaded,
        registers: &mut RegisterSet,
    ) -> Result<bool, Trap> {
        if !self.makes_text() {
            return self.take_turns(native, registers);
        }
        registers.make_in(loaded.made());
        let result = self.take_turns(native, registers);
        registers.make_constants();
        result
    }

    #[inline]
    fn take_turns(&self, native: &Native, registers: &mut RegisterSet) -> Result<bool, Trap> {
        if !native.begins {
            return self.go_on(native, 0, registers);
        }
        match native.code.run(registers, 0) {
            NativeExit::Stopped(is_taken) => {
                native.note(true);
                Ok(is_taken)
            }
            NativeExit::Interpret {
                instruction,
                is_usual,
            } => {
                native.note(is_usual);
                self.go_on(native, instruction, registers)
            }
        }
    }

    /// Interprets an instruction, and goes on with machine code from where that can be entered. Either goes forward, so this ends.
    fn go_on(
        &self,
        native: &Native,
        mut at: usize,
        registers: &mut RegisterSet,
    ) -> Result<bool, Trap> {
        loop {
            at = match self.step(at, registers)? {
                InstructionFlow::Following => at + 1,
                InstructionFlow::Branch(label) => usize::from(label.0),
                InstructionFlow::Stop(is_taken) => return Ok(is_taken),
            };
            if !native.code.enters(at) {
                continue;
            }
            match native.code.run(registers, at) {
                NativeExit::Stopped(is_taken) => return Ok(is_taken),
                NativeExit::Interpret {
                    instruction,
                    is_usual,
                } => {
                    native.note(is_usual);
                    at = instruction;
                }
            }
        }
    }
}

/// How a program of an iterator runs: interpreted, until it has run so often that compiling it pays. Nobody knows how many rows are to come, but
/// who has waited until interpreting has cost as much as compiling has lost at most half (the ski rental problem).
#[derive(Debug, Default)]
pub(crate) struct Tier {
    runs: Cell<u32>,
    native: OnceCell<Option<Native>>,
}

impl Tier {
    #[inline]
    pub(crate) fn run(
        &self,
        program: &Program,
        loaded: Loaded,
        registers: &mut RegisterSet,
    ) -> Result<bool, Trap> {
        match self.native.get() {
            Some(Some(native)) if native.is_worth_it() => {
                program.run_native(native, loaded, registers)
            }
            Some(_) => program.run(loaded, registers),
            None => {
                if registers.compiler.is_some() {
                    self.count(program, registers);
                }
                program.run(loaded, registers)
            }
        }
    }

    fn count(&self, program: &Program, registers: &mut RegisterSet) {
        let Some(compiler) = registers.compiler.clone() else {
            return;
        };
        let runs = self.runs.get();
        self.runs.set(runs.saturating_add(1));
        if runs < compiler.runs_before(program.draft().instructions.len()) {
            return;
        }
        let native = compiler.compile(program, registers).map(Native::new);
        // It was empty: nobody else counts.
        let _ = self.native.set(native);
    }
}
