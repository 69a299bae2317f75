//! Joins by looking up: the rows of a table that belong to a row of the other side are found by their keys.
//!
//! The register of the table points to them where the scan has put them: nothing is kept, and nothing is copied again.

use super::scan::shown_path;
use super::{Explanation, ProgramStep, RegisterIterator, TableScan};
use crate::avm::{Program, Register, RegisterSet, TargetRegister, Trap, WordRegister};

/// Which rows a join by looking up gives. *Left* is the side that looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookupKind {
    /// Each pair that matches.
    Inner,
    /// And each left row that matches none, with NULLs.
    Left,
    /// Each left row that matches.
    Semi,
    /// Each left row that matches none.
    Anti,
    /// Each left row, with whether it matches in a register.
    Mark(WordRegister),
}

/// What a join by looking up is made of.
#[derive(Debug)]
pub(crate) struct IndexJoinSides {
    pub(crate) kind: LookupKind,
    /// The values that a left row looks for, of the first columns of the key.
    pub(crate) left_keys: Vec<Register>,
    /// Whether NULL equals NULL; otherwise it equals nothing.
    pub(crate) nulls_match: bool,
    /// The registers that columns of the table are decoded into: NULL where there is no row.
    pub(crate) right_columns: Vec<Register>,
    /// What must hold of a pair besides.
    pub(crate) condition: Option<Program>,
}

#[derive(Clone, Copy)]
enum IndexJoinState {
    /// A left row is wanted.
    Left,
    /// The left row has found something; whether a pair has matched.
    Right(bool),
    End,
}

/// Pairs of the rows of an input with those of a table.
pub(crate) struct IndexJoin<L> {
    left: L,
    right: TableScan,
    sides: IndexJoinSides,
    condition: Option<ProgramStep>,
    state: IndexJoinState,
}

impl<L: RegisterIterator> IndexJoin<L> {
    /// A join of `left`, row by row, with those rows of `right` that pass its program, whose ranges do not matter.
    ///
    /// # Errors
    /// Constants of the condition that are too long.
    pub(crate) fn new(
        left: L,
        right: TableScan,
        mut sides: IndexJoinSides,
        registers: &mut RegisterSet,
    ) -> Result<Self, Trap> {
        let condition = sides.condition.take();
        let condition = condition.map(|program| ProgramStep::new(program, registers));
        Ok(Self {
            left,
            right,
            sides,
            condition: condition.transpose()?,
            state: IndexJoinState::Left,
        })
    }

    fn next_left(&mut self, registers: &mut RegisterSet) -> Result<IndexJoinState, Trap> {
        if !self.left.next(registers)? {
            return Ok(IndexJoinState::End);
        }
        let IndexJoinSides {
            left_keys,
            nulls_match,
            ..
        } = &self.sides;
        let mut keys = left_keys.iter();
        if !nulls_match && keys.any(|key| registers.is_null(*key)) {
            self.right.look_up_nothing()
        } else {
            self.right.look_up(left_keys, registers)?
        }
        Ok(IndexJoinState::Right(false))
    }

    /// The next pair that matches.
    fn next_match(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        while self.right.next(registers)? {
            match &self.condition {
                Some(condition) if !condition.run(registers)? => {}
                _ => return Ok(true),
            }
        }
        Ok(false)
    }

    /// The next row of the left row, and where to go on; nothing when there is no more.
    fn next_right(
        &mut self,
        has_matched: bool,
        registers: &mut RegisterSet,
    ) -> Result<(bool, IndexJoinState), Trap> {
        let matches = self.next_match(registers)?;
        Ok(match (self.sides.kind, matches) {
            (LookupKind::Inner | LookupKind::Left, true) => (true, IndexJoinState::Right(true)),
            (LookupKind::Inner, false) | (LookupKind::Anti, true) => (false, IndexJoinState::Left),
            (LookupKind::Left, false) => {
                self.right.point_to_nulls(registers);
                for column in &self.sides.right_columns {
                    registers.set_null(*column);
                }
                (!has_matched, IndexJoinState::Left)
            }
            (LookupKind::Semi, matches) => (matches, IndexJoinState::Left),
            (LookupKind::Anti, false) => (true, IndexJoinState::Left),
            (LookupKind::Mark(mark), matches) => {
                registers.set_word(TargetRegister(mark), i64::from(matches));
                (true, IndexJoinState::Left)
            }
        })
    }
}

impl<L: RegisterIterator> RegisterIterator for IndexJoin<L> {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        loop {
            match self.state {
                IndexJoinState::Left => self.state = self.next_left(registers)?,
                IndexJoinState::Right(has_matched) => {
                    let (has_row, state) = self.next_right(has_matched, registers)?;
                    self.state = state;
                    if has_row {
                        return Ok(true);
                    }
                }
                IndexJoinState::End => return Ok(false),
            }
        }
    }

    fn explain(&self, explanation: &mut Explanation) {
        let (kind, count) = (self.sides.kind, self.sides.left_keys.len());
        let path = shown_path(self.right.table(), self.right.index());
        let tuple = self.right.register().0;
        let rows = self.right.row_estimate().unwrap_or_default();
        let reads = self.right.shown_reads();
        explanation.line(format_args!(
            "join by looking up {count} columns of {path} to t{tuple}, {kind:?}, about {rows} rows each{reads}"
        ));
        if let Some(step) = self.right.step() {
            explanation.program("rows", step);
        }
        if let Some(condition) = &self.condition {
            explanation.program("pairs", condition);
        }
        explanation.input(&self.left);
    }
}
