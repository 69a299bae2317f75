//! The AVM: a register machine for expressions (paper 1 §4.1.2).
//!
//! Expressions become assembler-like programs over the registers that iterators pass to each other. A program runs once per row,
//! without allocation but for text that it makes, and decodes what it needs of a compressed tuple where it needs it.
//! [`OPCODES`] describes the instructions.

mod accumulate;
mod arithmetic;
mod assembler;
mod attribute;
mod average;
mod call;
mod cancellation;
mod compare;
mod compile;
mod convert;
mod instruction;
mod native;
mod opcode;
mod operand;
mod program;
mod register;
mod registers;
mod tally;
mod text;
mod trap;
mod verify;

pub(crate) use accumulate::NOTHING;
pub use assembler::{AssembleError, assemble};
pub use call::FunctionCall;
pub use cancellation::Cancellation;
pub use compile::{Accumulation, ColumnBinding, CompileError, Compiler, Extremum, RegisterPool};
pub use instruction::Opcode;
pub(crate) use native::Tier;
pub use native::{Native, NativeCode, NativeExit, NativeFrame, ProgramCompiler};
pub use opcode::{Instruction, OPCODES};
pub use operand::{
    AggregateSlot, Attribute, Call, Label, Operand, OperandKind, Pattern, TargetRegister,
    TextRegister, TextSet, Tuple, Wide, WideSet, WordRegister, WordSet,
};
pub use program::{Asides, Loaded, Program, ProgramDraft};
pub use register::Register;
pub(crate) use registers::TextPlace;
pub use registers::{Banks, RegisterSet, TuplePlace, TupleSource};
pub(crate) use tally::Tally;
pub use trap::{Trap, TrapReason};
pub use verify::ProgramError;
