#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod emit;
#[allow(unsafe_code)]
mod machine;
mod operation;
mod outline;
mod span;

use std::fmt;

use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use quire_exec::avm::{NativeCode, Program, ProgramCompiler, RegisterSet};

use machine::MachineCode;
use outline::Outline;

/// What compiling costs, and what a run of a compiled program saves, both measured by `quire lab avm` on one core of Intel Sapphire Rapids: the ratio is what counts, and differs little between processors.
const COMPILE_NS: u64 = 100_000;
const COMPILE_NS_PER_INSTRUCTION: u64 = 40_000;
const SAVED_NS_PER_INSTRUCTION: u64 = 3;

/// Why there is no machine code here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NativeError {
    /// No code generator for this machine.
    #[error("there is no code generator for this processor: {0}; programs are interpreted")]
    Processor(String),
    /// A mistake in how the code generator is set up.
    #[error("the code generator does not take its settings: {0}; programs are interpreted")]
    Settings(String),
}

/// Makes machine code for the processor that it runs on.
#[derive(Clone)]
pub struct NativeCompiler {
    isa: OwnedTargetIsa,
}

impl fmt::Debug for NativeCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NativeCompiler({})", self.isa.triple())
    }
}

impl NativeCompiler {
    /// A compiler for this machine.
    ///
    /// # Errors
    /// Machines that there is no code for.
    pub fn new() -> Result<Self, NativeError> {
        if cfg!(target_endian = "big") || cfg!(not(target_pointer_width = "64")) {
            let what = "tuples are read in words of 8 bytes, little endian";
            return Err(NativeError::Processor(what.to_owned()));
        }
        let wrong = |error: &dyn fmt::Display| NativeError::Settings(error.to_string());
        let mut flags = settings::builder();
        for (name, value) in [
            ("opt_level", "speed"),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
            ("unwind_info", "false"),
        ] {
            flags.set(name, value).map_err(|error| wrong(&error))?;
        }
        let builder = cranelift_native::builder()
            .map_err(|error| NativeError::Processor(error.to_owned()))?;
        let isa = builder.finish(settings::Flags::new(flags));
        Ok(Self {
            isa: isa.map_err(|error| wrong(&error))?,
        })
    }
}

impl ProgramCompiler for NativeCompiler {
    fn runs_before(&self, instructions: usize) -> u32 {
        // A program has at most 65,535 of them.
        let instructions = u64::from(u16::try_from(instructions).unwrap_or(u16::MAX).max(1));
        let cost_ns = COMPILE_NS + instructions * COMPILE_NS_PER_INSTRUCTION;
        u32::try_from(cost_ns / (instructions * SAVED_NS_PER_INSTRUCTION)).unwrap_or(u32::MAX)
    }

    fn compile(&self, program: &Program, registers: &RegisterSet) -> Option<Box<dyn NativeCode>> {
        let outline = Outline::new(program, registers);
        if !outline.is_worth_it() {
            return None;
        }
        let code = MachineCode::new(&self.isa, outline).ok()?;
        Some(Box::new(code))
    }
}
