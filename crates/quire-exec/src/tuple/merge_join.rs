//! Joins of inputs that come in the order of their keys: both are read once, side by side.
//!
//! Only the right rows of the present key are kept.

use std::cmp::Ordering;

use quire_format::key::{KeyColumn, KeyLayout};

use super::index_join::LookupKind;
use super::temporary::{Temporary, tuple_type};
use super::{Explanation, ProgramStep, RegisterIterator};
use crate::avm::{Program, Register, RegisterSet, TargetRegister, Trap, Tuple, TuplePlace};

/// What a join of two ordered inputs is made of.
#[derive(Debug)]
pub(crate) struct MergeSides {
    pub(crate) kind: LookupKind,
    /// The values that must be equal, and by which both inputs ascend, or descend where that is said. They are never NULL.
    pub(crate) left_keys: Vec<Register>,
    pub(crate) right_keys: Vec<Register>,
    pub(crate) are_descending: Vec<bool>,
    /// What is kept of a right row, and the register that points to it.
    pub(crate) right_columns: Vec<Register>,
    pub(crate) right_tuple: Tuple,
    /// What must hold of a pair besides.
    pub(crate) condition: Option<Program>,
}

#[derive(Clone, Copy)]
enum MergeJoinState {
    /// A left row is wanted.
    Left,
    /// The next right row that the left one is paired with, and whether one has matched.
    Pair(usize, bool),
    End,
}

/// Pairs of rows of two ordered inputs with equal keys.
pub(crate) struct MergeJoin<L, R> {
    left: L,
    right: R,
    sides: MergeSides,
    condition: Option<ProgramStep>,
    layout: KeyLayout,
    temporary: Temporary,
    /// The right rows of a key.
    rows: Vec<TuplePlace>,
    key_of_rows: Vec<u8>,
    left_key: Vec<u8>,
    /// The key of the right row that the registers have, if it has not been kept or passed.
    right_key: Vec<u8>,
    has_right: bool,
    state: MergeJoinState,
}

impl<L: RegisterIterator, R: RegisterIterator> MergeJoin<L, R> {
    /// A join of `left`, row by row, with `right`.
    ///
    /// # Errors
    /// Columns of which no tuple can be made; constants of the condition that are too long.
    pub(crate) fn new(
        left: L,
        right: R,
        mut sides: MergeSides,
        registers: &mut RegisterSet,
    ) -> Result<Self, Trap> {
        let condition = sides.condition.take();
        let condition = condition.map(|program| ProgramStep::new(program, registers));
        let columns = sides.left_keys.iter().zip(&sides.are_descending);
        let columns = columns.map(|(register, is_descending)| KeyColumn {
            column_type: tuple_type(register.kind()),
            nullable: false,
            descending: *is_descending,
            nulls_first: false,
        });
        let columns: Vec<KeyColumn> = columns.collect();
        let temporary = Temporary::new(&sides.right_columns, sides.right_tuple, false, registers)?;
        Ok(Self {
            left,
            right,
            sides,
            condition: condition.transpose()?,
            layout: KeyLayout::new(&columns),
            temporary,
            rows: Vec::new(),
            key_of_rows: Vec::new(),
            left_key: Vec::new(),
            right_key: Vec::new(),
            has_right: false,
            state: MergeJoinState::Left,
        })
    }

    fn next_left(&mut self, registers: &mut RegisterSet) -> Result<MergeJoinState, Trap> {
        if !self.left.next(registers)? {
            return Ok(MergeJoinState::End);
        }
        set_key(
            &self.layout,
            &self.sides.left_keys,
            registers,
            &mut self.left_key,
        )?;
        if self.rows.is_empty() || self.key_of_rows != self.left_key {
            self.keep_rows(registers)?;
        }
        Ok(MergeJoinState::Pair(0, false))
    }

    /// Keeps the right rows that have the key of the left one.
    fn keep_rows(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        self.rows.clear();
        self.temporary.clear(registers);
        self.key_of_rows.clone_from(&self.left_key);
        loop {
            if !self.has_right && !self.next_right(registers)? {
                return Ok(());
            }
            match self.right_key.cmp(&self.left_key) {
                Ordering::Less => {}
                Ordering::Equal => self.rows.push(self.temporary.push(registers)?),
                Ordering::Greater => return Ok(()),
            }
            self.has_right = false;
        }
    }

    fn next_right(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        self.has_right = self.right.next(registers)?;
        if self.has_right {
            set_key(
                &self.layout,
                &self.sides.right_keys,
                registers,
                &mut self.right_key,
            )?;
        }
        Ok(self.has_right)
    }

    /// The next right row from one on that makes a pair.
    fn next_match(
        &mut self,
        mut number: usize,
        registers: &mut RegisterSet,
    ) -> Result<Option<usize>, Trap> {
        while let Some(place) = self.rows.get(number) {
            self.temporary.point_to(*place, registers);
            match &self.condition {
                Some(condition) if !condition.run(registers)? => number += 1,
                _ => return Ok(Some(number)),
            }
        }
        Ok(None)
    }

    /// Whether there is a row of the left row, and where to go on.
    fn next_pair(
        &mut self,
        (number, has_matched): (usize, bool),
        registers: &mut RegisterSet,
    ) -> Result<(bool, MergeJoinState), Trap> {
        let matched = self.next_match(number, registers)?;
        Ok(match (self.sides.kind, matched) {
            (LookupKind::Inner | LookupKind::Left, Some(number)) => {
                (true, MergeJoinState::Pair(number + 1, true))
            }
            (LookupKind::Inner, None) => (false, MergeJoinState::Left),
            (LookupKind::Left, None) => {
                self.temporary.point_to(TuplePlace::NULLS, registers);
                (!has_matched, MergeJoinState::Left)
            }
            (LookupKind::Semi, matched) => (matched.is_some(), MergeJoinState::Left),
            (LookupKind::Anti, matched) => (matched.is_none(), MergeJoinState::Left),
            (LookupKind::Mark(mark), matched) => {
                registers.set_word(TargetRegister(mark), i64::from(matched.is_some()));
                (true, MergeJoinState::Left)
            }
        })
    }
}

fn set_key(
    layout: &KeyLayout,
    values: &[Register],
    registers: &RegisterSet,
    key: &mut Vec<u8>,
) -> Result<(), Trap> {
    key.clear();
    let values = values
        .iter()
        .map(|register| registers.tuple_value(*register));
    let values: Vec<_> = values.collect();
    Ok(layout.encode(&values, key)?)
}

impl<L: RegisterIterator, R: RegisterIterator> RegisterIterator for MergeJoin<L, R> {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        loop {
            match self.state {
                MergeJoinState::Left => self.state = self.next_left(registers)?,
                MergeJoinState::Pair(number, has_matched) => {
                    let (has_row, state) = self.next_pair((number, has_matched), registers)?;
                    self.state = state;
                    if has_row {
                        return Ok(true);
                    }
                }
                MergeJoinState::End => return Ok(false),
            }
        }
    }

    fn explain(&self, explanation: &mut Explanation) {
        let (kind, count) = (self.sides.kind, self.sides.left_keys.len());
        let tuple = self.sides.right_tuple.0;
        explanation.line(format_args!(
            "join in order of {count} keys, {kind:?}, right rows to t{tuple}"
        ));
        if let Some(condition) = &self.condition {
            explanation.program("pairs", condition);
        }
        explanation.input(&self.left);
        explanation.input(&self.right);
    }
}
