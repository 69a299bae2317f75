//! Comparisons: as values, and fused with the branch that follows them.

use std::cmp::Ordering;

use quire_tables::row_table::compare_floats;

use super::operand::{TargetRegister, TextRegister, Wide, WordRegister};
use super::registers::{ReadOperand, RegisterSet, TextPlace, WriteRegister};
use super::trap::Trap;

/// Values of one type in the order of SQL.
pub(super) trait SqlOrdered: Copy {
    fn order(self, other: Self, registers: &RegisterSet) -> Ordering;
}

impl SqlOrdered for i64 {
    #[inline(always)]
    fn order(self, other: Self, _: &RegisterSet) -> Ordering {
        self.cmp(&other)
    }
}

impl SqlOrdered for i128 {
    #[inline(always)]
    fn order(self, other: Self, _: &RegisterSet) -> Ordering {
        self.cmp(&other)
    }
}

impl SqlOrdered for f64 {
    #[inline(always)]
    fn order(self, other: Self, _: &RegisterSet) -> Ordering {
        compare_floats(self, other)
    }
}

impl SqlOrdered for f32 {
    #[inline(always)]
    fn order(self, other: Self, _: &RegisterSet) -> Ordering {
        compare_floats(self.into(), other.into())
    }
}

impl SqlOrdered for TextPlace {
    #[inline(always)]
    fn order(self, other: Self, registers: &RegisterSet) -> Ordering {
        registers.bytes(self).cmp(registers.bytes(other))
    }
}

/// Which orders of the sides make a comparison true.
pub(super) trait OrderingTest {
    fn is_true(order: Ordering) -> bool;
}

macro_rules! tests {
    ($($test:ident $is_true:ident)*) => {
        $(pub(super) struct $test;
        impl OrderingTest for $test {
            #[inline(always)]
            fn is_true(order: Ordering) -> bool {
                order.$is_true()
            }
        })*
    };
}

tests! {
    Less is_lt
    LessOrEqual is_le
    Equal is_eq
    NotEqual is_ne
    Greater is_gt
    GreaterOrEqual is_ge
}

/// Whether the comparison is true; `None` when an attribute is NULL.
#[inline(always)]
fn test<V, C, L, R>(registers: &mut RegisterSet, left: L, right: R) -> Result<Option<bool>, Trap>
where
    V: SqlOrdered,
    C: OrderingTest,
    L: ReadOperand<V>,
    R: ReadOperand<V>,
{
    let (Some(left), Some(right)) = (left.read(registers)?, right.read(registers)?) else {
        return Ok(None);
    };
    Ok(Some(C::is_true(left.order(right, registers))))
}

/// The truth of a comparison as a value.
#[inline(always)]
pub(super) fn compare<V, C, L, R>(
    registers: &mut RegisterSet,
    left: L,
    right: R,
    target: TargetRegister<WordRegister>,
) -> Result<(), Trap>
where
    V: SqlOrdered,
    C: OrderingTest,
    L: ReadOperand<V>,
    R: ReadOperand<V>,
{
    match test::<V, C, L, R>(registers, left, right)? {
        Some(truth) => target.write(registers, i64::from(truth)),
        None => WriteRegister::<i64>::write_null(target, registers),
    }
    Ok(())
}

/// Whether to branch: the comparison is true.
#[inline(always)]
pub(super) fn when<V, C, L, R>(registers: &mut RegisterSet, left: L, right: R) -> Result<bool, Trap>
where
    V: SqlOrdered,
    C: OrderingTest,
    L: ReadOperand<V>,
    R: ReadOperand<V>,
{
    Ok(test::<V, C, L, R>(registers, left, right)? == Some(true))
}

/// Whether to branch: the comparison is not true.
#[inline(always)]
pub(super) fn unless<V, C, L, R>(
    registers: &mut RegisterSet,
    left: L,
    right: R,
) -> Result<bool, Trap>
where
    V: SqlOrdered,
    C: OrderingTest,
    L: ReadOperand<V>,
    R: ReadOperand<V>,
{
    Ok(test::<V, C, L, R>(registers, left, right)? != Some(true))
}

#[inline(always)]
pub(super) fn is_true(registers: &mut RegisterSet, value: WordRegister) -> Result<bool, Trap> {
    Ok(registers.word(value) != 0)
}

#[inline(always)]
pub(super) fn is_false(registers: &mut RegisterSet, value: WordRegister) -> Result<bool, Trap> {
    Ok(registers.word(value) == 0)
}

#[inline(always)]
pub(super) fn is_null_word(registers: &mut RegisterSet, value: WordRegister) -> Result<bool, Trap> {
    Ok(registers.is_null_word(value))
}

#[inline(always)]
pub(super) fn is_null_wide(registers: &mut RegisterSet, value: Wide) -> Result<bool, Trap> {
    Ok(registers.is_null_wide(value))
}

#[inline(always)]
pub(super) fn is_null_text(registers: &mut RegisterSet, value: TextRegister) -> Result<bool, Trap> {
    Ok(registers.is_null_text(value))
}
