//! Aggregates: what the rows of a group come to, slot by slot (mode `A` of an opcode).
//!
//! A state that has seen no value is told apart by a number that no value is: so the first value needs no program of its own.

use std::cmp::Ordering;

use super::arithmetic::{ArithmeticOperation, Multiply};
use super::compare::SqlOrdered;
use super::opcode::Instruction;
use super::operand::{AggregateSlot, TargetRegister, TextRegister, Wide, WordRegister};
use super::program::Program;
use super::registers::{ReadOperand, RegisterSet, States, WriteRegister};
use super::trap::Trap;
use crate::plan::{EvaluationError, Operator};

/// A sum, least or greatest value of nothing; decimals have at most 38 digits.
pub(crate) const NOTHING: i128 = i128::MIN;

/// Set beside the bits of a float.
const SOMETHING: i128 = 1 << 64;

impl States {
    #[inline(always)]
    pub(super) fn of(&mut self, slot: AggregateSlot) -> Result<&mut i128, Trap> {
        let index = self.group + usize::from(slot.0);
        self.values.get_mut(index).ok_or_else(Trap::slot)
    }
}

/// What a string takes besides its bytes.
const TEXT_BYTES: usize = size_of::<Vec<u8>>();

impl States {
    /// Keeps a string; its number.
    fn add_text(&mut self, text: Vec<u8>) -> i128 {
        self.text_bytes += TEXT_BYTES + text.len();
        let number = self.free_texts.pop().unwrap_or(self.texts.len());
        match self.texts.get_mut(number) {
            Some(place) => *place = text,
            None => self.texts.push(text),
        }
        number as i128
    }

    fn forget_text(&mut self, number: i128) {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        if let Some(place) = self.texts.get_mut(number) {
            let text = std::mem::take(place);
            self.text_bytes = self.text_bytes.saturating_sub(TEXT_BYTES + text.len());
            self.free_texts.push(number);
        }
    }
}

impl RegisterSet {
    /// Starts the aggregates of a program anew: a group without rows. Its counts are zero, and nothing else has a value.
    pub fn begin_group(&mut self, program: &Program) {
        let States {
            values,
            texts,
            free_texts,
            text_bytes,
            group,
        } = &mut self.states;
        (*group, *text_bytes) = (0, 0);
        texts.clear();
        free_texts.clear();
        values.clear();
        values.extend(program.initial_slots());
    }
}

impl RegisterSet {
    /// How many slots all groups of all programs have.
    pub(crate) fn slot_total(&self) -> usize {
        self.states.values.len()
    }

    /// The slots of one group more, behind all others.
    pub(crate) fn add_slots(&mut self, initial: &[i128]) {
        self.states.values.extend_from_slice(initial);
    }

    /// The slots of a group become those of one without rows. Strings of these slots are forgotten.
    pub(crate) fn reset_slots(
        &mut self,
        first_slot: usize,
        initial: &[i128],
        texts: &[AggregateSlot],
    ) {
        let States { values, .. } = &mut self.states;
        let Some(slots) = values.get_mut(first_slot..first_slot + initial.len()) else {
            return;
        };
        let texts = texts
            .iter()
            .filter_map(|slot| slots.get(usize::from(slot.0)));
        let numbers: Vec<i128> = texts.copied().filter(|state| *state != NOTHING).collect();
        slots.copy_from_slice(initial);
        for number in numbers {
            self.states.forget_text(number);
        }
    }

    /// About what the strings of all groups take.
    pub(crate) fn state_text_bytes(&self) -> usize {
        self.states.text_bytes
    }

    /// The present group is that whose first slot has this number.
    #[inline]
    pub(crate) fn set_group(&mut self, first_slot: usize) {
        self.states.group = first_slot;
    }

    /// The slots of the present group as they are held: counts and sums of integers and decimals as they are.
    #[must_use]
    pub fn slots(&self, program: &Program) -> Vec<i128> {
        let States { values, group, .. } = &self.states;
        let count = usize::from(program.draft().slot_count);
        values.iter().skip(*group).take(count).copied().collect()
    }
}

impl Program {
    /// The slots that have strings.
    pub(crate) fn text_slots(&self) -> impl Iterator<Item = AggregateSlot> {
        let instructions = self.draft().instructions.iter();
        instructions.filter_map(|instruction| match instruction {
            Instruction::MIN_A_S_Z { slot, .. } | Instruction::MAX_A_S_Z { slot, .. } => {
                Some(*slot)
            }
            _ => None,
        })
    }

    /// What the slots of a group are before its first row: counts are zero, and nothing else has a value.
    #[must_use]
    pub(crate) fn initial_slots(&self) -> Vec<i128> {
        let draft = self.draft();
        let is_counted = |slot: u8| draft.counters.contains(&AggregateSlot(slot));
        let slots = 0..draft.slot_count;
        slots
            .map(|slot| if is_counted(slot) { 0 } else { NOTHING })
            .collect()
    }
}

/// A type of values that are added up.
pub(super) trait Summed: Copy {
    fn add_to(self, state: &mut i128) -> Result<(), Trap>;
}

impl Summed for i128 {
    #[inline(always)]
    fn add_to(self, state: &mut i128) -> Result<(), Trap> {
        let before = match *state {
            NOTHING => 0,
            sum => sum,
        };
        *state = before
            .checked_add(self)
            .ok_or_else(|| EvaluationError::overflow(Operator::Add, before, self))?;
        Ok(())
    }
}

impl Summed for i64 {
    #[inline(always)]
    fn add_to(self, state: &mut i128) -> Result<(), Trap> {
        i128::from(self).add_to(state)
    }
}

impl Summed for f64 {
    #[inline(always)]
    fn add_to(self, state: &mut i128) -> Result<(), Trap> {
        let before = match *state {
            NOTHING => 0.0,
            sum => Self::from_bits(sum as u64),
        };
        let sum = before + self;
        if sum.is_infinite() && !before.is_infinite() && !self.is_infinite() {
            return Err(EvaluationError::float_overflow().into());
        }
        *state = SOMETHING | i128::from(sum.to_bits());
        Ok(())
    }
}

/// One row more.
#[inline(always)]
pub(super) fn count(registers: &mut RegisterSet, slot: AggregateSlot) -> Result<(), Trap> {
    *registers.states.of(slot)? += 1;
    Ok(())
}

/// Adds a value.
#[inline(always)]
pub(super) fn sum<V, R>(
    registers: &mut RegisterSet,
    value: R,
    slot: AggregateSlot,
) -> Result<(), Trap>
where
    R: ReadOperand<V>,
    V: Summed,
{
    match value.read(registers)? {
        Some(value) => value.add_to(registers.states.of(slot)?),
        None => Ok(()),
    }
}

/// Adds a product.
#[inline(always)]
pub(super) fn sum_product<V, L, R>(
    registers: &mut RegisterSet,
    left: L,
    right: R,
    slot: AggregateSlot,
) -> Result<(), Trap>
where
    L: ReadOperand<V>,
    R: ReadOperand<V>,
    V: Summed,
    Multiply: ArithmeticOperation<V>,
{
    let (Some(left), Some(right)) = (left.read(registers)?, right.read(registers)?) else {
        return Ok(());
    };
    <Multiply as ArithmeticOperation<V>>::apply(left, right)?.add_to(registers.states.of(slot)?)
}

/// Which of two values an extreme is.
pub(super) trait ExtremeKind {
    const WANTED: Ordering;
}

pub(super) struct Least;
pub(super) struct Greatest;

impl ExtremeKind for Least {
    const WANTED: Ordering = Ordering::Less;
}

impl ExtremeKind for Greatest {
    const WANTED: Ordering = Ordering::Greater;
}

/// A type of values of which there is a least and a greatest.
pub(super) trait ExtremeValue: SqlOrdered {
    fn to_state(self) -> i128;
    fn of_state(state: i128) -> Self;
}

impl ExtremeValue for i64 {
    #[inline(always)]
    fn to_state(self) -> i128 {
        self.into()
    }
    #[inline(always)]
    fn of_state(state: i128) -> Self {
        state as Self
    }
}

impl ExtremeValue for i128 {
    #[inline(always)]
    fn to_state(self) -> i128 {
        self
    }
    #[inline(always)]
    fn of_state(state: i128) -> Self {
        state
    }
}

impl ExtremeValue for f64 {
    #[inline(always)]
    fn to_state(self) -> i128 {
        SOMETHING | i128::from(self.to_bits())
    }
    #[inline(always)]
    fn of_state(state: i128) -> Self {
        Self::from_bits(state as u64)
    }
}

impl ExtremeValue for f32 {
    #[inline(always)]
    fn to_state(self) -> i128 {
        SOMETHING | i128::from(self.to_bits())
    }
    #[inline(always)]
    fn of_state(state: i128) -> Self {
        Self::from_bits(state as u32)
    }
}

/// Keeps the value if it is more extreme than that which is kept.
#[inline(always)]
pub(super) fn extreme<V, E, R>(
    registers: &mut RegisterSet,
    value: R,
    slot: AggregateSlot,
) -> Result<(), Trap>
where
    V: ExtremeValue,
    E: ExtremeKind,
    R: ReadOperand<V>,
{
    let Some(value) = value.read(registers)? else {
        return Ok(());
    };
    let known = *registers.states.of(slot)?;
    if known == NOTHING || value.order(V::of_state(known), registers) == E::WANTED {
        *registers.states.of(slot)? = value.to_state();
    }
    Ok(())
}

/// Keeps the string if it is more extreme than that which is kept.
pub(super) fn extreme_text<E: ExtremeKind>(
    registers: &mut RegisterSet,
    value: TextRegister,
    slot: AggregateSlot,
) -> Result<(), Trap> {
    let known = *registers.states.of(slot)?;
    if known == NOTHING {
        let text = registers.text(value).to_vec();
        let number = registers.states.add_text(text);
        *registers.states.of(slot)? = number;
        return Ok(());
    }
    let number = usize::try_from(known).unwrap_or(usize::MAX);
    let kept = registers.states.texts.get_mut(number);
    let mut kept = kept.map(std::mem::take).unwrap_or_default();
    let text = registers.text(value);
    let before_bytes = kept.len();
    if text.cmp(&kept) == E::WANTED {
        kept.clear();
        kept.extend_from_slice(text);
    }
    let text_bytes = registers.states.text_bytes + kept.len();
    registers.states.text_bytes = text_bytes.saturating_sub(before_bytes);
    if let Some(place) = registers.states.texts.get_mut(number) {
        *place = kept;
    }
    Ok(())
}

/// What a slot has come to, NULL for nothing.
#[inline(always)]
pub(super) fn result<V, T>(
    registers: &mut RegisterSet,
    slot: AggregateSlot,
    target: TargetRegister<T>,
) -> Result<(), Trap>
where
    V: ExtremeValue,
    TargetRegister<T>: WriteRegister<V>,
{
    match *registers.states.of(slot)? {
        NOTHING => target.write_null(registers),
        state => target.write(registers, V::of_state(state)),
    }
    Ok(())
}

/// A sum of integers, which must be one of 8 bytes.
pub(super) fn integer_result(
    registers: &mut RegisterSet,
    slot: AggregateSlot,
    target: TargetRegister<WordRegister>,
) -> Result<(), Trap> {
    match *registers.states.of(slot)? {
        NOTHING => WriteRegister::<i64>::write_null(target, registers),
        state => match i64::try_from(state) {
            Ok(sum) => target.write(registers, sum),
            Err(_) => return Err(Trap::sum_out_of_range(state)),
        },
    }
    Ok(())
}

/// A sum of decimals below a limit.
pub(super) fn decimal_result(
    registers: &mut RegisterSet,
    slot: AggregateSlot,
    limit: Wide,
    target: TargetRegister<Wide>,
) -> Result<(), Trap> {
    let limit = registers.wide(limit);
    match *registers.states.of(slot)? {
        NOTHING => target.write_null(registers),
        state if state.unsigned_abs() < limit.unsigned_abs() => {
            target.write(registers, state);
        }
        state => return Err(Trap::sum_out_of_range(state)),
    }
    Ok(())
}

/// A string that was kept.
pub(super) fn text_result(
    registers: &mut RegisterSet,
    slot: AggregateSlot,
    target: TargetRegister<TextRegister>,
) -> Result<(), Trap> {
    let state = *registers.states.of(slot)?;
    if state == NOTHING {
        target.write_null(registers);
        return Ok(());
    }
    let place = registers.make(|registers, made| {
        let number = usize::try_from(state).unwrap_or(usize::MAX);
        let text = registers.states.texts.get(number);
        made.extend_from_slice(text.map_or(&[], Vec::as_slice));
        Ok(())
    })?;
    target.write(registers, place);
    Ok(())
}
