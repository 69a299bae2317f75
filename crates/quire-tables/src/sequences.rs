//! The values of sequences.
//!
//! Values are handed out from memory. They are reserved in blocks: the tree of the sequences has, for each sequence, the first value that
//! is not reserved. A reservation is a transaction of its own and does not wait for an fsync: a transaction that stores a value commits
//! after it, and the log keeps that order. A crash therefore leaves gaps, but never lets a stored value be handed out again. A value that
//! was only returned to a client can be, after a power failure within the sync interval.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use quire_kv::mvcc::{LockWait, Mvcc, RowLockMode, Synchronous, TransactionOptions, TreeId};

use crate::definition::SequenceDefinition;
use crate::error::SequenceError;

/// Values reserved at once, unless the sequence has a larger `CACHE`.
const BLOCK_VALUES: u64 = 32;

/// Stored in the tree for an exhausted sequence, instead of its next value.
const EXHAUSTED: &[u8] = b"";

/// The values of all sequences of a database.
#[derive(Default)]
pub(crate) struct Sequences {
    /// Reserved values by sequence id. Held across reads and writes of the tree: it serializes all accesses to sequences.
    reserved: Mutex<HashMap<u64, ReservedValues>>,
}

/// Values that are reserved and not handed out yet.
struct ReservedValues {
    next: i64,
    count: u64,
}

impl Sequences {
    /// Advances a sequence and returns its value.
    pub(crate) fn next(
        &self,
        mvcc: &Mvcc,
        tree: TreeId,
        sequence: &SequenceDefinition,
    ) -> Result<i64, SequenceError> {
        let mut reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        let block = match reserved
            .remove(&sequence.id)
            .filter(|block| block.count > 0)
        {
            Some(block) => block,
            None => reserve_block(mvcc, tree, sequence)?,
        };
        let value = block.next;
        // The last value of a block may have no successor in `i64`; with `count` 0 it is not used.
        let next = value.saturating_add(sequence.increment);
        let count = block.count - 1;
        reserved.insert(sequence.id, ReservedValues { next, count });
        Ok(value)
    }

    /// The value that [`next`](Self::next) would return; `None` if the sequence is exhausted.
    pub(crate) fn peek(
        &self,
        mvcc: &Mvcc,
        tree: TreeId,
        sequence: &SequenceDefinition,
    ) -> Result<Option<i64>, SequenceError> {
        let reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        match reserved.get(&sequence.id).filter(|block| block.count > 0) {
            Some(block) => Ok(Some(block.next)),
            None => {
                // `get_latest` asks for a lock of the row; the mutex does the same, because it keeps all writers out.
                let key = sequence.id.to_be_bytes();
                let stored = begin(mvcc).get_latest(tree, &key, |bytes| bytes.to_vec())?;
                next_of(sequence, stored.as_deref())
            }
        }
    }

    /// Sets the last value of a sequence, as `setval` does: the next one is `value` itself unless `is_called`, otherwise its successor.
    ///
    /// # Errors
    /// [`SequenceError::OutOfBounds`], and what writing may fail with.
    pub(crate) fn set(
        &self,
        mvcc: &Mvcc,
        tree: TreeId,
        sequence: &SequenceDefinition,
        value: i64,
        is_called: bool,
    ) -> Result<(), SequenceError> {
        if value < sequence.min || value > sequence.max {
            return Err(SequenceError::OutOfBounds {
                sequence: sequence.name.clone(),
                value,
                min: sequence.min,
                max: sequence.max,
            });
        }
        // Reserved values are discarded first: if the write fails, that leaves a gap, while keeping them could repeat values.
        let mut reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        reserved.remove(&sequence.id);
        let next = if is_called {
            successor(sequence, value, 1)
        } else {
            Some(value)
        };
        write(mvcc, tree, sequence, next)
    }
}

/// The value `count` steps after `value`. Beyond the bounds a cycling sequence starts over, and any other is exhausted: `None`.
fn successor(sequence: &SequenceDefinition, value: i64, count: u64) -> Option<i64> {
    let distance = i128::from(sequence.increment) * i128::from(count);
    let next = i128::from(value) + distance;
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

/// The first value that is not reserved, decoded from the tree's value; `None` if the sequence is exhausted.
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

/// Reserves a block of values in the tree.
fn reserve_block(
    mvcc: &Mvcc,
    tree: TreeId,
    sequence: &SequenceDefinition,
) -> Result<ReservedValues, SequenceError> {
    let key = sequence.id.to_be_bytes();
    let mut transaction = begin(mvcc);
    transaction.lock_row(tree, &key, RowLockMode::Exclusive, LockWait::Wait)?;
    let stored = transaction.get_latest(tree, &key, |bytes| bytes.to_vec())?;
    let Some(next) = next_of(sequence, stored.as_deref())? else {
        return Err(SequenceError::Exhausted {
            sequence: sequence.name.clone(),
        });
    };
    // A block ends at the bound, so that its values are consecutive; `successor` then wraps around or exhausts the sequence.
    let distance = if sequence.increment > 0 {
        i128::from(sequence.max) - i128::from(next)
    } else {
        i128::from(next) - i128::from(sequence.min)
    };
    let steps = distance.max(0) / i128::from(sequence.increment).abs();
    let available = u64::try_from(steps + 1).unwrap_or(u64::MAX);
    let count = BLOCK_VALUES.max(sequence.cache).min(available);
    let after = successor(sequence, next, count);
    let bytes = after.map(i64::to_le_bytes);
    let value = bytes.as_ref().map_or(EXHAUSTED, <[u8; 8]>::as_slice);
    transaction.put(tree, &key, value)?;
    transaction.commit()?;
    Ok(ReservedValues { next, count })
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

/// A transaction whose commit does not wait for an fsync.
fn begin(mvcc: &Mvcc) -> quire_kv::mvcc::KvTransaction {
    mvcc.begin(TransactionOptions {
        synchronous: Synchronous::Normal,
        ..TransactionOptions::default()
    })
}
