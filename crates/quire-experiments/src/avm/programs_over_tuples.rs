//! A program of the AVM that is run once for each tuple.

use std::sync::Arc;

use quire_exec::avm::{Loaded, Native, Program, RegisterSet, Tuple, TuplePlace, TupleSource};

use super::failure::ExpressionFailure;
use super::tuples::TpcdTuples;
use super::{best_round, machine_code};

/// A program, its registers, and the tuples that it reads.
pub(super) struct ProgramOverTuples<'t> {
    program: &'t Program,
    loaded: Loaded,
    native: Option<Native>,
    registers: RegisterSet,
    tuple: Tuple,
    places: Vec<TuplePlace>,
}

impl<'t> ProgramOverTuples<'t> {
    /// `program` reads `tuples` from the register `tuple`, interpreted or as machine code.
    pub(super) fn new(
        program: &'t Program,
        (tuple, tuples): (Tuple, &TpcdTuples),
        is_native: bool,
    ) -> Result<Self, ExpressionFailure> {
        let mut registers = RegisterSet::new();
        registers.set_source(tuple, TupleSource::Temporary(Arc::clone(&tuples.layout)));
        let buffer = registers.add_buffer();
        if let Some(bytes) = registers.buffer_mut(buffer) {
            bytes.clone_from(&tuples.bytes);
            // As scans do: machine code loads more than it needs.
            bytes.extend_from_slice(&[0; 16]);
        }
        let loaded = program.load(&mut registers)?;
        let native = is_native
            .then(|| machine_code(program, &registers))
            .transpose()?;
        let places = tuples.iter().map(|(start, end)| TuplePlace {
            buffer,
            start: start as u32,
            key_bytes: 0,
            tuple_bytes: (end - start) as u32,
        });
        Ok(Self {
            program,
            loaded,
            native,
            tuple,
            places: places.collect(),
            registers,
        })
    }

    /// One run for each tuple, with empty slots before the first; `each` sees the registers after every run.
    pub(super) fn run(
        &mut self,
        mut each: impl FnMut(&RegisterSet),
    ) -> Result<(), ExpressionFailure> {
        self.registers.begin_group(self.program);
        for place in &self.places {
            self.registers.set_tuple(self.tuple, *place);
            match &self.native {
                Some(native) => {
                    self.program
                        .run_native(native, self.loaded, &mut self.registers)?
                }
                None => self.program.run(self.loaded, &mut self.registers)?,
            };
            each(&self.registers);
        }
        Ok(())
    }

    /// Least processor time in microseconds that making machine code takes.
    pub(super) fn compile_us(&self, rounds: usize) -> Result<f64, ExpressionFailure> {
        let (best_ns, _) = best_round(rounds, 1, || machine_code(self.program, &self.registers))?;
        Ok(best_ns / 1e3)
    }

    /// What the program has added up.
    pub(super) fn sums(&self) -> Vec<i128> {
        self.registers.slots(self.program)
    }
}
