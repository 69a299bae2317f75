//! Joins of a side that is kept block by block: as many of its rows as memory holds, by the hashes of their keys, for each of which the other side is
//! read again (a block nested loop).
//!
//! Nothing is divided, and the kept side is written nowhere. The other side begins again, where it can and that costs less, or its rows are in a file
//! from the first block on. Which of them have matched is remembered from block to block, a bit each.

use super::join::{JoinSides, TupleJoinKind};
use super::kept_rows::{KeptRows, set_key};
use super::row_image::RowImage;
use super::spill::Workspace;
use super::stored_left::StoredLeft;
use super::{Explanation, ProgramStep, RegisterIterator};
use crate::avm::{RegisterSet, TargetRegister, Trap, TuplePlace};

/// Where left rows come from that a later block looks at.
enum LeftAgain {
    /// The iterator, which begins again.
    Restarted,
    /// A file: rows are written while the first block looks at them.
    Stored(Option<Box<StoredLeft>>),
}

#[derive(Clone, Copy)]
enum BlockJoinState {
    /// A block is to be kept.
    Block,
    /// A left row is wanted.
    Left,
    /// The left row of this number looks: the next right row to try, and whether one has matched, in an earlier block, too.
    Pair {
        left_row: usize,
        candidate: Option<u32>,
        has_matched: bool,
    },
    /// Right rows that match none, from this one on.
    Rest(usize),
    End,
}

/// Pairs of rows of two inputs with equal keys. *Left* is the side that looks, *right* the one that is kept.
pub(crate) struct BlockJoin<L, R> {
    left: L,
    right: R,
    sides: JoinSides,
    condition: Option<ProgramStep>,
    kept: KeptRows,
    key: Vec<u8>,
    workspace: Workspace,
    image: RowImage,
    again: LeftAgain,
    /// Whether the registers have a right row that is not kept yet.
    has_right: bool,
    /// How many blocks have been kept, and whether no right row is left behind the present one.
    block_count: usize,
    is_last: bool,
    /// How many left rows the present block has looked at, and which of all have matched.
    left_count: usize,
    matched: Vec<u64>,
    state: BlockJoinState,
}

impl<L: RegisterIterator, R: RegisterIterator> BlockJoin<L, R> {
    /// A join of `left`, row by row, with blocks of `right`. With `restarts_left` the left side must be able to begin again. Not for `NOT IN`.
    ///
    /// # Errors
    /// Columns of which no tuple can be made; constants of the condition that are too long.
    pub(crate) fn new(
        left: L,
        right: R,
        mut sides: JoinSides,
        (workspace, restarts_left): (Workspace, bool),
        registers: &mut RegisterSet,
    ) -> Result<Self, Trap> {
        let condition = sides.condition.take();
        let condition = condition.map(|program| ProgramStep::new(program, registers));
        let kept = KeptRows::new(sides.right.clone(), registers)?;
        let (columns, tuples) = (sides.left_columns.clone(), sides.left_tuples.clone());
        Ok(Self {
            left,
            right,
            condition: condition.transpose()?,
            kept,
            key: Vec::new(),
            workspace,
            image: RowImage::new(columns, tuples, registers),
            again: if restarts_left {
                LeftAgain::Restarted
            } else {
                LeftAgain::Stored(None)
            },
            has_right: false,
            block_count: 0,
            is_last: false,
            left_count: 0,
            matched: Vec::new(),
            state: BlockJoinState::Block,
            sides,
        })
    }

    /// Keeps right rows, as many as memory holds, and goes to the first left row.
    fn next_block(&mut self, registers: &mut RegisterSet) -> Result<BlockJoinState, Trap> {
        self.kept.forget(registers);
        if self.block_count == 0 {
            self.has_right = self.right.next(registers)?;
        }
        let matched_bytes = self.workspace.bits_bytes(&self.matched);
        while self.has_right
            && !self
                .workspace
                .is_full(matched_bytes + self.kept.len_bytes(registers))
        {
            self.keep_right(registers)?;
            self.has_right = self.right.next(registers)?;
        }
        self.is_last = !self.has_right;
        self.start_left()?;
        self.block_count += 1;
        Ok(BlockJoinState::Left)
    }

    fn keep_right(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        let (keys, nulls_match) = (&self.sides.right_keys, self.sides.nulls_match);
        let has_key = set_key(keys, nulls_match, registers, &mut self.key);
        if has_key || self.sides.kind.keeps_right() {
            let key = has_key.then_some(self.key.as_slice());
            self.kept.push(key, registers)?;
        }
        Ok(())
    }

    /// Left rows come from the first on.
    fn start_left(&mut self) -> Result<(), Trap> {
        self.left_count = 0;
        let is_first = self.block_count == 0;
        match &mut self.again {
            LeftAgain::Restarted if is_first || self.left.restart() => Ok(()),
            LeftAgain::Restarted => Err(Trap::slot()),
            LeftAgain::Stored(stored) if is_first => {
                if !self.is_last {
                    *stored = Some(Box::new(StoredLeft::new(&self.workspace)?));
                }
                Ok(())
            }
            LeftAgain::Stored(stored) => match stored {
                Some(stored) => stored.start(),
                None => Err(Trap::slot()),
            },
        }
    }

    /// Puts the next left row into the registers, and its key into `key`: whether there is one, and whether its key may equal another.
    fn read_left(&mut self, registers: &mut RegisterSet) -> Result<Option<bool>, Trap> {
        if self.block_count > 1
            && let LeftAgain::Stored(Some(stored)) = &mut self.again
        {
            return stored.next(&self.image, &mut self.key, registers);
        }
        if !self.left.next(registers)? {
            return Ok(None);
        }
        let (keys, nulls_match) = (&self.sides.left_keys, self.sides.nulls_match);
        let has_key = set_key(keys, nulls_match, registers, &mut self.key);
        if let LeftAgain::Stored(Some(stored)) = &mut self.again {
            stored.push(has_key.then_some(&self.key), &self.image, registers)?;
        }
        Ok(Some(has_key))
    }

    fn next_left(&mut self, registers: &mut RegisterSet) -> Result<BlockJoinState, Trap> {
        registers.cancellation.check()?;
        let Some(has_key) = self.read_left(registers)? else {
            return Ok(self.after_left());
        };
        let left_row = self.left_count;
        self.left_count += 1;
        let word = self.matched.get(left_row / 64).copied();
        let has_matched = word.is_some_and(|word| word >> (left_row % 64) & 1 == 1);
        let kind = self.sides.kind;
        let is_decided = has_matched
            && matches!(
                kind,
                TupleJoinKind::Semi | TupleJoinKind::Anti | TupleJoinKind::Mark(_)
            );
        Ok(match kind {
            // It has come out, or never will.
            TupleJoinKind::Semi | TupleJoinKind::Anti if is_decided => BlockJoinState::Left,
            _ => BlockJoinState::Pair {
                left_row,
                candidate: (has_key && !is_decided)
                    .then(|| self.kept.first(&self.key))
                    .flatten(),
                has_matched,
            },
        })
    }

    fn after_left(&self) -> BlockJoinState {
        if self.sides.kind.keeps_right() {
            BlockJoinState::Rest(0)
        } else {
            self.after_block()
        }
    }

    fn after_block(&self) -> BlockJoinState {
        if self.is_last {
            BlockJoinState::End
        } else {
            BlockJoinState::Block
        }
    }

    /// The next pair of the left row, or the row itself; false when nothing more of it comes of this block.
    fn next_pair(
        &mut self,
        left_row: usize,
        mut candidate: Option<u32>,
        mut has_matched: bool,
        registers: &mut RegisterSet,
    ) -> Result<bool, Trap> {
        self.state = BlockJoinState::Left;
        let mut matches_now = false;
        while let Some(number) = candidate
            && !matches_now
        {
            candidate = self.kept.point_to(number, registers);
            matches_now = match &self.condition {
                Some(condition) => condition.run(registers)?,
                None => true,
            };
            if matches_now {
                self.kept.note_match(number);
            }
        }
        has_matched |= matches_now;
        if matches_now {
            self.note_match(left_row);
        }
        match self.sides.kind {
            TupleJoinKind::Semi | TupleJoinKind::Anti | TupleJoinKind::Mark(_) => {}
            _ if matches_now => {
                self.state = BlockJoinState::Pair {
                    left_row,
                    candidate,
                    has_matched,
                };
                return Ok(true);
            }
            _ => {}
        }
        Ok(self.without_more(matches_now, has_matched, registers))
    }

    /// Whether the left row comes out that has no more pairs in this block.
    fn without_more(
        &self,
        matches_now: bool,
        has_matched: bool,
        registers: &mut RegisterSet,
    ) -> bool {
        match self.sides.kind {
            TupleJoinKind::Inner | TupleJoinKind::Right => false,
            TupleJoinKind::Semi => matches_now,
            // What later blocks have is not known yet.
            _ if !self.is_last => false,
            TupleJoinKind::Left | TupleJoinKind::Full => {
                self.kept.point_to_nulls(registers);
                !has_matched
            }
            TupleJoinKind::Anti => !has_matched,
            TupleJoinKind::Mark(mark) => {
                registers.set_word(TargetRegister(mark), i64::from(has_matched));
                true
            }
        }
    }

    /// Remembers that a left row has matched, if that is asked again.
    fn note_match(&mut self, left_row: usize) {
        let kind = self.sides.kind;
        if self.is_last || matches!(kind, TupleJoinKind::Inner | TupleJoinKind::Right) {
            return;
        }
        let word = left_row / 64;
        if self.matched.len() <= word {
            self.matched.resize(word + 1, 0);
        }
        if let Some(word) = self.matched.get_mut(word) {
            *word |= 1 << (left_row % 64);
        }
    }

    /// The next right row of the block that matched none.
    fn next_rest(&mut self, from: usize, registers: &mut RegisterSet) -> bool {
        let Some(number) = self.kept.unmatched(from) else {
            self.state = self.after_block();
            return false;
        };
        self.state = BlockJoinState::Rest(number as usize + 1);
        self.kept.point_to(number, registers);
        for tuple in &self.sides.left_tuples {
            registers.set_tuple(*tuple, TuplePlace::NULLS);
        }
        for column in &self.sides.left_columns {
            registers.set_null(*column);
        }
        true
    }
}

impl<L: RegisterIterator, R: RegisterIterator> RegisterIterator for BlockJoin<L, R> {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        loop {
            let has_row = match self.state {
                BlockJoinState::Block => {
                    self.state = self.next_block(registers)?;
                    false
                }
                BlockJoinState::Left => {
                    self.state = self.next_left(registers)?;
                    false
                }
                BlockJoinState::Pair {
                    left_row,
                    candidate,
                    has_matched,
                } => self.next_pair(left_row, candidate, has_matched, registers)?,
                BlockJoinState::Rest(from) => self.next_rest(from, registers),
                BlockJoinState::End => return Ok(false),
            };
            if has_row {
                return Ok(true);
            }
        }
    }

    fn explain(&self, explanation: &mut Explanation) {
        let (kind, kept) = (self.sides.kind, &self.sides.right);
        let tuple = kept.register.0;
        let count = self.sides.left_keys.len();
        explanation.line(format_args!(
            "join by a nested loop over blocks, {kind:?}, {count} keys, right rows to t{tuple}"
        ));
        explanation.line(match self.again {
            LeftAgain::Restarted => "reads the left side again for each block",
            LeftAgain::Stored(_) => "keeps the left side in a file for later blocks",
        });
        explanation.line(format_args!("keeps {kept}"));
        if self.block_count > 0 {
            explanation.line(format_args!("has kept {} blocks", self.block_count));
        }
        if let Some(condition) = &self.condition {
            explanation.program("pairs", condition);
        }
        explanation.input(&self.left);
        explanation.input(&self.right);
    }
}
