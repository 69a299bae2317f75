//! Joins by hashing: the rows of one side are kept, those of the other look for theirs.
//!
//! What comes out is what the registers have of both sides (an implicit join, paper 1 §4.1.1): the tuple registers of the side that looks, and one
//! that points to the row that was kept.

use hashbrown::HashTable;

use super::group::{hash_of, push_key};
use super::temporary::Temporary;
use super::{RegisterIterator, Step};
use crate::avm::{Program, Register, RegisterSet, Target, Trap, Tuple, TuplePlace, Word};

/// Which rows a join gives. *Left* is the side that looks, *right* the one that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
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
    Mark(Word),
}

/// What a join is made of.
#[derive(Debug)]
pub struct JoinSides {
    pub kind: JoinKind,
    /// Whether NULL equals NULL; otherwise it equals nothing.
    pub nulls_match: bool,
    /// Of an anti join, whether it is `NOT IN`: no row comes out if a right row has a NULL key, nor a left row that has one, unless there is no
    /// right row.
    pub is_null_aware: bool,
    /// The values that must be equal, of a left row and of a right one.
    pub left_keys: Vec<Register>,
    pub right_keys: Vec<Register>,
    /// What is kept of a right row, and the register that points to it.
    pub right_columns: Vec<Register>,
    pub right_tuple: Tuple,
    /// What a left row is in: NULL where there is none.
    pub left_columns: Vec<Register>,
    pub left_tuples: Vec<Tuple>,
    /// What must hold of a pair besides.
    pub condition: Option<Program>,
}

/// A right row that is kept.
#[derive(Clone, Copy, Debug)]
struct Kept {
    place: TuplePlace,
    /// The next with the same key, if it is not itself.
    next: u32,
    has_matched: bool,
}

/// The first row of a key.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    key_start: usize,
    key_bytes: usize,
    hash: u64,
    first: u32,
}

enum State {
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
    condition: Option<Step>,
    temporary: Temporary,
    table: HashTable<Bucket>,
    rows: Vec<Kept>,
    keys: Vec<u8>,
    key: Vec<u8>,
    /// Whether a right row has a key that equals nothing.
    has_null_key: bool,
    state: State,
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
        registers: &mut RegisterSet,
    ) -> Result<Self, Trap> {
        let condition = sides.condition.take();
        let condition = condition
            .map(|program| Step::new(program, registers))
            .transpose()?;
        let temporary = Temporary::new(&sides.right_columns, sides.right_tuple, false, registers)?;
        Ok(Self {
            left,
            right,
            sides,
            condition,
            temporary,
            table: HashTable::new(),
            rows: Vec::new(),
            keys: Vec::new(),
            key: Vec::new(),
            has_null_key: false,
            state: State::Start,
        })
    }

    fn read_right(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        while self.right.next(registers)? {
            let number = u32::try_from(self.rows.len()).map_err(|_| Trap::too_large())?;
            self.rows.push(Kept {
                place: self.temporary.push(registers)?,
                next: number,
                has_matched: false,
            });
            let sides = &self.sides;
            if set_key(
                &sides.right_keys,
                sides.nulls_match,
                registers,
                &mut self.key,
            ) {
                self.insert(number);
            } else {
                self.has_null_key = true;
            }
        }
        Ok(())
    }

    fn insert(&mut self, number: u32) {
        let hash = hash_of(&self.key);
        let (keys, key) = (&self.keys, &self.key);
        if let Some(bucket) = self
            .table
            .find_mut(hash, |bucket| bucket.key(keys) == key.as_slice())
        {
            if let Some(row) = self.rows.get_mut(number as usize) {
                row.next = bucket.first;
            }
            bucket.first = number;
            return;
        }
        let bucket = Bucket {
            key_start: self.keys.len(),
            key_bytes: self.key.len(),
            hash,
            first: number,
        };
        self.keys.extend_from_slice(&self.key);
        self.table.insert_unique(hash, bucket, |bucket| bucket.hash);
    }

    /// The first right row with the keys that the left row has.
    fn first(&mut self, registers: &RegisterSet) -> Option<u32> {
        let sides = &self.sides;
        if !set_key(
            &sides.left_keys,
            sides.nulls_match,
            registers,
            &mut self.key,
        ) {
            return None;
        }
        let hash = hash_of(&self.key);
        let (keys, key) = (&self.keys, &self.key);
        let found = self
            .table
            .find(hash, |bucket| bucket.key(keys) == key.as_slice());
        found.map(|bucket| bucket.first)
    }

    /// Whether a right row makes a pair with the left one; and the next to try.
    fn try_pair(
        &mut self,
        number: u32,
        registers: &mut RegisterSet,
    ) -> Result<(bool, Option<u32>), Trap> {
        let Some(row) = self.rows.get_mut(number as usize) else {
            return Ok((false, None));
        };
        let next = (row.next != number).then_some(row.next);
        self.temporary.point_to(row.place, registers);
        let matches = match &self.condition {
            Some(condition) => condition.run(registers)?,
            None => true,
        };
        row.has_matched |= matches;
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
        self.state = State::Left;
        while let Some(number) = candidate {
            let (matches, next) = self.try_pair(number, registers)?;
            candidate = next;
            has_matched |= matches;
            match kind {
                _ if !matches => {}
                JoinKind::Anti => return Ok(false),
                JoinKind::Semi | JoinKind::Mark(_) => break,
                _ => {
                    self.state = State::Pair(candidate, true);
                    return Ok(true);
                }
            }
        }
        Ok(match kind {
            JoinKind::Inner | JoinKind::Right => false,
            JoinKind::Left | JoinKind::Full => {
                self.temporary.point_to(TuplePlace::NULLS, registers);
                !has_matched
            }
            JoinKind::Semi => has_matched,
            JoinKind::Anti => true,
            JoinKind::Mark(mark) => {
                registers.set_word(Target(mark), i64::from(has_matched));
                true
            }
        })
    }

    /// The next right row that matched none.
    fn next_rest(&mut self, from: usize, registers: &mut RegisterSet) -> bool {
        let rows = self.rows.iter().enumerate().skip(from);
        let Some((number, row)) = rows.into_iter().find(|(_, row)| !row.has_matched) else {
            self.state = State::End;
            return false;
        };
        self.state = State::Rest(number + 1);
        self.temporary.point_to(row.place, registers);
        for tuple in &self.sides.left_tuples {
            registers.set_tuple(*tuple, TuplePlace::NULLS);
        }
        for column in &self.sides.left_columns {
            registers.set_null(*column);
        }
        true
    }

    /// Whether `NOT IN` is NULL for a left row.
    fn is_unknown(&self, registers: &RegisterSet) -> bool {
        let mut keys = self.sides.left_keys.iter();
        self.sides.is_null_aware && !self.rows.is_empty() && keys.any(|key| registers.is_null(*key))
    }

    fn next_left(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        if self.sides.is_null_aware && self.has_null_key {
            self.state = State::End;
            return Ok(());
        }
        let has_rest = matches!(self.sides.kind, JoinKind::Right | JoinKind::Full);
        self.state = match self.left.next(registers)? {
            true if self.is_unknown(registers) => State::Left,
            true => State::Pair(self.first(registers), false),
            false if has_rest => State::Rest(0),
            false => State::End,
        };
        Ok(())
    }
}

impl Bucket {
    fn key(self, keys: &[u8]) -> &[u8] {
        keys.get(self.key_start..self.key_start + self.key_bytes)
            .unwrap_or_default()
    }
}

/// The bytes of the keys that the registers have; false when one is NULL.
fn set_key(
    keys: &[Register],
    nulls_match: bool,
    registers: &RegisterSet,
    key: &mut Vec<u8>,
) -> bool {
    key.clear();
    for register in keys {
        if !nulls_match && registers.is_null(*register) {
            return false;
        }
        push_key(registers, *register, key);
    }
    true
}

impl<L: RegisterIterator, R: RegisterIterator> RegisterIterator for HashJoin<L, R> {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        loop {
            match self.state {
                State::Start => {
                    self.read_right(registers)?;
                    self.state = State::Left;
                }
                State::Left => self.next_left(registers)?,
                State::Pair(candidate, has_matched) => {
                    if self.next_pair(candidate, has_matched, registers)? {
                        return Ok(true);
                    }
                }
                State::Rest(from) => {
                    if self.next_rest(from, registers) {
                        return Ok(true);
                    }
                }
                State::End => return Ok(false),
            }
        }
    }
}
