//! The memory that running statements share.
//!
//! What can spill gets a share: with `n` such operators at work, each may hold one part of `n + 1`. The part that is left over is for the
//! operator that begins later; when it does, the shares shrink, and the others give back what is above theirs as they spill. What cannot
//! spill takes what is free, and fails with 53200 where there is no more; but for merges of sorts ([`NEVER_REFUSED`]).
//!
//! Some operators hold more than they say: [`SAID_IN_PART`]. The pool counts what they hold.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};

use quire_planner::optimize::{TOTALS, WINDOW_ROWS};

/// Operators that hold more than they say, by the beginning of their names, and how many times as much.
const SAID_IN_PART: [(&str, usize); 8] = [
    // The batches of the build side, and all of them as one.
    ("HashJoinInput", 2),
    ("NestedLoopJoinLoad", 2),
    ("CrossJoinExec", 2),
    // Batches that are read back from a file are in buffers that have doubled until they were large enough.
    ("ExternalSorterMerge", 2),
    ("SortPreservingMergeExec", 2),
    // One result is made of all parts while these are still there.
    ("AggregateStream", 3),
    (TOTALS, 3),
    // All batches, these as one, and the results.
    (WINDOW_ROWS, 3),
];

/// What holds a batch of each of its inputs and cannot wait for memory, by the beginning of its name. The sorts below it have taken all that is free, and
/// have counted most of what it counts: the texts of their batches are in buffers that many batches share.
const NEVER_REFUSED: &str = "SortPreservingMergeExec";

/// What a consumer holds that says it holds `bytes`.
fn held_bytes(consumer: &MemoryConsumer, bytes: usize) -> usize {
    let known = SAID_IN_PART.iter();
    let mut factors = known.filter(|(name, _)| consumer.name().starts_with(name));
    bytes.saturating_mul(factors.next().map_or(1, |(_, times)| *times))
}

/// A pool of so many bytes.
#[derive(Debug)]
pub(crate) struct StatementMemory {
    size_bytes: usize,
    held: Mutex<PoolUsage>,
}

#[derive(Debug, Default)]
struct PoolUsage {
    /// Operators that can spill.
    spillers: usize,
    /// Bytes of these.
    spillable_bytes: usize,
    /// Bytes of the others.
    fixed_bytes: usize,
}

impl StatementMemory {
    pub(crate) fn new(size_bytes: usize) -> Self {
        Self {
            size_bytes,
            held: Mutex::default(),
        }
    }

    fn held(&self) -> MutexGuard<'_, PoolUsage> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn too_much(
        &self,
        consumer: &MemoryConsumer,
        has: usize,
        more: usize,
        left: usize,
    ) -> DataFusionError {
        let (name, size) = (consumer.name(), self.size_bytes);
        DataFusionError::ResourcesExhausted(format!(
            "{name} holds {has} bytes and asks for {more} more; {left} of {size} are left for it"
        ))
    }
}

impl PoolUsage {
    fn bytes_of(&mut self, consumer: &MemoryConsumer) -> &mut usize {
        if consumer.can_spill() {
            &mut self.spillable_bytes
        } else {
            &mut self.fixed_bytes
        }
    }

    /// How much more a consumer that holds `held_bytes` may take of `size_bytes`.
    fn left_for(&self, consumer: &MemoryConsumer, held_bytes: usize, size_bytes: usize) -> usize {
        if !consumer.can_spill() {
            return size_bytes.saturating_sub(self.fixed_bytes + self.spillable_bytes);
        }
        let share = size_bytes.saturating_sub(self.fixed_bytes) / (self.spillers + 1);
        share.saturating_sub(held_bytes)
    }
}

impl MemoryPool for StatementMemory {
    fn name(&self) -> &'static str {
        "statements"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.held().spillers += usize::from(consumer.can_spill());
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        let mut held = self.held();
        let ends = usize::from(consumer.can_spill());
        held.spillers = held.spillers.saturating_sub(ends);
    }

    fn grow(&self, reservation: &MemoryReservation, more: usize) {
        let more = held_bytes(reservation.consumer(), more);
        *self.held().bytes_of(reservation.consumer()) += more;
    }

    fn shrink(&self, reservation: &MemoryReservation, less: usize) {
        let less = held_bytes(reservation.consumer(), less);
        let mut held = self.held();
        let bytes = held.bytes_of(reservation.consumer());
        *bytes = bytes.saturating_sub(less);
    }

    fn try_grow(&self, reservation: &MemoryReservation, more: usize) -> Result<()> {
        let consumer = reservation.consumer();
        let (has, more) = (
            held_bytes(consumer, reservation.size()),
            held_bytes(consumer, more),
        );
        let mut held = self.held();
        let left = held.left_for(consumer, has, self.size_bytes);
        if more > left && !consumer.name().starts_with(NEVER_REFUSED) {
            return Err(self.too_much(consumer, has, more, left));
        }
        *held.bytes_of(consumer) += more;
        Ok(())
    }

    fn reserved(&self) -> usize {
        let held = self.held();
        held.spillable_bytes + held.fixed_bytes
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.size_bytes)
    }
}

impl fmt::Display for StatementMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes for statements", self.size_bytes)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use super::*;

    fn pool(size_bytes: usize) -> Arc<dyn MemoryPool> {
        Arc::new(StatementMemory::new(size_bytes))
    }

    fn consumer(name: &str, can_spill: bool) -> MemoryConsumer {
        MemoryConsumer::new(name).with_can_spill(can_spill)
    }

    #[test]
    fn a_spiller_leaves_room_for_the_next_one() {
        let pool = pool(1200);
        let first = consumer("first", true).register(&pool);
        first.try_grow(600).unwrap();
        assert!(first.try_grow(1).is_err());
        let second = consumer("second", true).register(&pool);
        second.try_grow(400).unwrap();
        assert!(second.try_grow(1).is_err());
        assert_eq!(pool.reserved(), 1000);
        drop(second);
        assert_eq!(pool.reserved(), 600);
    }

    #[test]
    fn what_is_said_in_part_is_counted_in_whole() {
        let pool = pool(1000);
        let build = consumer("HashJoinInput[0]", false).register(&pool);
        build.try_grow(500).unwrap();
        assert!(build.try_grow(1).is_err());
        build.shrink(200);
        assert_eq!(pool.reserved(), 600);
        drop(build);
        assert_eq!(pool.reserved(), 0);
    }

    #[test]
    fn a_merge_of_sorts_is_not_refused_and_shrinks_the_shares() {
        let pool = pool(1000);
        let sort = consumer("ExternalSorter[0]", true).register(&pool);
        sort.try_grow(500).unwrap();
        let merge = consumer("SortPreservingMergeExec[0]", false).register(&pool);
        merge.try_grow(300).unwrap();
        assert_eq!(pool.reserved(), 1100);
        assert!(sort.try_grow(1).is_err());
    }

    #[test]
    fn what_cannot_spill_takes_what_is_free_and_shrinks_the_shares() {
        let pool = pool(1000);
        let spiller = consumer("spiller", true).register(&pool);
        spiller.try_grow(300).unwrap();
        let table = consumer("table", false).register(&pool);
        assert!(table.try_grow(701).is_err());
        table.try_grow(700).unwrap();
        let error = spiller.try_grow(1).unwrap_err();
        assert!(matches!(error, DataFusionError::ResourcesExhausted(_)));
        table.free();
        spiller.try_grow(200).unwrap();
    }
}
