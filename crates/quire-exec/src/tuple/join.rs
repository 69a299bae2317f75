//! Joins by hashing: the rows of one side are kept, those of the other look for theirs.
//!
//! What comes out is what the registers have of both sides (an implicit join, paper 1 §4.1.1): the tuple registers of the side that looks, and one
//! that points to the row that was kept. When memory is full, both sides are divided ([`super::join_spill`]).
//!
//! A join without keys is a block nested loop: all rows of the side that is kept have one key, the empty one, and when they take more than
//! memory they are kept block by block, for each of which the other side is read again.

use super::join_spill::{LeftRow, SpilledJoin};
use super::kept_rows::{KeptRows, set_key};
use super::kept_shape::KeptRowShape;
use super::row_image::RowImage;
use super::spill::Workspace;
use super::{Explanation, ProgramStep, RegisterIterator};
use crate::avm::{
    Program, Register, RegisterSet, TargetRegister, Trap, Tuple, TuplePlace, WordRegister,
};

/// Which rows a join gives. *Left* is the side that looks, *right* the one that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TupleJoinKind {
    /// Each pair that matches.
    Inner,
    /// And each left row that matches none, with NULLs.
    Left,
    /// Each pair, and each right row that matches none.
    Right,
    /// Each pair, and each row of either side that matches none.
    Full,
    /// Each left row that matches.
    Semi,
    /// Each left row that matches none.
    Anti,
    /// Each left row, with whether it matches in a register.
    Mark(WordRegister),
}

impl TupleJoinKind {
    /// Whether right rows that match none come out.
    pub(super) fn keeps_right(self) -> bool {
        matches!(self, Self::Right | Self::Full)
    }
}

/// What a join is made of.
#[derive(Debug)]
pub struct JoinSides {
    pub kind: TupleJoinKind,
    /// Whether NULL equals NULL; otherwise it equals nothing.
    pub nulls_match: bool,
    /// Of an anti join, whether it is `NOT IN`: no row comes out if a right row has a NULL key, nor a left row that has one, unless there is no
    /// right row.
    pub is_null_aware: bool,
    /// The values that must be equal, of a left row and of a right one.
    pub left_keys: Vec<Register>,
    pub right_keys: Vec<Register>,
    /// What is kept of a right row.
    pub right: KeptRowShape,
    /// What a left row is in: NULL where there is none.
    pub left_columns: Vec<Register>,
    pub left_tuples: Vec<Tuple>,
    /// What must hold of a pair besides.
    pub condition: Option<Program>,
}

enum HashJoinState {
    /// Nothing is read.
    Start,
    /// A left row is wanted.
    Left,
    /// A left row looks: the next right row to try, and whether one has matched.
    Pair(Option<u32>, bool),
    /// Right rows that match none, from this one on.
    Rest(usize),
    End,
}

/// Pairs of rows of two inputs with equal keys.
pub struct HashJoin<L, R> {
    left: L,
    right: R,
    sides: JoinSides,
    condition: Option<ProgramStep>,
    kept: KeptRows,
    key: Vec<u8>,
    has_right: bool,
    /// Whether a right row has a key that equals nothing.
    has_null_key: bool,
    state: HashJoinState,
    workspace: Workspace,
    image: RowImage,
    row: Vec<u8>,
    spilled: Option<Box<SpilledJoin>>,
}

impl<L: RegisterIterator, R: RegisterIterator> HashJoin<L, R> {
    /// A join of `left`, row by row, with `right`, which is read first.
    ///
    /// # Errors
    /// Columns of which no tuple can be made; constants of the condition that are too long.
    pub fn new(
        left: L,
        right: R,
        mut sides: JoinSides,
        workspace: Workspace,
        registers: &mut RegisterSet,
    ) -> Result<Self, Trap> {
        let condition = sides.condition.take();
        let condition = condition
            .map(|program| ProgramStep::new(program, registers))
            .transpose()?;
        let (columns, tuples) = (sides.left_columns.clone(), sides.left_tuples.clone());
        Ok(Self {
            left,
            right,
            condition,
            kept: KeptRows::new(sides.right.clone(), registers)?,
            sides,
            key: Vec::new(),
            has_right: false,
            has_null_key: false,
            state: HashJoinState::Start,
            workspace,
            image: RowImage::new(columns, tuples, registers),
            row: Vec::new(),
            spilled: None,
        })
    }

    fn read_right(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        while self.right.next(registers)? {
            let JoinSides {
                kind,
                nulls_match,
                right_keys,
                ..
            } = &self.sides;
            self.has_right = true;
            let has_key = set_key(right_keys, *nulls_match, registers, &mut self.key);
            self.has_null_key |= !has_key;
            if !has_key && !kind.keeps_right() {
                continue;
            }
            let key = has_key.then_some(self.key.as_slice());
            if let Some(spilled) = &mut self.spilled {
                spilled.take_right(key, self.kept.encoded(registers)?)?;
                continue;
            }
            self.kept.push(key, registers)?;
            if self.workspace.is_full(self.kept.len_bytes(registers)) {
                let mut spilled = Box::new(SpilledJoin::new(&self.workspace)?);
                self.kept
                    .drain(registers, |key, tuple| spilled.take_right(key, tuple))?;
                self.spilled = Some(spilled);
            }
        }
        Ok(())
    }

    /// Whether a right row makes a pair with the left one; and the next to try.
    fn try_pair(
        &mut self,
        number: u32,
        registers: &mut RegisterSet,
    ) -> Result<(bool, Option<u32>), Trap> {
        let next = self.kept.point_to(number, registers);
        let matches = match &self.condition {
            Some(condition) => condition.run(registers)?,
            None => true,
        };
        if matches {
            self.kept.note_match(number);
        }
        Ok((matches, next))
    }

    /// The next pair of the left row, or the row itself; false when there is nothing more of it.
    fn next_pair(
        &mut self,
        mut candidate: Option<u32>,
        mut has_matched: bool,
        registers: &mut RegisterSet,
    ) -> Result<bool, Trap> {
        let kind = self.sides.kind;
        self.state = HashJoinState::Left;
        while let Some(number) = candidate {
            let (matches, next) = self.try_pair(number, registers)?;
            candidate = next;
            has_matched |= matches;
            match kind {
                _ if !matches => {}
                TupleJoinKind::Semi | TupleJoinKind::Anti | TupleJoinKind::Mark(_) => break,
                _ => {
                    self.state = HashJoinState::Pair(candidate, true);
                    return Ok(true);
                }
            }
        }
        if let Some(spilled) = &mut self.spilled
            && !spilled.is_last_part()
        {
            // What other parts of the right side have is not known yet.
            spilled.note_match(has_matched);
            return Ok(has_matched && kind == TupleJoinKind::Semi);
        }
        Ok(self.without_more(has_matched, registers))
    }

    /// Whether a left row comes out that has no more pairs.
    fn without_more(&self, has_matched: bool, registers: &mut RegisterSet) -> bool {
        match self.sides.kind {
            TupleJoinKind::Inner | TupleJoinKind::Right => false,
            TupleJoinKind::Left | TupleJoinKind::Full => {
                self.kept.point_to_nulls(registers);
                !has_matched
            }
            TupleJoinKind::Semi => has_matched,
            TupleJoinKind::Anti => !has_matched,
            TupleJoinKind::Mark(mark) => {
                registers.set_word(TargetRegister(mark), i64::from(has_matched));
                true
            }
        }
    }

    /// The next right row that matched none.
    fn next_rest(&mut self, from: usize, registers: &mut RegisterSet) -> Result<bool, Trap> {
        let Some(number) = self.kept.unmatched(from) else {
            self.state = self.next_part(registers)?;
            return Ok(false);
        };
        self.state = HashJoinState::Rest(number as usize + 1);
        self.kept.point_to(number, registers);
        for tuple in &self.sides.left_tuples {
            registers.set_tuple(*tuple, TuplePlace::NULLS);
        }
        for column in &self.sides.left_columns {
            registers.set_null(*column);
        }
        Ok(true)
    }

    /// Keeps the next part of the right side, if there is one.
    fn next_part(&mut self, registers: &mut RegisterSet) -> Result<HashJoinState, Trap> {
        let Some(spilled) = &mut self.spilled else {
            return Ok(HashJoinState::End);
        };
        let workspace = &self.workspace;
        Ok(
            if spilled.next_part(&mut self.kept, workspace, registers)? {
                HashJoinState::Left
            } else {
                HashJoinState::End
            },
        )
    }

    /// Whether `NOT IN` is NULL for a left row.
    fn is_unknown(&self, registers: &RegisterSet) -> bool {
        let mut keys = self.sides.left_keys.iter();
        self.sides.is_null_aware && self.has_right && keys.any(|key| registers.is_null(*key))
    }

    /// Reads the next left row: true if it comes out as it is.
    fn next_left(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        registers.cancellation.check()?;
        if self.sides.is_null_aware && self.has_null_key {
            self.state = HashJoinState::End;
            return Ok(false);
        }
        match &self.spilled {
            Some(spilled) if spilled.has_all_left() => self.next_spilled(registers),
            Some(_) => self.divide_left(registers),
            None => self.next_of_input(registers),
        }
    }

    fn next_of_input(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        self.state = match self.left.next(registers)? {
            true if self.is_unknown(registers) => HashJoinState::Left,
            true => {
                let JoinSides {
                    left_keys,
                    nulls_match,
                    ..
                } = &self.sides;
                let first = if set_key(left_keys, *nulls_match, registers, &mut self.key) {
                    self.kept.first(&self.key)
                } else {
                    None
                };
                HashJoinState::Pair(first, false)
            }
            false => HashJoinState::Rest(self.rest_start()),
        };
        Ok(false)
    }

    /// From where right rows are looked at that may have matched none.
    fn rest_start(&self) -> usize {
        if self.sides.kind.keeps_right() {
            0
        } else {
            usize::MAX
        }
    }

    /// Spills left rows until there is one that matches nothing, or none.
    fn divide_left(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        while self.left.next(registers)? {
            if self.is_unknown(registers) {
                continue;
            }
            let JoinSides {
                left_keys,
                nulls_match,
                ..
            } = &self.sides;
            if !set_key(left_keys, *nulls_match, registers, &mut self.key) {
                if self.without_more(false, registers) {
                    return Ok(true);
                }
                continue;
            }
            self.row.clear();
            self.image.save(registers, &mut self.row)?;
            if let Some(spilled) = &mut self.spilled {
                spilled.take_left(&self.key, &self.row)?;
            }
        }
        if let Some(spilled) = &mut self.spilled {
            spilled.end_left()?;
        }
        self.state = self.next_part(registers)?;
        Ok(false)
    }

    /// Puts the next left row back that was spilled with the part of the right side that is kept.
    fn next_spilled(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        let decides_once = matches!(self.sides.kind, TupleJoinKind::Semi | TupleJoinKind::Anti);
        let rest_start = self.rest_start();
        let Some(spilled) = &mut self.spilled else {
            return Ok(false);
        };
        let Some(LeftRow {
            has_matched,
            key,
            image,
        }) = spilled.next_left()?
        else {
            self.state = HashJoinState::Rest(rest_start);
            return Ok(false);
        };
        if has_matched && decides_once {
            return Ok(false);
        }
        self.image.restore(image, registers)?;
        let first = if has_matched && matches!(self.sides.kind, TupleJoinKind::Mark(_)) {
            None
        } else {
            self.kept.first(key)
        };
        self.state = HashJoinState::Pair(first, has_matched);
        Ok(false)
    }
}

impl<L: RegisterIterator, R: RegisterIterator> RegisterIterator for HashJoin<L, R> {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        loop {
            let has_row = match self.state {
                HashJoinState::Start => {
                    self.read_right(registers)?;
                    match &mut self.spilled {
                        Some(spilled) => spilled.end_right()?,
                        None => self.kept.note_in(&self.workspace.counts, registers),
                    }
                    self.state = HashJoinState::Left;
                    false
                }
                HashJoinState::Left => self.next_left(registers)?,
                HashJoinState::Pair(candidate, has_matched) => {
                    self.next_pair(candidate, has_matched, registers)?
                }
                HashJoinState::Rest(from) => self.next_rest(from, registers)?,
                HashJoinState::End => return Ok(false),
            };
            if has_row {
                return Ok(true);
            }
        }
    }

    fn explain(&self, explanation: &mut Explanation) {
        let (kind, kept) = (self.sides.kind, &self.sides.right);
        let count = self.sides.left_keys.len();
        let tuple = kept.register.0;
        match count {
            0 => explanation.line(format_args!(
                "join by a nested loop over blocks, {kind:?}, right rows to t{tuple}"
            )),
            _ => explanation.line(format_args!(
                "join by hashing, {kind:?}, {count} keys, right rows to t{tuple}"
            )),
        }
        explanation.line(format_args!("keeps {kept}"));
        let spilled = self.spilled.as_ref();
        let division_count = spilled.map_or(0, |spilled| spilled.division_count());
        if division_count > 0 {
            explanation.line(format_args!("{division_count} partitions divided again"));
        }
        if let Some(condition) = &self.condition {
            explanation.program("pairs", condition);
        }
        explanation.input(&self.left);
        explanation.input(&self.right);
    }
}
