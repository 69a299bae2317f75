//! What the list of opcodes ([`super::opcode`]) becomes: a type of instructions, a reference of them, and the step that runs one.

use super::operand::{Label, Operand, OperandKind, OperandType};
use super::trap::Trap;

/// What an instruction does next.
pub(super) enum InstructionFlow {
    Following,
    Branch(Label),
    Stop(bool),
}

/// An opcode as the reference shows it.
#[derive(Debug)]
pub struct Opcode {
    pub name: &'static str,
    /// Names and kinds of its operands, in order.
    pub operands: &'static [(&'static str, OperandKind)],
    /// What it does, a line each.
    pub effect: &'static [&'static str],
}

/// Makes all of it of lines `NAME (operand: type, …) => function`, with what the reference says above them.
macro_rules! opcodes {
    (
        steps { $($(#[doc = $doc:literal])* $name:ident ($($operand:ident: $kind:ty),*) => $run:expr;)* }
        branches { $($(#[doc = $bdoc:literal])* $bname:ident ($($boperand:ident: $bkind:ty),*) => $brun:expr;)* }
        lookups { $($(#[doc = $ldoc:literal])* $lname:ident ($($loperand:ident: $lkind:ty),*) => $lrun:expr;)* }
    ) => {
        /// One instruction of a program.
        #[allow(non_camel_case_types, reason = "the names are the paper's")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Instruction {
            $($(#[doc = $doc])* $name { $($operand: $kind),* },)*
            $($(#[doc = $bdoc])* $bname { $($boperand: $bkind,)* to: Label },)*
            $($(#[doc = $ldoc])* $lname { $($loperand: $lkind,)* to: Label },)*
            /// Calls a function that is not of the machine; it sees NULLs. Errors: those of the function.
            CALL { call: Call },
            /// Goes on elsewhere.
            JUMP { to: Label },
            /// The end: the row is taken.
            STOP {},
            /// The end: the row is left out.
            REJECT {},
        }

        /// All opcodes, in the order of the reference.
        pub const OPCODES: &[Opcode] = &[
            $(Opcode {
                name: stringify!($name),
                operands: &[$((stringify!($operand), <$kind as OperandType>::KIND)),*],
                effect: &[$($doc),*],
            },)*
            $(Opcode {
                name: stringify!($bname),
                operands: &[$((stringify!($boperand), <$bkind as OperandType>::KIND),)* ("to", OperandKind::Label)],
                effect: &[$($bdoc),*],
            },)*
            $(Opcode {
                name: stringify!($lname),
                operands: &[$((stringify!($loperand), <$lkind as OperandType>::KIND),)* ("to", OperandKind::Label)],
                effect: &[$($ldoc),*],
            },)*
            Opcode {
                name: "CALL",
                operands: &[("call", OperandKind::Call)],
                effect: &[" Calls a function that is not of the machine; it sees NULLs. Errors: those of the function."],
            },
            Opcode {
                name: "JUMP",
                operands: &[("to", OperandKind::Label)],
                effect: &[" Goes on elsewhere."],
            },
            Opcode { name: "STOP", operands: &[], effect: &[" The end: the row is taken."] },
            Opcode { name: "REJECT", operands: &[], effect: &[" The end: the row is left out."] },
        ];

        impl Instruction {
            /// The opcode's name.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => stringify!($name),)*
                    $(Self::$bname { .. } => stringify!($bname),)*
                    $(Self::$lname { .. } => stringify!($lname),)*
                    Self::CALL { .. } => "CALL",
                    Self::JUMP { .. } => "JUMP",
                    Self::STOP {} => "STOP",
                    Self::REJECT {} => "REJECT",
                }
            }

            /// Its operands, in order.
            #[must_use]
            pub fn operands(&self) -> Vec<Operand> {
                match *self {
                    $(Self::$name { $($operand),* } => vec![$(OperandType::show($operand)),*],)*
                    $(Self::$bname { $($boperand,)* to } => vec![$(OperandType::show($boperand),)* to.show()],)*
                    $(Self::$lname { $($loperand,)* to } => vec![$(OperandType::show($loperand),)* to.show()],)*
                    Self::CALL { call } => vec![call.show()],
                    Self::JUMP { to } => vec![to.show()],
                    Self::STOP {} | Self::REJECT {} => Vec::new(),
                }
            }

            /// The instruction of an opcode with these operands; `None` when they are not its own.
            #[must_use]
            pub fn new(name: &str, operands: &[Operand]) -> Option<Self> {
                let mut operands = operands.iter().copied();
                Some(match name {
                    $(stringify!($name) => Self::$name {
                        $($operand: next::<$kind>(&mut operands)?),*
                    },)*
                    $(stringify!($bname) => Self::$bname {
                        $($boperand: next::<$bkind>(&mut operands)?,)* to: next(&mut operands)?,
                    },)*
                    $(stringify!($lname) => Self::$lname {
                        $($loperand: next::<$lkind>(&mut operands)?,)* to: next(&mut operands)?,
                    },)*
                    "CALL" => Self::CALL { call: next(&mut operands)? },
                    "JUMP" => Self::JUMP { to: next(&mut operands)? },
                    "STOP" => Self::STOP {},
                    "REJECT" => Self::REJECT {},
                    _ => return None,
                })
            }

            /// Where it may go on besides the next.
            #[must_use]
            pub fn target(&self) -> Option<Label> {
                match *self {
                    $(Self::$bname { to, .. } => Some(to),)*
                    $(Self::$lname { to, .. } => Some(to),)*
                    Self::JUMP { to } => Some(to),
                    _ => None,
                }
            }

            /// The same with another place to go on.
            pub(super) fn set_target(&mut self, label: Label) {
                match self {
                    $(Self::$bname { to, .. } => *to = label,)*
                    $(Self::$lname { to, .. } => *to = label,)*
                    Self::JUMP { to } => *to = label,
                    _ => {}
                }
            }

            #[inline(always)]
            pub(super) fn run(self, registers: &mut RegisterSet, asides: &Asides) -> Result<InstructionFlow, Trap> {
                match self {
                    $(Self::$name { $($operand),* } => {
                        $run(registers, $($operand),*)?;
                        Ok(InstructionFlow::Following)
                    })*
                    $(Self::$bname { $($boperand,)* to } => {
                        branch($brun(registers, $($boperand),*)?, to)
                    })*
                    $(Self::$lname { $($loperand,)* to } => {
                        branch($lrun(registers, asides, $($loperand),*)?, to)
                    })*
                    Self::CALL { call } => {
                        call::call(registers, asides, call)?;
                        Ok(InstructionFlow::Following)
                    }
                    Self::JUMP { to } => Ok(InstructionFlow::Branch(to)),
                    Self::STOP {} => Ok(InstructionFlow::Stop(true)),
                    Self::REJECT {} => Ok(InstructionFlow::Stop(false)),
                }
            }
        }
    };
}

pub(super) use opcodes;

/// The next operand, if it is of that type.
pub(super) fn next<O: OperandType>(operands: &mut impl Iterator<Item = Operand>) -> Option<O> {
    let operand = operands.next().filter(|operand| operand.kind == O::KIND)?;
    O::read(operand)
}

/// Goes on there, or with the next.
#[inline(always)]
pub(super) fn branch(is_taken: bool, to: Label) -> Result<InstructionFlow, Trap> {
    Ok(if is_taken {
        InstructionFlow::Branch(to)
    } else {
        InstructionFlow::Following
    })
}
