//! What an opcode does, taken from its name: these are made of parts (see [`quire_exec::avm::OPCODES`]).

use quire_exec::avm::Instruction;

/// Types of numbers, and how wide their results may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    /// Integers of 8 bytes, dates, times, booleans.
    Big,
    /// Integers of 4 bytes.
    Middle,
    /// Integers of 2 bytes.
    Small,
    Double,
    Real,
    Decimal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What an instruction does, without its operands. What is not here, only the interpreter does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Left, right, target.
    Compute(Arithmetic, Number),
    /// Left, right, target.
    Compare(Relation, Number),
    /// Left, right, to: branches when the comparison is true; or unless it is.
    BranchWhen(Relation, Number),
    BranchUnless(Relation, Number),
    /// Value, target.
    Negate(Number),
    /// Value, target.
    CheckDigits,
    /// Value, limit, target.
    CheckLimit,
    /// Value, target.
    IntegerToDouble,
    RealToDouble,
    IntegerToDecimal,
    /// Attribute, target.
    LoadWord,
    LoadDecimal,
    /// Value, target.
    Move,
    /// Target.
    Null,
    /// Slot.
    Count,
    /// Value, slot.
    Sum(Number),
    /// Left, right, slot.
    SumProduct(Number),
    /// Value, slot.
    Least(Number),
    Greatest(Number),
    /// Value, to: branches when a boolean is that.
    BranchTruth(bool),
    /// Value, to.
    BranchNull,
    /// Value, factor, limit, target, to.
    Rescale,
    /// Value, set, to.
    BranchIn,
    /// To.
    Jump,
    Stop(bool),
}

fn number(part: &str) -> Option<Number> {
    Some(match part {
        "I" => Number::Big,
        "I4" => Number::Middle,
        "I2" => Number::Small,
        "F" => Number::Double,
        "R" => Number::Real,
        "N" => Number::Decimal,
        _ => return None,
    })
}

fn arithmetic(part: &str) -> Option<Arithmetic> {
    Some(match part {
        "ADD" => Arithmetic::Add,
        "SUB" => Arithmetic::Subtract,
        "MUL" => Arithmetic::Multiply,
        "DIV" => Arithmetic::Divide,
        "REM" => Arithmetic::Remainder,
        _ => return None,
    })
}

fn relation(part: &str) -> Option<Relation> {
    Some(match part {
        "EQU" => Relation::Equal,
        "NEQ" => Relation::NotEqual,
        "LES" => Relation::Less,
        "LEQ" => Relation::LessOrEqual,
        "GRT" => Relation::Greater,
        "GEQ" => Relation::GreaterOrEqual,
        _ => return None,
    })
}

/// What an instruction does; none for what only the interpreter does.
pub(crate) fn operation(instruction: &Instruction) -> Option<Operation> {
    let parts: Vec<&str> = instruction.name().split('_').collect();
    Some(match parts[..] {
        ["STOP"] => Operation::Stop(true),
        ["REJECT"] => Operation::Stop(false),
        ["JUMP"] => Operation::Jump,
        ["JTRUE", _] => Operation::BranchTruth(true),
        ["JFALSE", _] => Operation::BranchTruth(false),
        ["JNULL", "W" | "N" | "S", _] => Operation::BranchNull,
        ["JSCALE", "N", _] => Operation::Rescale,
        ["JIN", "I" | "N", _] => Operation::BranchIn,
        ["LOAD", "W", _] => Operation::LoadWord,
        ["LOAD", "N", _] => Operation::LoadDecimal,
        ["MOVE", "W" | "N", _] => Operation::Move,
        ["NULL", "W" | "N"] => Operation::Null,
        ["CNT", "A"] => Operation::Count,
        ["CNV", "IF", _] => Operation::IntegerToDouble,
        ["CNV", "RF", _] => Operation::RealToDouble,
        ["CNV", "IN", _] => Operation::IntegerToDecimal,
        ["DIG", "C", "N", _] => Operation::CheckDigits,
        ["LIM", "C", "N", _] => Operation::CheckLimit,
        ["NEG", "C", kind, _] => Operation::Negate(number(kind)?),
        ["SUM", "A", kind, _] => Operation::Sum(number(kind)?),
        ["MUL", "A", kind, _] => Operation::SumProduct(number(kind)?),
        ["MIN", "A", kind, _] => Operation::Least(number(kind)?),
        ["MAX", "A", kind, _] => Operation::Greatest(number(kind)?),
        [what, "C", kind, _] => match (arithmetic(what), relation(what)) {
            (Some(Arithmetic::Remainder), _) if matches!(kind, "F" | "R") => return None,
            (Some(what), _) => Operation::Compute(what, number(kind)?),
            (_, Some(what)) => Operation::Compare(what, number(kind)?),
            _ => return None,
        },
        [what, kind, _] => {
            let (when, unless) = (what.strip_prefix('J'), what.strip_prefix('U'));
            match (when.and_then(relation), unless.and_then(relation)) {
                (Some(relation), _) => Operation::BranchWhen(relation, number(kind)?),
                (_, Some(relation)) => Operation::BranchUnless(relation, number(kind)?),
                _ => return None,
            }
        }
        _ => return None,
    })
}
