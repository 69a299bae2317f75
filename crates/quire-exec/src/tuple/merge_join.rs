//! Joins of inputs that come in the order of their keys: both are read once, side by side.
//!
//! Only the right rows of the present key are kept. A row whose key is NULL matches none, unless NULL equals NULL.

use std::cmp::Ordering;

use quire_format::key::{KeyColumn, KeyLayout};

use super::index_join::LookupKind;
use super::kept_shape::{KeptRowShape, tuple_type};
use super::key_rows::RowsOfOneKey;
use super::spill::Workspace;
use super::{Explanation, ProgramStep, RegisterIterator};
use crate::avm::{Program, Register, RegisterSet, TargetRegister, Trap};

/// Pairs that a condition refuses between two looks whether the statement is cancelled.
const REFUSED_BETWEEN_CHECKS: usize = 1024;

/// How inputs are ordered by a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MergeOrder {
    pub(crate) is_descending: bool,
    pub(crate) nulls_first: bool,
}

/// What a join of two ordered inputs is made of.
#[derive(Debug)]
pub(crate) struct MergeSides {
    pub(crate) kind: LookupKind,
    /// The values that must be equal, by which both inputs are ordered.
    pub(crate) left_keys: Vec<Register>,
    pub(crate) right_keys: Vec<Register>,
    /// How they are ordered, a key each.
    pub(crate) orders: Vec<MergeOrder>,
    /// Whether a key may be NULL, and then whether NULL equals NULL; otherwise it equals nothing.
    pub(crate) has_nulls: bool,
    pub(crate) nulls_match: bool,
    /// What is kept of a right row.
    pub(crate) right: KeptRowShape,
    /// What must hold of a pair besides.
    pub(crate) condition: Option<Program>,
}

#[derive(Clone, Copy)]
enum MergeJoinState {
    /// A left row is wanted.
    Left,
    /// The left row is paired with the rows of its key; whether one has matched.
    Pair(bool),
    /// The left row has no rows of its key.
    Alone,
    End,
}

/// Pairs of rows of two ordered inputs with equal keys.
pub(crate) struct MergeJoin<L, R> {
    left: L,
    right: R,
    sides: MergeSides,
    condition: Option<ProgramStep>,
    layout: KeyLayout,
    /// The right rows of a key.
    rows: RowsOfOneKey,
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
        workspace: Workspace,
        registers: &mut RegisterSet,
    ) -> Result<Self, Trap> {
        let condition = sides.condition.take();
        let condition = condition.map(|program| ProgramStep::new(program, registers));
        let columns = sides.left_keys.iter().zip(&sides.orders);
        let columns = columns.map(|(register, order)| KeyColumn {
            column_type: tuple_type(register.kind()),
            nullable: sides.has_nulls,
            descending: order.is_descending,
            nulls_first: order.nulls_first,
        });
        let columns: Vec<KeyColumn> = columns.collect();
        let rows = RowsOfOneKey::new(sides.right.clone(), workspace, registers)?;
        Ok(Self {
            left,
            right,
            sides,
            condition: condition.transpose()?,
            layout: KeyLayout::new(&columns),
            rows,
            key_of_rows: Vec::new(),
            left_key: Vec::new(),
            right_key: Vec::new(),
            has_right: false,
            state: MergeJoinState::Left,
        })
    }

    fn next_left(&mut self, registers: &mut RegisterSet) -> Result<MergeJoinState, Trap> {
        // Neither a sorted side nor the rows of a key check it.
        registers.cancellation.check()?;
        if !self.left.next(registers)? {
            return Ok(MergeJoinState::End);
        }
        if self.equals_nothing(&self.sides.left_keys, registers) {
            return Ok(MergeJoinState::Alone);
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
        self.rows.rewind();
        Ok(MergeJoinState::Pair(false))
    }

    /// Whether one of the values is NULL, and equals nothing.
    fn equals_nothing(&self, keys: &[Register], registers: &RegisterSet) -> bool {
        let may_be = self.sides.has_nulls && !self.sides.nulls_match;
        may_be && keys.iter().any(|key| registers.is_null(*key))
    }

    /// Keeps the right rows that have the key of the left one.
    fn keep_rows(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        self.rows.clear(registers);
        self.key_of_rows.clone_from(&self.left_key);
        while self.has_right || self.next_right(registers)? {
            match self.right_key.cmp(&self.left_key) {
                Ordering::Less => {}
                Ordering::Equal => self.rows.push(registers)?,
                Ordering::Greater => break,
            }
            self.has_right = false;
        }
        self.rows.finish()
    }

    fn next_right(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        while self.right.next(registers)? {
            if self.equals_nothing(&self.sides.right_keys, registers) {
                continue;
            }
            set_key(
                &self.layout,
                &self.sides.right_keys,
                registers,
                &mut self.right_key,
            )?;
            self.has_right = true;
            return Ok(true);
        }
        Ok(false)
    }

    /// Goes to the next right row that makes a pair; false when there is none.
    fn next_match(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        let mut refused_count: usize = 0;
        while self.rows.next(registers)? {
            match &self.condition {
                Some(condition) if !condition.run(registers)? => refused_count += 1,
                _ => return Ok(true),
            }
            if refused_count.is_multiple_of(REFUSED_BETWEEN_CHECKS) {
                registers.cancellation.check()?;
            }
        }
        Ok(false)
    }

    /// Whether there is a row of the left row, which matches now or not, and has matched before or not; and where to go on.
    fn row_of(
        &self,
        matches: bool,
        has_matched: bool,
        registers: &mut RegisterSet,
    ) -> (bool, MergeJoinState) {
        match (self.sides.kind, matches) {
            (LookupKind::Inner | LookupKind::Left, true) => (true, MergeJoinState::Pair(true)),
            (LookupKind::Inner, false) => (false, MergeJoinState::Left),
            (LookupKind::Left, false) => {
                self.rows.point_to_nulls(registers);
                (!has_matched, MergeJoinState::Left)
            }
            (LookupKind::Semi, matches) => (matches, MergeJoinState::Left),
            (LookupKind::Anti, matches) => (!matches, MergeJoinState::Left),
            (LookupKind::Mark(mark), matches) => {
                registers.set_word(TargetRegister(mark), i64::from(matches));
                (true, MergeJoinState::Left)
            }
        }
    }
}

fn set_key(
    layout: &KeyLayout,
    values: &[Register],
    registers: &RegisterSet,
    key: &mut Vec<u8>,
) -> Result<(), Trap> {
    key.clear();
    if let [one] = values {
        return Ok(layout.encode(&[registers.tuple_value(*one)], key)?);
    }
    let values = values
        .iter()
        .map(|register| registers.tuple_value(*register));
    let values: Vec<_> = values.collect();
    Ok(layout.encode(&values, key)?)
}

impl<L: RegisterIterator, R: RegisterIterator> RegisterIterator for MergeJoin<L, R> {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        loop {
            let (matches, has_matched) = match self.state {
                MergeJoinState::Left => {
                    self.state = self.next_left(registers)?;
                    continue;
                }
                MergeJoinState::Pair(has_matched) => (self.next_match(registers)?, has_matched),
                MergeJoinState::Alone => (false, false),
                MergeJoinState::End => return Ok(false),
            };
            let (has_row, state) = self.row_of(matches, has_matched, registers);
            self.state = state;
            if has_row {
                return Ok(true);
            }
        }
    }

    fn explain(&self, explanation: &mut Explanation) {
        let (kind, count) = (self.sides.kind, self.sides.left_keys.len());
        let kept = &self.sides.right;
        let tuple = kept.register.0;
        explanation.line(format_args!(
            "join in order of {count} keys, {kind:?}, right rows to t{tuple}"
        ));
        explanation.line(format_args!("keeps {kept}"));
        if let Some(condition) = &self.condition {
            explanation.program("pairs", condition);
        }
        explanation.input(&self.left);
        explanation.input(&self.right);
    }
}
