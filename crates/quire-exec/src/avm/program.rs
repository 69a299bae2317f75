//! A program: instructions, the values that its constant registers have, and what it looks up.

use quire_tables::row_table::Value;

use super::call::FunctionCall;
use super::instruction::InstructionFlow;
use super::opcode::Instruction;
use super::register::Register;
use super::registers::RegisterSet;
use super::trap::Trap;
use super::verify::{self, ProgramError};
use crate::plan::{LikePattern, PlanScalar};

/// What instructions look up by number. Sets are sorted.
#[derive(Clone, Debug, Default)]
pub struct Asides {
    pub patterns: Vec<LikePattern>,
    pub word_sets: Vec<Vec<i64>>,
    pub wide_sets: Vec<Vec<i128>>,
    pub text_sets: Vec<Vec<Box<[u8]>>>,
    pub calls: Vec<FunctionCall>,
}

/// What a program is made of, before it is checked.
#[derive(Clone, Debug, Default)]
pub struct ProgramDraft {
    pub instructions: Vec<Instruction>,
    /// Registers that have a value before the program runs, the same for every row.
    pub constants: Vec<(Register, Value)>,
    /// Registers that hold what others put there.
    pub inputs: Vec<Register>,
    /// Tuple registers that others put tuples into, with how many columns these have.
    pub tuples: Vec<(super::operand::Tuple, u16)>,
    /// Slots that a group has.
    pub slot_count: u8,
    /// Those of them that count: they are zero of no rows, the others have no value.
    pub counters: Vec<super::operand::AggregateSlot>,
    pub asides: Asides,
}

/// A program that was checked: it ends, it reads only what was written, and every register has the type that its instructions
/// say.
#[derive(Clone, Debug)]
pub struct Program {
    draft: ProgramDraft,
    makes_text: bool,
}

/// A program that has its registers: [`Program::load`].
#[derive(Clone, Copy, Debug)]
pub struct Loaded {
    made: u16,
}

impl Loaded {
    /// The buffer of the strings that the program makes.
    pub(super) fn made(self) -> u16 {
        self.made
    }
}

impl Program {
    /// Checks a draft.
    ///
    /// # Errors
    /// As the variants of [`ProgramError`] say.
    pub fn new(mut draft: ProgramDraft) -> Result<Self, ProgramError> {
        for set in &mut draft.asides.word_sets {
            set.sort_unstable();
        }
        for set in &mut draft.asides.wide_sets {
            set.sort_unstable();
        }
        for set in &mut draft.asides.text_sets {
            set.sort_unstable();
        }
        verify::check(&draft)?;
        let makes_text = verify::makes_text(&draft);
        Ok(Self { draft, makes_text })
    }

    /// The instructions and what belongs to them.
    #[must_use]
    pub fn draft(&self) -> &ProgramDraft {
        &self.draft
    }

    /// Puts the constants into the registers. Once for each execution, before the program runs.
    ///
    /// # Errors
    /// Constants of more than 4 GiB.
    pub fn load(&self, registers: &mut RegisterSet) -> Result<Loaded, Trap> {
        registers.make_constants();
        for (register, value) in &self.draft.constants {
            registers.set_value(*register, &PlanScalar::from(value.as_tuple_value()))?;
        }
        let made = if self.makes_text {
            registers.add_made()
        } else {
            0
        };
        Ok(Loaded { made })
    }

    /// Runs the program: whether the row is taken. What it computed is in its registers until it runs again.
    ///
    /// # Errors
    /// What the instructions say of theirs; rows that cannot be read.
    pub fn run(&self, loaded: Loaded, registers: &mut RegisterSet) -> Result<bool, Trap> {
        if !self.makes_text {
            return self.execute(registers);
        }
        registers.make_in(loaded.made);
        let result = self.execute(registers);
        registers.make_constants();
        result
    }

    fn execute(&self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        let ProgramDraft {
            instructions,
            asides,
            ..
        } = &self.draft;
        let mut counter = 0;
        while let Some(instruction) = instructions.get(counter) {
            counter = match instruction.run(registers, asides)? {
                InstructionFlow::Following => counter + 1,
                InstructionFlow::Branch(label) => usize::from(label.0),
                InstructionFlow::Stop(is_taken) => return Ok(is_taken),
            };
        }
        // The verifier has seen that programs end before this.
        Ok(false)
    }

    /// Runs one instruction.
    pub(super) fn step(
        &self,
        at: usize,
        registers: &mut RegisterSet,
    ) -> Result<InstructionFlow, Trap> {
        match self.draft.instructions.get(at) {
            Some(instruction) => instruction.run(registers, &self.draft.asides),
            None => Ok(InstructionFlow::Stop(false)),
        }
    }

    pub(super) fn makes_text(&self) -> bool {
        self.makes_text
    }
}
