//! The values of sequences.
//!
//! Values are given out from memory, and taken from the tree of the sequences in blocks: the tree has the first value that was not
//! taken. Taking a block is a transaction of its own, which is not synced: whatever uses a value commits after it, and the log
//! keeps its order. A crash loses what was taken and not given; no value is ever given twice.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use quire_kv::mvcc::{LockWait, Mvcc, RowLockMode, Synchronous, TransactionOptions, TreeId};

use crate::definition::SequenceDefinition;
use crate::error::SequenceError;

/// Values that are taken at once, at least.
const BLOCK_VALUES: u64 = 32;

/// What the tree has for a sequence that has given all its values.
const EXHAUSTED: &[u8] = b"";

/// The values of all sequences of a database.
#[derive(Default)]
pub(crate) struct Sequences {
    taken: Mutex<HashMap<u64, TakenValues>>,
}

/// Values that were taken and not given out.
struct TakenValues {
    next: i64,
    count: u64,
}

impl Sequences {
    /// The next value.
    pub(crate) fn next(
        &self,
        mvcc: &Mvcc,
        tree: TreeId,
        sequence: &SequenceDefinition,
    ) -> Result<i64, SequenceError> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let block = match taken.remove(&sequence.id).filter(|block| block.count > 0) {
            Some(block) => block,
            None => take_block(mvcc, tree, sequence)?,
        };
        let value = block.next;
        // The last of a block may have no successor.
        let next = value.saturating_add(sequence.increment);
        let count = block.count - 1;
        taken.insert(sequence.id, TakenValues { next, count });
        Ok(value)
    }

    /// What the next value would be; `None` behind the last one. Nothing is given out.
    pub(crate) fn peek(
        &self,
        mvcc: &Mvcc,
        tree: TreeId,
        sequence: &SequenceDefinition,
    ) -> Result<Option<i64>, SequenceError> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        match taken.get(&sequence.id).filter(|block| block.count > 0) {
            Some(block) => Ok(Some(block.next)),
            None => {
                let key = sequence.id.to_be_bytes();
                let stored = begin(mvcc).get_latest(tree, &key, |bytes| bytes.to_vec())?;
                next_of(sequence, stored.as_deref())
            }
        }
    }

    /// Makes `value` the next one, or the one before the next.
    pub(crate) fn set(
        &self,
        mvcc: &Mvcc,
        tree: TreeId,
        sequence: &SequenceDefinition,
        value: i64,
        is_given: bool,
    ) -> Result<(), SequenceError> {
        if value < sequence.min || value > sequence.max {
            return Err(SequenceError::OutOfBounds {
                sequence: sequence.name.clone(),
                value,
                min: sequence.min,
                max: sequence.max,
            });
        }
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.remove(&sequence.id);
        let next = if is_given {
            successor(sequence, value, 1)
        } else {
            Some(value)
        };
        write(mvcc, tree, sequence, next)
    }
}

/// The value `count` steps after `value`; `None` behind the last.
fn successor(sequence: &SequenceDefinition, value: i64, count: u64) -> Option<i64> {
    let steps = i128::from(sequence.increment) * i128::from(count);
    let next = i128::from(value) + steps;
    let is_within = next >= i128::from(sequence.min) && next <= i128::from(sequence.max);
    match (is_within, sequence.cycles) {
        (true, _) => i64::try_from(next).ok(),
        (false, true) => Some(if sequence.increment > 0 {
            sequence.min
        } else {
            sequence.max
        }),
        (false, false) => None,
    }
}

/// The first value that was not taken, from what the tree has.
fn next_of(
    sequence: &SequenceDefinition,
    stored: Option<&[u8]>,
) -> Result<Option<i64>, SequenceError> {
    match stored {
        None => Ok(Some(sequence.start)),
        Some(EXHAUSTED) => Ok(None),
        Some(bytes) => match bytes.try_into() {
            Ok(bytes) => Ok(Some(i64::from_le_bytes(bytes))),
            Err(_) => Err(SequenceError::Damaged {
                sequence: sequence.name.clone(),
            }),
        },
    }
}

fn take_block(
    mvcc: &Mvcc,
    tree: TreeId,
    sequence: &SequenceDefinition,
) -> Result<TakenValues, SequenceError> {
    let key = sequence.id.to_be_bytes();
    let mut transaction = begin(mvcc);
    transaction.lock_row(tree, &key, RowLockMode::Exclusive, LockWait::Wait)?;
    let stored = transaction.get_latest(tree, &key, |bytes| bytes.to_vec())?;
    let Some(next) = next_of(sequence, stored.as_deref())? else {
        return Err(SequenceError::Exhausted {
            sequence: sequence.name.clone(),
        });
    };
    // As many values as there are before the last one.
    let room = if sequence.increment > 0 {
        i128::from(sequence.max) - i128::from(next)
    } else {
        i128::from(next) - i128::from(sequence.min)
    };
    let steps = room.max(0) / i128::from(sequence.increment).abs();
    let available = u64::try_from(steps + 1).unwrap_or(u64::MAX);
    let count = BLOCK_VALUES.max(sequence.cache).min(available);
    let after = successor(sequence, next, count);
    let bytes = after.map(i64::to_le_bytes);
    let value = bytes.as_ref().map_or(EXHAUSTED, <[u8; 8]>::as_slice);
    transaction.put(tree, &key, value)?;
    transaction.commit()?;
    Ok(TakenValues { next, count })
}

fn write(
    mvcc: &Mvcc,
    tree: TreeId,
    sequence: &SequenceDefinition,
    next: Option<i64>,
) -> Result<(), SequenceError> {
    let mut transaction = begin(mvcc);
    let bytes = next.map(i64::to_le_bytes);
    let value = bytes.as_ref().map_or(EXHAUSTED, <[u8; 8]>::as_slice);
    transaction.put(tree, &sequence.id.to_be_bytes(), value)?;
    transaction.commit()?;
    Ok(())
}

fn begin(mvcc: &Mvcc) -> quire_kv::mvcc::KvTransaction {
    mvcc.begin(TransactionOptions {
        synchronous: Synchronous::Normal,
        ..TransactionOptions::default()
    })
}
