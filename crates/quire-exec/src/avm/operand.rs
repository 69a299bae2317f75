//! What instructions work on.

use std::fmt;

/// A register that holds an integer, a boolean, a date, a time or a float: 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WordRegister(pub u8);

/// A register that holds a decimal without its point: 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Wide(pub u8);

/// A register that holds where a string is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextRegister(pub u8);

/// A register that holds where a tuple is, compressed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tuple(pub u8);

/// A column of the tuple in a register: the third kind of operand (paper 1, figure 5). Its ordinal is that of the tuple's layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Attribute {
    pub tuple: Tuple,
    pub ordinal: u16,
}

/// The register that an instruction writes, and with it whether its value is NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetRegister<R>(pub R);

/// The number of an instruction: where to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(pub u16);

/// What an aggregate knows so far, one of those of the present group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AggregateSlot(pub u8);

/// Kinds of operands, as the assembler writes and the verifier checks them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandKind {
    Word,
    Wide,
    Text,
    Tuple,
    /// A tuple register and an ordinal.
    Attribute,
    WordTarget,
    WideTarget,
    TextTarget,
    TupleTarget,
    Label,
    Slot,
    Pattern,
    WordSet,
    WideSet,
    TextSet,
    Call,
}

/// An operand without its type: what the assembler reads and the disassembler shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    pub kind: OperandKind,
    /// The number of the register, instruction, slot or thing aside; the ordinal of an attribute.
    pub number: u16,
    /// The register of an attribute's tuple.
    pub tuple: u8,
}

/// A type of operand.
pub(super) trait OperandType: Copy {
    const KIND: OperandKind;
    fn show(self) -> Operand;
    /// The operand that [`Self::show`] shows so; `None` when the number is too large.
    fn read(operand: Operand) -> Option<Self>;
}

fn shown(kind: OperandKind, number: u16) -> Operand {
    Operand {
        kind,
        number,
        tuple: 0,
    }
}

macro_rules! register_operands {
    ($($register:ident $kind:ident $target:ident)*) => {
        $(
            impl OperandType for $register {
                const KIND: OperandKind = OperandKind::$kind;
                fn show(self) -> Operand {
                    shown(Self::KIND, u16::from(self.0))
                }
                fn read(operand: Operand) -> Option<Self> {
                    u8::try_from(operand.number).ok().map(Self)
                }
            }
            impl OperandType for TargetRegister<$register> {
                const KIND: OperandKind = OperandKind::$target;
                fn show(self) -> Operand {
                    shown(Self::KIND, u16::from(self.0.0))
                }
                fn read(operand: Operand) -> Option<Self> {
                    $register::read(operand).map(Self)
                }
            }
        )*
    };
}

register_operands! {
    WordRegister Word WordTarget
    Wide Wide WideTarget
    TextRegister Text TextTarget
    Tuple Tuple TupleTarget
}

impl OperandType for Attribute {
    const KIND: OperandKind = OperandKind::Attribute;
    fn show(self) -> Operand {
        Operand {
            kind: Self::KIND,
            number: self.ordinal,
            tuple: self.tuple.0,
        }
    }
    fn read(operand: Operand) -> Option<Self> {
        Some(Self {
            tuple: Tuple(operand.tuple),
            ordinal: operand.number,
        })
    }
}

impl OperandType for Label {
    const KIND: OperandKind = OperandKind::Label;
    fn show(self) -> Operand {
        shown(Self::KIND, self.0)
    }
    fn read(operand: Operand) -> Option<Self> {
        Some(Self(operand.number))
    }
}

impl OperandType for AggregateSlot {
    const KIND: OperandKind = OperandKind::Slot;
    fn show(self) -> Operand {
        shown(Self::KIND, u16::from(self.0))
    }
    fn read(operand: Operand) -> Option<Self> {
        u8::try_from(operand.number).ok().map(Self)
    }
}

/// Says which things aside a number counts.
macro_rules! aside_operands {
    ($($(#[doc = $doc:literal])* $name:ident)*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $name(pub u16);

            impl OperandType for $name {
                const KIND: OperandKind = OperandKind::$name;
                fn show(self) -> Operand {
                    shown(Self::KIND, self.0)
                }
                fn read(operand: Operand) -> Option<Self> {
                    Some(Self(operand.number))
                }
            }
        )*
    };
}

aside_operands! {
    /// A pattern of `LIKE`.
    Pattern
    /// A set of integers.
    WordSet
    /// A set of decimals.
    WideSet
    /// A set of strings.
    TextSet
    /// A function that is not of the machine, its arguments and where its value goes.
    Call
}

impl fmt::Display for Operand {
    /// `w7`, `n9`, `s3`, `t14`, `t14.10` (an attribute), `@3` (an instruction), `#2` (a slot), `%0` (something aside).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number;
        match self.kind {
            OperandKind::Word | OperandKind::WordTarget => write!(f, "w{number}"),
            OperandKind::Wide | OperandKind::WideTarget => write!(f, "n{number}"),
            OperandKind::Text | OperandKind::TextTarget => write!(f, "s{number}"),
            OperandKind::Tuple | OperandKind::TupleTarget => write!(f, "t{number}"),
            OperandKind::Attribute => write!(f, "t{}.{number}", self.tuple),
            OperandKind::Label => write!(f, "@{number}"),
            OperandKind::Slot => write!(f, "#{number}"),
            OperandKind::Pattern
            | OperandKind::WordSet
            | OperandKind::WideSet
            | OperandKind::TextSet
            | OperandKind::Call => write!(f, "%{number}"),
        }
    }
}
