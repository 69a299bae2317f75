//! The keys of a join's build side, recorded on their way into the join: a bit for each integer between the bounds of the column that they are
//! compared with.
//!
//! A join tells the scans of its probe side to drop rows whose key is not in its hash table. A scan that has a record of the keys tests a bit
//! instead.

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::{Array, ArrowPrimitiveType, AsArray};
use datafusion::arrow::datatypes::{DataType, Date32Type, Int16Type, Int32Type, Int64Type};
use datafusion::common::{Result, exec_err};
use datafusion::execution::memory_pool::{MemoryPool, MemoryReservation};
use quire_vector::KeySet;

use super::memory_share::reserve_share;

/// The keys of one execution, once all of them are known.
#[derive(Debug)]
pub(crate) struct BuildKeyRecord {
    /// Others are not recorded: no row of the scan has them.
    bounds: RangeInclusive<i64>,
    keys: Mutex<Option<KnownKeys>>,
}

#[derive(Debug)]
struct KnownKeys {
    keys: Arc<KeySet>,
    /// The memory of the bits.
    _reservation: MemoryReservation,
}

impl BuildKeyRecord {
    pub(super) fn new(bounds: RangeInclusive<i64>) -> Self {
        Self {
            bounds,
            keys: Mutex::new(None),
        }
    }

    /// The keys, if all are known.
    pub(super) fn keys(&self) -> Option<Arc<KeySet>> {
        let known = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().map(|known| Arc::clone(&known.keys))
    }

    fn set(&self, keys: Option<KnownKeys>) {
        *self.keys.lock().unwrap_or_else(PoisonError::into_inner) = keys;
    }
}

/// Records the keys of one execution.
pub(crate) struct BuildKeyRecorder {
    record: Arc<BuildKeyRecord>,
    words: Vec<u64>,
    reservation: MemoryReservation,
}

/// One record reserves no more than one part of so many of the memory.
const POOL_SHARES: usize = 16;

impl BuildKeyRecorder {
    /// Whether keys of a type can be recorded.
    pub(crate) fn records(data_type: &DataType) -> bool {
        matches!(
            data_type,
            DataType::Int16 | DataType::Int32 | DataType::Int64 | DataType::Date32
        )
    }

    /// Begins a record; nothing is known of an execution before. `None` if there is no memory for it: nothing is recorded then, and the scan
    /// looks up the hash table.
    pub(crate) fn new(record: &Arc<BuildKeyRecord>, pool: &Arc<dyn MemoryPool>) -> Option<Self> {
        record.set(None);
        let words = record.bounds.end().abs_diff(*record.bounds.start()) / 64 + 1;
        let words = usize::try_from(words).ok()?;
        let bytes = words.checked_mul(size_of::<u64>())?;
        let reservation = reserve_share(pool, "keys of a join", bytes, POOL_SHARES)?;
        Some(Self {
            record: Arc::clone(record),
            words: vec![0; words],
            reservation,
        })
    }

    /// Adds the keys of some rows. NULL equals no key.
    pub(crate) fn add(&mut self, keys: &dyn Array) -> Result<()> {
        match keys.data_type() {
            DataType::Int16 => self.add_all::<Int16Type>(keys),
            DataType::Int32 => self.add_all::<Int32Type>(keys),
            DataType::Int64 => self.add_all::<Int64Type>(keys),
            DataType::Date32 => self.add_all::<Date32Type>(keys),
            other => return exec_err!("{other} is no integer key"),
        }
        Ok(())
    }

    fn add_all<T: ArrowPrimitiveType<Native: Into<i64>>>(&mut self, keys: &dyn Array) {
        let keys = keys.as_primitive::<T>();
        let (first, last) = self.record.bounds.clone().into_inner();
        for key in keys.iter().flatten().map(Into::<i64>::into) {
            if first <= key && key <= last {
                let place = key.wrapping_sub(first) as u64;
                if let Some(word) = self.words.get_mut((place / 64) as usize) {
                    *word |= 1 << (place % 64);
                }
            }
        }
    }

    /// Makes the record known: there are no more keys.
    pub(crate) fn finish(self) {
        let keys = KeySet::new(*self.record.bounds.start(), self.words);
        self.record.set(Some(KnownKeys {
            keys: Arc::new(keys),
            _reservation: self.reservation,
        }));
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{Int16Array, Int64Array, StringArray};
    use datafusion::common::internal_datafusion_err;
    use datafusion::execution::memory_pool::GreedyMemoryPool;

    use super::*;

    /// A recorder that may take so many bytes.
    fn recorder_of_bytes(record: &Arc<BuildKeyRecord>, bytes: usize) -> Result<BuildKeyRecorder> {
        let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(bytes * POOL_SHARES));
        let recorder = BuildKeyRecorder::new(record, &pool);
        recorder.ok_or_else(|| internal_datafusion_err!("there is no memory"))
    }

    #[test]
    fn keys_between_the_bounds_are_recorded() -> Result<()> {
        let record = Arc::new(BuildKeyRecord::new(-3..=130));
        let mut recorder = recorder_of_bytes(&record, 1 << 10)?;
        recorder.add(&Int64Array::from(vec![
            Some(-3),
            None,
            Some(130),
            Some(131),
            Some(i64::MIN),
        ]))?;
        recorder.add(&Int16Array::from(vec![64, -4]))?;
        assert!(recorder.add(&StringArray::from(vec!["x"])).is_err());
        assert_eq!(record.keys(), None);
        recorder.finish();
        let keys = record.keys();
        let members: Vec<i64> = (-200..200)
            .filter(|key| keys.as_ref().is_some_and(|keys| keys.contains(*key)))
            .collect();
        assert_eq!(members, [-3, 64, 130]);
        assert!(recorder_of_bytes(&record, 23).is_err());
        assert_eq!(record.keys(), None);
        assert!(recorder_of_bytes(&record, 24).is_ok());
        Ok(())
    }

    #[test]
    fn bounds_may_be_the_ends_of_the_integers() -> Result<()> {
        let record = Arc::new(BuildKeyRecord::new(i64::MAX - 1..=i64::MAX));
        let mut recorder = recorder_of_bytes(&record, 1 << 10)?;
        recorder.add(&Int64Array::from(vec![i64::MAX, i64::MIN, 0]))?;
        recorder.finish();
        let keys = record.keys();
        assert!(keys.is_some_and(|keys| keys.contains(i64::MAX) && !keys.contains(i64::MAX - 1)));
        Ok(())
    }
}
