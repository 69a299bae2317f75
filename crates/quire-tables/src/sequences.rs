//! The values of sequences.
//!
//! Values are handed out from memory. They are reserved in blocks: the tree of the sequences has, for each sequence, the first value that
//! is not reserved. A reservation is a transaction of its own and does not wait for an fsync: a transaction that stores a value commits
//! after it, and the log keeps that order. A crash therefore leaves gaps, but never lets a stored value be handed out again. Before a value
//! is returned to a client that may store it elsewhere, [`Sequences::sync`] waits for the fsync, once for each block.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    /// The sequences used since the database was opened, by id. Held across reads and writes of the tree: it serializes all accesses to
    /// sequences.
    used: Mutex<HashMap<u64, UsedSequence>>,
    /// Writes to the tree since the database was opened, and how many of them a crash of the machine cannot undo.
    write_count: AtomicU64,
    synced_count: AtomicU64,
}

/// What a sequence handed out last, and how many values behind it are reserved.
struct UsedSequence {
    last: i64,
    /// Whether `last` was handed out. Otherwise it is the next value, as `setval` with `is_called = false` makes it.
    is_called: bool,
    reserved_count: u64,
    /// How the values were reserved.
    steps: SequenceSteps,
}

/// What tells the values of a sequence. `ALTER SEQUENCE` may change it, and `ROLLBACK` change it back.
#[derive(PartialEq, Eq)]
struct SequenceSteps {
    increment: i64,
    min: i64,
    max: i64,
    cycles: bool,
}

impl SequenceSteps {
    fn of(sequence: &SequenceDefinition) -> Self {
        Self {
            increment: sequence.increment,
            min: sequence.min,
            max: sequence.max,
            cycles: sequence.cycles,
        }
    }
}

impl UsedSequence {
    /// The next value; `None` if the sequence is exhausted.
    fn next(&self, sequence: &SequenceDefinition) -> Option<i64> {
        successor(sequence, self.last, u64::from(self.is_called))
    }

    fn has_reserved(&self, sequence: &SequenceDefinition) -> bool {
        self.reserved_count > 0 && self.steps == SequenceSteps::of(sequence)
    }
}

impl Sequences {
    fn used(&self) -> MutexGuard<'_, HashMap<u64, UsedSequence>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Advances a sequence and returns its value.
    pub(crate) fn next(
        &self,
        mvcc: &Mvcc,
        tree: TreeId,
        sequence: &SequenceDefinition,
    ) -> Result<i64, SequenceError> {
        let mut used = self.used();
        // If a reservation fails, the sequence stays where it is.
        let before = used.get(&sequence.id);
        let next = before.map(|before| before.next(sequence));
        let (value, count) = match (before, next) {
            (Some(before), Some(Some(next))) if before.has_reserved(sequence) => {
                (next, before.reserved_count)
            }
            (_, next) => {
                let block = reserve_block(mvcc, tree, sequence, next)?;
                self.write_count.fetch_add(1, Ordering::SeqCst);
                block
            }
        };
        let now = UsedSequence {
            last: value,
            is_called: true,
            reserved_count: count - 1,
            steps: SequenceSteps::of(sequence),
        };
        used.insert(sequence.id, now);
        Ok(value)
    }

    /// The value that [`next`](Self::next) would return; `None` if the sequence is exhausted.
    pub(crate) fn peek(
        &self,
        mvcc: &Mvcc,
        tree: TreeId,
        sequence: &SequenceDefinition,
    ) -> Result<Option<i64>, SequenceError> {
        match self.used().get(&sequence.id) {
            Some(used) => Ok(used.next(sequence)),
            None => next_of(sequence, stored(mvcc, tree, sequence)?.as_deref()),
        }
    }

    /// The value that was handed out or set last, or the one with which the sequence starts. After the database was opened it is the last
    /// one that was reserved.
    pub(crate) fn last(
        &self,
        mvcc: &Mvcc,
        tree: TreeId,
        sequence: &SequenceDefinition,
    ) -> Result<i64, SequenceError> {
        if let Some(used) = self.used().get(&sequence.id) {
            return Ok(used.last);
        }
        let Some(stored) = stored(mvcc, tree, sequence)? else {
            return Ok(sequence.start);
        };
        Ok(match next_of(sequence, Some(&stored))? {
            Some(next) => next.saturating_sub(sequence.increment),
            None if sequence.increment > 0 => sequence.max,
            None => sequence.min,
        })
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
        let mut used = self.used();
        used.remove(&sequence.id);
        let now = UsedSequence {
            last: value,
            is_called,
            reserved_count: 0,
            steps: SequenceSteps::of(sequence),
        };
        write(mvcc, tree, sequence, now.next(sequence))?;
        self.write_count.fetch_add(1, Ordering::SeqCst);
        used.insert(sequence.id, now);
        Ok(())
    }

    /// Returns when no crash can hand out again what was handed out before the call. Without the mutex: the fsync takes longer than anything
    /// else here.
    pub(crate) fn sync(&self, mvcc: &Mvcc) -> Result<(), SequenceError> {
        // Read before the fsync: a block that is reserved during it may miss it.
        let written = self.write_count.load(Ordering::SeqCst);
        if self.synced_count.load(Ordering::SeqCst) < written {
            mvcc.sync()?;
            self.synced_count.fetch_max(written, Ordering::SeqCst);
        }
        Ok(())
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

/// What the tree has for a sequence.
fn stored(
    mvcc: &Mvcc,
    tree: TreeId,
    sequence: &SequenceDefinition,
) -> Result<Option<Vec<u8>>, SequenceError> {
    // `get_latest` asks for a lock of the row; the mutex does the same, because it keeps all writers out.
    let key = sequence.id.to_be_bytes();
    Ok(begin(mvcc).get_latest(tree, &key, |bytes| bytes.to_vec())?)
}

/// Reserves a block of values in the tree, from `next` or from the first value that is not reserved. Returns the first one and how many
/// there are.
fn reserve_block(
    mvcc: &Mvcc,
    tree: TreeId,
    sequence: &SequenceDefinition,
    next: Option<Option<i64>>,
) -> Result<(i64, u64), SequenceError> {
    let key = sequence.id.to_be_bytes();
    let mut transaction = begin(mvcc);
    transaction.lock_row(tree, &key, RowLockMode::Exclusive, LockWait::Wait)?;
    let stored = transaction.get_latest(tree, &key, |bytes| bytes.to_vec())?;
    let next = match next {
        Some(next) => next,
        None => next_of(sequence, stored.as_deref())?,
    };
    // What was stored before `ALTER SEQUENCE` may be beyond the bounds, which ends the sequence or starts it again.
    let Some(next) = next.and_then(|next| successor(sequence, next, 0)) else {
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
    Ok((next, count))
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
