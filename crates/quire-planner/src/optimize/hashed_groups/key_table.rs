//! Keys of rows, numbered by a hash table in the order in which they come.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use datafusion::arrow::array::ArrayRef;
use datafusion::common::Result;
use quire_vector::{GroupTable, KeyRows};

use crate::optimize::packed_keys::{PackedKeys, UnpackedKeys, in_packed_types};

/// Rows whose keys are packed at a time, so that all columns of them go through a near cache.
const PACKED_ROWS: usize = 1024;

pub(super) struct KeyTable {
    columns: PackedKeys,
    table: GroupTable,
    /// So that nobody can choose keys that all have one hash.
    seed: u64,
    /// The packed keys of some rows, whose memory is used again for the next.
    rows: KeyRows,
}

impl KeyTable {
    pub(super) fn new(columns: PackedKeys) -> Self {
        Self {
            table: GroupTable::new(columns.layout()),
            seed: RandomState::new().hash_one(0),
            rows: KeyRows::new(columns.layout()),
            columns,
        }
    }

    pub(super) fn key_count(&self) -> usize {
        self.table.group_count()
    }

    /// Puts the number of the key of each of `row_count` rows into `numbers`.
    pub(super) fn find(
        &mut self,
        keys: Vec<ArrayRef>,
        row_count: usize,
        numbers: &mut Vec<usize>,
    ) -> Result<()> {
        let keys = in_packed_types(keys)?;
        numbers.clear();
        let mut start = 0;
        while start < row_count {
            let count = PACKED_ROWS.min(row_count - start);
            let keys: Vec<ArrayRef> = keys.iter().map(|key| key.slice(start, count)).collect();
            let buffers = self.columns.pack(&keys, count, self.seed, &mut self.rows)?;
            self.table.find(&self.rows, &buffers, numbers);
            start += count;
        }
        Ok(())
    }

    pub(super) fn allocated_bytes(&self) -> usize {
        self.table.allocated_bytes()
    }

    /// The keys by their numbers; afterwards there are none.
    pub(super) fn take(&mut self) -> UnpackedKeys {
        let empty = GroupTable::new(self.columns.layout());
        let table = std::mem::replace(&mut self.table, empty);
        self.columns.unpacked(table.into_keys())
    }
}
