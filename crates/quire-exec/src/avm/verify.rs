//! What must hold of a program before it may run: then no instruction meets a register that holds nothing, and every program ends.
//!
//! - Every branch leads forward, to an instruction of the program; behind the last instruction nothing is reached.
//! - A register is read only where every way there has written it, or it is a constant, an input, or a tuple that was announced.
//! - Constants are not written. Attributes have ordinals that their tuples have; slots, patterns, sets and calls exist.
//!
//! Types need no check of their own: an opcode names the bank of each operand. Whether a register may be NULL is the compiler's
//! business: an instruction that meets NULL in a register computes with what the register held before, and no more than that.

use std::collections::HashSet;

use super::opcode::Instruction;
use super::operand::{Operand, OperandKind};
use super::program::ProgramDraft;
use super::register::Register;

/// Why there is no such program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// Programs end with STOP, REJECT or JUMP.
    #[error(
        "a program of {0} instructions runs over its end; let it end with STOP, REJECT or a JUMP"
    )]
    RunsOver(usize),
    /// Labels have 16 bits.
    #[error("a program has {0} instructions, 65,535 may be; split it")]
    TooLong(usize),
    /// A program that goes back may not end.
    #[error(
        "instruction {at} ({opcode}) goes to {to}; branches lead forward, to instructions of the program"
    )]
    Branch {
        at: usize,
        opcode: &'static str,
        to: usize,
    },
    /// A register without a value.
    #[error(
        "instruction {at} ({opcode}) reads {operand}, which is not written on every way there; write it first or announce it"
    )]
    Unwritten {
        at: usize,
        opcode: &'static str,
        operand: String,
    },
    /// A register that keeps its value.
    #[error(
        "instruction {at} ({opcode}) writes {operand}, which is a constant; take another register"
    )]
    Constant {
        at: usize,
        opcode: &'static str,
        operand: String,
    },
    /// An operand that names nothing.
    #[error("instruction {at} ({opcode}) names {operand}, which there is not; announce it")]
    Nothing {
        at: usize,
        opcode: &'static str,
        operand: String,
    },
}

/// A register of any bank: the kind of operand that reads it, and its number.
type Place = (OperandKind, u16);

fn place_of(register: Register) -> Place {
    let operand = register.operand();
    (operand.kind, operand.number)
}

/// What an operand reads.
fn read_by(operand: Operand) -> Option<Place> {
    use OperandKind as Kind;
    match operand.kind {
        Kind::Word | Kind::Wide | Kind::Text | Kind::Tuple => Some((operand.kind, operand.number)),
        Kind::Attribute => Some((Kind::Tuple, operand.tuple.into())),
        _ => None,
    }
}

/// What an operand writes.
fn written_by(operand: Operand) -> Option<Place> {
    let kind = match operand.kind {
        OperandKind::WordTarget => OperandKind::Word,
        OperandKind::WideTarget => OperandKind::Wide,
        OperandKind::TextTarget => OperandKind::Text,
        OperandKind::TupleTarget => OperandKind::Tuple,
        _ => return None,
    };
    Some((kind, operand.number))
}

struct ProgramVerifier<'d> {
    draft: &'d ProgramDraft,
    constants: HashSet<Place>,
    at: usize,
    instruction: Instruction,
    /// What is written on every way to the present instruction; none if no way leads there.
    written: Option<HashSet<Place>>,
    /// The same for instructions that branches lead to.
    ahead: Vec<Option<HashSet<Place>>>,
}

/// Checks a program.
pub(super) fn check(draft: &ProgramDraft) -> Result<(), ProgramError> {
    let count = draft.instructions.len();
    if count > usize::from(u16::MAX) {
        return Err(ProgramError::TooLong(count));
    }
    let constants: HashSet<Place> = draft
        .constants
        .iter()
        .map(|(to, _)| place_of(*to))
        .collect();
    let mut written = constants.clone();
    written.extend(draft.inputs.iter().map(|input| place_of(*input)));
    written.extend(
        draft
            .tuples
            .iter()
            .map(|(tuple, _)| (OperandKind::Tuple, tuple.0.into())),
    );
    let mut checker = ProgramVerifier {
        draft,
        constants,
        at: 0,
        instruction: Instruction::STOP {},
        written: Some(written),
        ahead: vec![None; count],
    };
    for (at, instruction) in draft.instructions.iter().enumerate() {
        checker.at = at;
        checker.instruction = *instruction;
        checker.step()?;
    }
    match checker.written {
        Some(_) => Err(ProgramError::RunsOver(count)),
        None => Ok(()),
    }
}

/// What holds where two ways meet.
fn meet(known: &mut Option<HashSet<Place>>, other: &HashSet<Place>) {
    match known {
        Some(known) => known.retain(|place| other.contains(place)),
        None => *known = Some(other.clone()),
    }
}

impl ProgramVerifier<'_> {
    fn step(&mut self) -> Result<(), ProgramError> {
        if let Some(arriving) = self.ahead.get_mut(self.at).and_then(Option::take) {
            meet(&mut self.written, &arriving);
        }
        // What no way leads to may be anything, but its operands must exist.
        let mut written = self.written.clone();
        let operands = self.instruction.operands();
        for operand in &operands {
            self.exists(*operand)?;
            if let Some(place) = read_by(*operand) {
                self.is_written(&written, place, operand)?;
            }
        }
        if let Instruction::CALL { call } = self.instruction
            && let Some(call) = self.draft.asides.calls.get(usize::from(call.0))
        {
            for argument in &call.arguments {
                self.is_written(&written, place_of(*argument), argument)?;
            }
            self.write(&mut written, place_of(call.target), &call.target)?;
        }
        for operand in operands {
            if let Some(place) = written_by(operand) {
                self.write(&mut written, place, &operand)?;
            }
        }
        self.go_on(written)
    }

    fn go_on(&mut self, written: Option<HashSet<Place>>) -> Result<(), ProgramError> {
        if let Some(to) = self.instruction.target() {
            let to = usize::from(to.0);
            let ahead = self.ahead.get_mut(to).filter(|_| to > self.at);
            let Some(ahead) = ahead else {
                let (at, opcode) = (self.at, self.instruction.name());
                return Err(ProgramError::Branch { at, opcode, to });
            };
            if let Some(written) = &written {
                meet(ahead, written);
            }
        }
        self.written = match self.instruction {
            Instruction::STOP {} | Instruction::REJECT {} | Instruction::JUMP { .. } => None,
            _ => written,
        };
        Ok(())
    }

    fn is_written(
        &self,
        written: &Option<HashSet<Place>>,
        place: Place,
        operand: &impl std::fmt::Debug,
    ) -> Result<(), ProgramError> {
        match written {
            Some(written) if !written.contains(&place) => Err(ProgramError::Unwritten {
                at: self.at,
                opcode: self.instruction.name(),
                operand: format!("{operand:?}"),
            }),
            _ => Ok(()),
        }
    }

    fn write(
        &self,
        written: &mut Option<HashSet<Place>>,
        place: Place,
        operand: &impl std::fmt::Debug,
    ) -> Result<(), ProgramError> {
        if self.constants.contains(&place) {
            return Err(ProgramError::Constant {
                at: self.at,
                opcode: self.instruction.name(),
                operand: format!("{operand:?}"),
            });
        }
        if let Some(written) = written {
            written.insert(place);
        }
        Ok(())
    }

    fn exists(&self, operand: Operand) -> Result<(), ProgramError> {
        let asides = &self.draft.asides;
        let number = usize::from(operand.number);
        let exists = match operand.kind {
            OperandKind::Attribute => {
                let mut tuples = self.draft.tuples.iter();
                tuples.any(|(tuple, columns)| tuple.0 == operand.tuple && operand.number < *columns)
            }
            OperandKind::Slot => number < usize::from(self.draft.slot_count),
            OperandKind::Pattern => number < asides.patterns.len(),
            OperandKind::WordSet => number < asides.word_sets.len(),
            OperandKind::WideSet => number < asides.wide_sets.len(),
            OperandKind::TextSet => number < asides.text_sets.len(),
            OperandKind::Call => number < asides.calls.len(),
            _ => true,
        };
        if exists {
            Ok(())
        } else {
            Err(ProgramError::Nothing {
                at: self.at,
                opcode: self.instruction.name(),
                operand: operand.to_string(),
            })
        }
    }
}

/// Whether a program may make strings that are in no tuple.
pub(super) fn makes_text(draft: &ProgramDraft) -> bool {
    let calls = draft.asides.calls.iter();
    let mut operands = draft.instructions.iter().flat_map(Instruction::operands);
    calls
        .into_iter()
        .any(|call| matches!(call.target, Register::Text(_)))
        || operands.any(|operand| operand.kind == OperandKind::TextTarget)
        || draft
            .instructions
            .iter()
            .any(|instruction| instruction.name().contains("_S_A"))
}
