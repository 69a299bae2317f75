//! Programs as text: how figures 5 and 6 of paper 1 are written down, and how `EXPLAIN (AVM)` shows what was compiled.
//!
//! One instruction a line: the opcode and its operands, with spaces between. `;` starts a comment, `name:` a place that a branch may
//! name. Operands are written as the disassembler shows them (`w7`, `n9`, `s3`, `t14`, `t14.10`, `#2`), or as the paper does: registers and slots by
//! number alone, an attribute as its ordinal and the register of its tuple. The letter `C` among the kinds of operands stands for a constant, which
//! is written there: an integer, a decimal, a string in quotes, or in an opcode of type `D` a date in quotes. It gets a register of its own,
//! from the last one down.
//!
//! Lines that start with a point announce: `.tuple t14 16` a tuple of 16 columns, `.input w5` a register that others fill, `.slots 3`,
//! `.counter #2` a slot that counts.

use std::collections::HashMap;
use std::fmt;

use arrow_array::types::Date32Type;
use arrow_cast::parse::Parser;
use quire_tables::row_table::Value;

use super::instruction::Opcode;
use super::opcode::{Instruction, OPCODES};
use super::operand::{
    AggregateSlot, Label, Operand, OperandKind, TextRegister, Tuple, Wide, WordRegister,
};
use super::program::{Program, ProgramDraft};
use super::register::Register;
use super::verify::ProgramError;

/// Why a text is no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// A line that says nothing that is known.
    #[error("line {line}: {problem}")]
    Line { line: usize, problem: String },
    /// The program is not allowed.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// The program of a text.
///
/// # Errors
/// A line that cannot be read; a program that the verifier refuses.
pub fn assemble(text: &str) -> Result<Program, AssembleError> {
    let mut assembler = Assembler::default();
    for (index, line) in text.lines().enumerate() {
        let problem = |problem| AssembleError::Line {
            line: index + 1,
            problem,
        };
        let words = words_of(line).map_err(problem)?;
        assembler.line(&words, index + 1).map_err(problem)?;
    }
    Ok(Program::new(assembler.finish()?)?)
}

#[derive(Default)]
struct Assembler {
    draft: ProgramDraft,
    labels: HashMap<String, u16>,
    /// Instructions whose branches lead to a name: line, instruction, name.
    open: Vec<(usize, usize, String)>,
    constant_counts: [u8; 3],
}

/// A word of a line; whether it was quoted.
type LineWord = (String, bool);

fn words_of(line: &str) -> Result<Vec<LineWord>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next().filter(|first| *first != ';') {
        let end = if first == '\'' {
            let behind = rest.get(1..).unwrap_or_default();
            let end = behind.find('\'').ok_or("a quote is not closed")?;
            words.push((behind.get(..end).unwrap_or_default().to_owned(), true));
            end + 2
        } else {
            let end = rest
                .find(|c: char| c.is_whitespace() || c == ';')
                .unwrap_or(rest.len());
            words.push((rest.get(..end).unwrap_or_default().to_owned(), false));
            end
        };
        rest = rest.get(end..).unwrap_or_default().trim_start();
    }
    Ok(words)
}

/// The opcode that a name in the paper's way means, the positions of its constants, and whether they are dates.
fn opcode_of(name: &str) -> Option<(&'static Opcode, Vec<usize>, bool)> {
    let name = name.strip_prefix("AVM_").unwrap_or(name);
    let mut parts: Vec<String> = name.split('_').map(str::to_owned).collect();
    let is_date = parts.iter().skip(1).any(|part| part == "D");
    for part in parts.iter_mut().skip(1) {
        if part == "D" {
            "I".clone_into(part);
        }
    }
    let mut constants = Vec::new();
    let is_computed = parts.len() > 2;
    if let Some(kinds) = parts.last_mut().filter(|_| is_computed) {
        constants = kinds.match_indices('C').map(|(at, _)| at).collect();
        *kinds = kinds.replace('C', "Z");
    }
    let name = parts.join("_");
    let opcode = OPCODES.iter().find(|opcode| opcode.name == name)?;
    Some((opcode, constants, is_date))
}

impl Assembler {
    fn line(&mut self, words: &[LineWord], line: usize) -> Result<(), String> {
        let Some(((first, _), operands)) = words.split_first() else {
            return Ok(());
        };
        if let Some(name) = first.strip_suffix(':') {
            let at = u16::try_from(self.draft.instructions.len()).map_err(|_| "too many lines")?;
            self.labels.insert(name.to_owned(), at);
            return self.line(operands, line);
        }
        if let Some(what) = first.strip_prefix('.') {
            return self.announce(what, operands);
        }
        let (opcode, constants, is_date) =
            opcode_of(first).ok_or_else(|| format!("there is no opcode {first}"))?;
        let mut operands = operands.iter();
        let mut read = Vec::with_capacity(opcode.operands.len());
        for (position, (name, kind)) in opcode.operands.iter().enumerate() {
            let mut next = || {
                operands
                    .next()
                    .ok_or_else(|| format!("{first} needs {name}"))
            };
            read.push(match kind {
                _ if constants.contains(&position) => self.constant(*kind, next()?, is_date)?,
                OperandKind::Attribute => {
                    let (word, _) = next()?;
                    if word.contains('.') {
                        attribute(word)?
                    } else {
                        attribute(&format!("{}.{word}", next()?.0))?
                    }
                }
                OperandKind::Label => self.label(&next()?.0, line)?,
                _ => Operand {
                    kind: *kind,
                    number: number(&next()?.0)?,
                    tuple: 0,
                },
            });
        }
        if let Some((word, _)) = operands.next() {
            return Err(format!("{first} takes no {word}"));
        }
        let instruction = Instruction::new(opcode.name, &read);
        let instruction = instruction.ok_or_else(|| format!("{first} has no such registers"))?;
        self.draft.instructions.push(instruction);
        Ok(())
    }

    fn announce(&mut self, what: &str, operands: &[LineWord]) -> Result<(), String> {
        let word = |at: usize| operands.get(at).map_or("", |(word, _)| word.as_str());
        match what {
            "tuple" => {
                let register = Tuple(register_number(word(0))?);
                self.draft.tuples.push((register, number(word(1))?));
            }
            "input" => self.draft.inputs.push(register(word(0))?),
            "counter" => self
                .draft
                .counters
                .push(AggregateSlot(register_number(word(0))?)),
            "slots" => self.draft.slot_count = register_number(word(0))?,
            other => {
                return Err(format!(
                    "there is no .{other}; use .tuple, .input, .slots or .counter"
                ));
            }
        }
        Ok(())
    }

    fn label(&mut self, word: &str, line: usize) -> Result<Operand, String> {
        let target = match word.strip_prefix('@') {
            Some(digits) => number(digits)?,
            None => {
                self.open
                    .push((line, self.draft.instructions.len(), word.to_owned()));
                0
            }
        };
        Ok(Operand {
            kind: OperandKind::Label,
            number: target,
            tuple: 0,
        })
    }

    /// Gives a constant a register.
    fn constant(
        &mut self,
        kind: OperandKind,
        (word, is_quoted): &LineWord,
        is_date: bool,
    ) -> Result<Operand, String> {
        let value = if *is_quoted && is_date {
            Value::Integer(days(word).ok_or_else(|| format!("'{word}' is no date"))?)
        } else {
            let wrong = || format!("{word} is no constant of that type");
            match kind {
                OperandKind::Text => Value::Text(word.as_str().into()),
                OperandKind::Wide => Value::Decimal(decimal(word).ok_or_else(wrong)?.into()),
                _ if word.contains('.') => Value::Double(word.parse().map_err(|_| wrong())?),
                _ => Value::Integer(word.parse().map_err(|_| wrong())?),
            }
        };
        let bank = match kind {
            OperandKind::Text => 2,
            OperandKind::Wide => 1,
            _ => 0,
        };
        let count = self.constant_counts.get_mut(bank).ok_or("no bank")?;
        let number = u8::MAX.checked_sub(*count).ok_or("too many constants")?;
        *count = count.checked_add(1).ok_or("too many constants")?;
        let register = match (&value, bank) {
            (_, 2) => Register::Text(TextRegister(number)),
            (_, 1) => Register::Decimal(Wide(number)),
            (Value::Double(_), _) => Register::Double(WordRegister(number)),
            _ => Register::Integer(WordRegister(number)),
        };
        self.draft.constants.push((register, value));
        Ok(Operand {
            kind,
            number: number.into(),
            tuple: 0,
        })
    }

    fn finish(mut self) -> Result<ProgramDraft, AssembleError> {
        for (line, instruction, name) in self.open {
            let target = self.labels.get(&name);
            let instruction = self.draft.instructions.get_mut(instruction);
            match (target, instruction) {
                (Some(target), Some(instruction)) => instruction.set_target(Label(*target)),
                _ => {
                    let problem = format!("there is no {name}:");
                    return Err(AssembleError::Line { line, problem });
                }
            }
        }
        Ok(self.draft)
    }
}

/// A number, with or without the sign of its kind.
fn number(word: &str) -> Result<u16, String> {
    let digits = word.trim_start_matches(['w', 'n', 's', 't', '#', '%']);
    digits
        .parse()
        .map_err(|_| format!("{word} is no register or number"))
}

fn register_number(word: &str) -> Result<u8, String> {
    u8::try_from(number(word)?).map_err(|_| format!("{word}: there are 256 registers of a kind"))
}

fn register(word: &str) -> Result<Register, String> {
    let number = register_number(word)?;
    match word.chars().next() {
        Some('w') => Ok(Register::Integer(WordRegister(number))),
        Some('n') => Ok(Register::Decimal(Wide(number))),
        Some('s') => Ok(Register::Text(TextRegister(number))),
        _ => Err(format!("{word}: write w, n or s before the number")),
    }
}

fn attribute(word: &str) -> Result<Operand, String> {
    let (tuple, ordinal) = word
        .split_once('.')
        .ok_or_else(|| format!("{word} is no attribute"))?;
    Ok(Operand {
        kind: OperandKind::Attribute,
        number: number(ordinal)?,
        tuple: register_number(tuple)?,
    })
}

/// Digits without their point.
fn decimal(word: &str) -> Option<i128> {
    let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
    format!("{whole}{fraction}").parse().ok()
}

/// Days since 1970-01-01.
fn days(date: &str) -> Option<i64> {
    Date32Type::parse(date).map(i64::from)
}

impl fmt::Display for Program {
    /// A line for each instruction with its number, and before them the constants that they name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProgramDraft {
            instructions,
            constants,
            asides,
            ..
        } = self.draft();
        let named: Vec<Operand> = instructions
            .iter()
            .flat_map(Instruction::operands)
            .collect();
        for (register, value) in constants {
            let operand = register.operand();
            if named.contains(&operand) {
                writeln!(f, "      ; {operand} = {value:?}")?;
            }
        }
        for (at, instruction) in instructions.iter().enumerate() {
            write!(f, "{at:5} {:<12}", instruction.name())?;
            for operand in instruction.operands() {
                write!(f, " {operand}")?;
            }
            if let Instruction::CALL { call } = instruction
                && let Some(call) = asides.calls.get(usize::from(call.0))
            {
                write!(
                    f,
                    " ; {} = {}(",
                    call.target.operand(),
                    call.function.name()
                )?;
                for (position, argument) in call.arguments.iter().enumerate() {
                    let comma = if position == 0 { "" } else { ", " };
                    write!(f, "{comma}{}", argument.operand())?;
                }
                write!(f, ")")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
