//! What an opcode does, taken from its name: these are made of parts (see [`quire_exec::avm::OPCODES`]).

use quire_exec::avm::Instruction;

/// Types of numbers, and how wide their results may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberWidth {
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
pub(crate) enum ComparisonOperator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What an instruction does, without its operands. What is not here, only the interpreter does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NativeOperation {
    /// Left, right, target.
    Compute(Arithmetic, NumberWidth),
    /// Left, right, target.
    Compare(ComparisonOperator, NumberWidth),
    /// Left, right, to: branches when the comparison is true; or unless it is.
    BranchWhen(ComparisonOperator, NumberWidth),
    BranchUnless(ComparisonOperator, NumberWidth),
    /// Value, target.
    Negate(NumberWidth),
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
    Sum(NumberWidth),
    /// Left, right, slot.
    SumProduct(NumberWidth),
    /// Value, slot.
    Least(NumberWidth),
    Greatest(NumberWidth),
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

fn number(part: &str) -> Option<NumberWidth> {
    Some(match part {
        "I" => NumberWidth::Big,
        "I4" => NumberWidth::Middle,
        "I2" => NumberWidth::Small,
        "F" => NumberWidth::Double,
        "R" => NumberWidth::Real,
        "N" => NumberWidth::Decimal,
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

fn relation(part: &str) -> Option<ComparisonOperator> {
    Some(match part {
        "EQU" => ComparisonOperator::Equal,
        "NEQ" => ComparisonOperator::NotEqual,
        "LES" => ComparisonOperator::Less,
        "LEQ" => ComparisonOperator::LessOrEqual,
        "GRT" => ComparisonOperator::Greater,
        "GEQ" => ComparisonOperator::GreaterOrEqual,
        _ => return None,
    })
}

/// What an instruction does; none for what only the interpreter does.
pub(crate) fn operation(instruction: &Instruction) -> Option<NativeOperation> {
    let parts: Vec<&str> = instruction.name().split('_').collect();
    Some(match parts[..] {
        ["STOP"] => NativeOperation::Stop(true),
        ["REJECT"] => NativeOperation::Stop(false),
        ["JUMP"] => NativeOperation::Jump,
        ["JTRUE", _] => NativeOperation::BranchTruth(true),
        ["JFALSE", _] => NativeOperation::BranchTruth(false),
        ["JNULL", "W" | "N" | "S", _] => NativeOperation::BranchNull,
        ["JSCALE", "N", _] => NativeOperation::Rescale,
        ["JIN", "I" | "N", _] => NativeOperation::BranchIn,
        ["LOAD", "W", _] => NativeOperation::LoadWord,
        ["LOAD", "N", _] => NativeOperation::LoadDecimal,
        ["MOVE", "W" | "N", _] => NativeOperation::Move,
        ["NULL", "W" | "N"] => NativeOperation::Null,
        ["CNT", "A"] => NativeOperation::Count,
        ["CNV", "IF", _] => NativeOperation::IntegerToDouble,
        ["CNV", "RF", _] => NativeOperation::RealToDouble,
        ["CNV", "IN", _] => NativeOperation::IntegerToDecimal,
        ["DIG", "C", "N", _] => NativeOperation::CheckDigits,
        ["LIM", "C", "N", _] => NativeOperation::CheckLimit,
        ["NEG", "C", kind, _] => NativeOperation::Negate(number(kind)?),
        ["SUM", "A", kind, _] => NativeOperation::Sum(number(kind)?),
        ["MUL", "A", kind, _] => NativeOperation::SumProduct(number(kind)?),
        ["MIN", "A", kind, _] => NativeOperation::Least(number(kind)?),
        ["MAX", "A", kind, _] => NativeOperation::Greatest(number(kind)?),
        [what, "C", kind, _] => match (arithmetic(what), relation(what)) {
            (Some(Arithmetic::Remainder), _) if matches!(kind, "F" | "R") => return None,
            (Some(what), _) => NativeOperation::Compute(what, number(kind)?),
            (_, Some(what)) => NativeOperation::Compare(what, number(kind)?),
            _ => return None,
        },
        [what, kind, _] => {
            let (when, unless) = (what.strip_prefix('J'), what.strip_prefix('U'));
            match (when.and_then(relation), unless.and_then(relation)) {
                (Some(relation), _) => NativeOperation::BranchWhen(relation, number(kind)?),
                (_, Some(relation)) => NativeOperation::BranchUnless(relation, number(kind)?),
                _ => return None,
            }
        }
        _ => return None,
    })
}
