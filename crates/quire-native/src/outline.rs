//! What is known of a program before code is made of it: which instructions become code, where that is entered, and which registers it needs there.

use std::collections::{BTreeSet, HashMap};

use quire_exec::avm::{Attribute, Instruction, Operand, OperandKind, Program, RegisterSet, Tuple};
use quire_format::tuple::{ColumnAccess, TupleType, ValuePlace};
use quire_tables::row_table::Value;

use crate::operation::{NativeOperation, NumberWidth, operation};

/// Most tuple registers whose attributes code reads.
pub(crate) const TUPLES_MAX: usize = 4;
/// Most values of a set that are compared one after the other.
const SET_MAX: usize = 8;

/// A register of one of the banks that code works with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum NativeRegister {
    Word(u16),
    Wide(u16),
}

/// The value of a constant register.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NativeConstant {
    Null,
    /// Of 8 bytes, or a decimal that they hold.
    Small(i64),
    /// A decimal that 8 bytes do not hold.
    Large,
}

/// A column that attributes are read from.
#[derive(Clone, Debug)]
pub(crate) struct AttributeColumn {
    /// Without its decoding tables.
    pub(crate) access: ColumnAccess,
    /// Length bytes up to its own.
    pub(crate) length_bytes: usize,
}

/// An instruction that becomes code, or not.
#[derive(Clone, Debug)]
pub(crate) struct NativeStep {
    /// None for one that the interpreter runs.
    pub(crate) operation: Option<NativeOperation>,
    pub(crate) operands: Vec<Operand>,
    pub(crate) to: Option<usize>,
    pub(crate) ends: bool,
    /// Registers that have a value before it which it or a later one reads, up to the next that is interpreted.
    pub(crate) live: BTreeSet<NativeRegister>,
}

/// A program as the code generator sees it.
#[derive(Debug)]
pub(crate) struct Outline {
    pub(crate) steps: Vec<NativeStep>,
    pub(crate) constants: HashMap<NativeRegister, NativeConstant>,
    /// Tuple registers whose attributes are read, and the bytes that all their tuples have.
    pub(crate) tuples: Vec<(Tuple, usize)>,
    pub(crate) attributes: HashMap<Attribute, AttributeColumn>,
    /// Decoding tables of the length bytes of tuples, by the register and the number of the byte. Code has their addresses.
    pub(crate) tables: HashMap<(Tuple, usize), Box<[u64; 256]>>,
    /// Sets of integers, and of decimals, as far as 8 bytes hold these.
    pub(crate) word_sets: Vec<Vec<i64>>,
    pub(crate) wide_sets: Vec<Vec<i64>>,
    pub(crate) slot_count: usize,
    /// Instructions at which code is entered, ascending.
    pub(crate) entries: Vec<usize>,
}

pub(crate) fn read_place(operand: Operand) -> Option<NativeRegister> {
    match operand.kind {
        OperandKind::Word => Some(NativeRegister::Word(operand.number)),
        OperandKind::Wide => Some(NativeRegister::Wide(operand.number)),
        _ => None,
    }
}

pub(crate) fn written_place(operand: Operand) -> Option<NativeRegister> {
    match operand.kind {
        OperandKind::WordTarget => Some(NativeRegister::Word(operand.number)),
        OperandKind::WideTarget => Some(NativeRegister::Wide(operand.number)),
        _ => None,
    }
}

pub(crate) fn attribute_of(operand: Operand) -> Attribute {
    Attribute {
        tuple: Tuple(operand.tuple),
        ordinal: operand.number,
    }
}

impl Outline {
    pub(crate) fn new(program: &Program, registers: &RegisterSet) -> Self {
        let draft = program.draft();
        let mut outline = Self {
            steps: Vec::with_capacity(draft.instructions.len()),
            constants: HashMap::new(),
            tuples: Vec::new(),
            attributes: HashMap::new(),
            tables: HashMap::new(),
            word_sets: draft.asides.word_sets.clone(),
            wide_sets: (draft.asides.wide_sets.iter())
                .map(|set| {
                    set.iter()
                        .filter_map(|value| i64::try_from(*value).ok())
                        .collect()
                })
                .collect(),
            slot_count: draft.slot_count.into(),
            entries: Vec::new(),
        };
        for (register, value) in &draft.constants {
            outline.constant(register.operand(), value);
        }
        for instruction in &draft.instructions {
            let step = outline.step(instruction, registers);
            outline.steps.push(step);
        }
        outline.find_live();
        outline.find_entries();
        outline
    }

    /// Whether most of the program becomes code.
    pub(crate) fn is_worth_it(&self) -> bool {
        let work = self.steps.iter().filter(|step| !step.ends);
        let (native, others): (Vec<&NativeStep>, Vec<&NativeStep>) =
            work.partition(|step| step.operation.is_some());
        native.len() > others.len()
    }

    fn constant(&mut self, operand: Operand, value: &Value) {
        let Some(place) = read_place(operand) else {
            return;
        };
        let constant = match value {
            Value::Null => NativeConstant::Null,
            Value::Boolean(value) => NativeConstant::Small((*value).into()),
            Value::Integer(value) => NativeConstant::Small(*value),
            Value::Double(value) => NativeConstant::Small(value.to_bits() as i64),
            Value::Real(value) => NativeConstant::Small(value.to_bits().into()),
            Value::Decimal(value) => {
                let value = i128::from(*value);
                i64::try_from(value).map_or(NativeConstant::Large, NativeConstant::Small)
            }
            _ => return,
        };
        self.constants.insert(place, constant);
    }

    fn step(&mut self, instruction: &Instruction, registers: &RegisterSet) -> NativeStep {
        let operands = instruction.operands();
        let operation =
            operation(instruction).filter(|operation| self.does(*operation, &operands, registers));
        let ends = matches!(
            instruction,
            Instruction::STOP {} | Instruction::REJECT {} | Instruction::JUMP { .. }
        );
        NativeStep {
            operation,
            operands,
            to: instruction.target().map(|label| label.0.into()),
            ends,
            live: BTreeSet::new(),
        }
    }

    /// Whether code can do that with these operands.
    fn does(
        &mut self,
        operation: NativeOperation,
        operands: &[Operand],
        registers: &RegisterSet,
    ) -> bool {
        let number = match operation {
            NativeOperation::Compute(_, number)
            | NativeOperation::Compare(_, number)
            | NativeOperation::BranchWhen(_, number)
            | NativeOperation::BranchUnless(_, number)
            | NativeOperation::Sum(number)
            | NativeOperation::SumProduct(number) => Some(number),
            NativeOperation::LoadDecimal => Some(NumberWidth::Decimal),
            _ => None,
        };
        for operand in operands {
            if operand.kind == OperandKind::Attribute && !self.reads(*operand, number, registers) {
                return false;
            }
        }
        let is_limit = |position: usize| match operation {
            NativeOperation::CheckLimit => position == 1,
            NativeOperation::Rescale => position == 2,
            _ => false,
        };
        let is_set = |operand: &Operand| {
            let number = usize::from(operand.number);
            match operand.kind {
                OperandKind::WordSet => self
                    .word_sets
                    .get(number)
                    .is_some_and(|set| set.len() <= SET_MAX),
                OperandKind::WideSet => self
                    .wide_sets
                    .get(number)
                    .is_some_and(|set| set.len() <= SET_MAX),
                _ => true,
            }
        };
        operands.iter().enumerate().all(|(position, operand)| {
            let constant = read_place(*operand).and_then(|place| self.constants.get(&place));
            is_set(operand)
                && match constant {
                    Some(NativeConstant::Large) => is_limit(position),
                    Some(NativeConstant::Small(_)) => true,
                    Some(NativeConstant::Null) => {
                        matches!(
                            operation,
                            NativeOperation::Move | NativeOperation::BranchNull
                        )
                    }
                    None => !is_limit(position),
                }
        })
    }

    /// Whether code can read an attribute as such a number; as any of 8 bytes if none is said.
    fn reads(
        &mut self,
        operand: Operand,
        number: Option<NumberWidth>,
        registers: &RegisterSet,
    ) -> bool {
        let attribute = attribute_of(operand);
        let Some(mut access) = registers.access(attribute) else {
            return false;
        };
        let is_of_type = match (access.column_type, number) {
            (TupleType::Int128 { .. }, number) => number == Some(NumberWidth::Decimal),
            (TupleType::Float64, number) => matches!(number, None | Some(NumberWidth::Double)),
            (TupleType::Float32, number) => matches!(number, None | Some(NumberWidth::Real)),
            (TupleType::Text | TupleType::Bytes, _) => false,
            (_, number) => {
                matches!(
                    number,
                    None | Some(NumberWidth::Big | NumberWidth::Middle | NumberWidth::Small)
                )
            }
        };
        if !is_of_type || !is_addressable(&access) {
            return false;
        }
        if !self
            .tuples
            .iter()
            .any(|(tuple, _)| *tuple == attribute.tuple)
        {
            if self.tuples.len() == TUPLES_MAX {
                return false;
            }
            self.tuples.push((attribute.tuple, access.head_bytes));
        }
        let length_bytes = self.take_tables(attribute.tuple, &mut access.place);
        let column = AttributeColumn {
            access,
            length_bytes,
        };
        self.attributes.insert(attribute, column);
        true
    }

    /// Keeps the tables of a column, those that others have too only once; how many there are.
    fn take_tables(&mut self, tuple: Tuple, place: &mut ValuePlace) -> usize {
        let (ValuePlace::Suppressed(place) | ValuePlace::Coded { other: place, .. }) = place else {
            return 0;
        };
        let tables = std::mem::take(&mut place.steps.tables);
        let count = tables.len();
        for (number, table) in tables.into_iter().enumerate() {
            self.tables.entry((tuple, number)).or_insert(table);
        }
        count
    }

    /// From the end to the beginning: branches lead forward.
    fn find_live(&mut self) {
        for at in (0..self.steps.len()).rev() {
            let Some(step) = self.steps.get(at) else {
                return;
            };
            if step.operation.is_none() {
                continue;
            }
            let mut live = BTreeSet::new();
            let following = self.steps.get(at + 1).filter(|_| !step.ends);
            let target = step.to.and_then(|to| self.steps.get(to));
            for next in [following, target].into_iter().flatten() {
                live.extend(next.live.iter().copied());
            }
            for operand in &step.operands {
                if let Some(place) = written_place(*operand) {
                    live.remove(&place);
                }
            }
            // What a branch writes only on one of its ways it leaves as it was on the other.
            let is_partial = matches!(step.operation, Some(NativeOperation::Rescale));
            let kept = step.operands.iter().filter(|_| is_partial);
            live.extend(
                kept.filter_map(|operand| written_place(*operand))
                    .filter(|place| target.is_some_and(|target| target.live.contains(place))),
            );
            live.extend(
                step.operands
                    .iter()
                    .filter_map(|operand| read_place(*operand)),
            );
            live.retain(|place| !self.constants.contains_key(place));
            if let Some(step) = self.steps.get_mut(at) {
                step.live = live;
            }
        }
    }

    /// The first instruction, and what follows those that are interpreted.
    fn find_entries(&mut self) {
        let mut entries = BTreeSet::from([0]);
        for (at, step) in self.steps.iter().enumerate() {
            if step.operation.is_none() {
                entries.insert(at + 1);
                entries.extend(step.to);
            }
        }
        let is_native = |at: &usize| {
            let step = self.steps.get(*at);
            step.is_some_and(|step| step.operation.is_some() && !step.ends)
        };
        self.entries = entries.into_iter().filter(is_native).collect();
    }
}

/// Whether all offsets are such as instructions of the processor can have.
fn is_addressable(access: &ColumnAccess) -> bool {
    let highest = match &access.place {
        ValuePlace::Fixed { offset, .. } => *offset,
        ValuePlace::Bit { bit, .. } => *bit,
        ValuePlace::Suppressed(place) => place.codes,
        ValuePlace::Coded { bit, other, .. } => (*bit).max(other.codes),
    };
    highest.max(access.head_bytes) < i32::MAX as usize / 2
}
