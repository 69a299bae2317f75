//! Rows that a join keeps, found by their keys.

use hashbrown::HashTable;

use super::kept_shape::KeptRowShape;
use super::keys::{KeyHead, push_key};
use super::spill::SpillCounts;
use super::temporary::Temporary;
use crate::avm::{Register, RegisterSet, Trap, TuplePlace};

/// A row that is kept.
#[derive(Clone, Copy, Debug)]
struct KeptRow {
    place: TuplePlace,
    /// Where its key is; one that equals nothing has none.
    key: Option<KeyPlace>,
    /// The next with the same key, if it is not itself.
    next: u32,
    has_matched: bool,
}

#[derive(Clone, Copy, Debug)]
struct KeyPlace {
    start: u32,
    bytes: u32,
}

/// The first row of a key.
#[derive(Clone, Copy, Debug)]
struct HashBucket {
    head: KeyHead,
    first: u32,
}

/// Bytes of a row besides those of its key and its tuple: in the list, and in the table with the room that it has.
const ROW_BYTES: usize = size_of::<KeptRow>() + 2 * size_of::<HashBucket>();

/// Rows and their keys.
pub(super) struct KeptRows {
    temporary: Temporary,
    table: HashTable<HashBucket>,
    rows: Vec<KeptRow>,
    keys: Vec<u8>,
}

impl KeptRows {
    /// About what so many rows take whose keys and tuples have so many bytes.
    pub(super) fn expected_bytes(row_count: usize, record_bytes: u64) -> u64 {
        record_bytes + (row_count * ROW_BYTES) as u64
    }

    /// For rows of a shape.
    pub(super) fn new(shape: KeptRowShape, registers: &mut RegisterSet) -> Result<Self, Trap> {
        Ok(Self {
            temporary: Temporary::of(shape, registers)?,
            table: HashTable::new(),
            rows: Vec::new(),
            keys: Vec::new(),
        })
    }

    /// Keeps the row that the registers have. Without a key nobody finds it.
    pub(super) fn push(
        &mut self,
        key: Option<&[u8]>,
        registers: &mut RegisterSet,
    ) -> Result<(), Trap> {
        let place = self.temporary.push(registers)?;
        self.insert(key, place)
    }

    /// Keeps a row that was spilled.
    pub(super) fn push_tuple(
        &mut self,
        key: Option<&[u8]>,
        tuple: &[u8],
        registers: &mut RegisterSet,
    ) -> Result<(), Trap> {
        let place = self.temporary.push_tuple(tuple, registers)?;
        self.insert(key, place)
    }

    fn insert(&mut self, key: Option<&[u8]>, place: TuplePlace) -> Result<(), Trap> {
        let number = u32::try_from(self.rows.len()).map_err(|_| Trap::too_large())?;
        let mut row = KeptRow {
            place,
            key: None,
            next: number,
            has_matched: false,
        };
        if let Some(key) = key {
            let head = KeyHead::of(key);
            let (table, rows, keys) = (&mut self.table, &self.rows, &self.keys);
            let found = table.find_mut(head.hash(), |bucket| bucket.is_of(head, key, rows, keys));
            if let Some(bucket) = found {
                row.next = bucket.first;
                row.key = rows.get(bucket.first as usize).and_then(|row| row.key);
                bucket.first = number;
            } else {
                let length = |at: usize| u32::try_from(at).map_err(|_| Trap::too_large());
                row.key = Some(KeyPlace {
                    start: length(self.keys.len())?,
                    bytes: length(key.len())?,
                });
                self.keys.extend_from_slice(key);
                let bucket = HashBucket {
                    head,
                    first: number,
                };
                let rehash = |bucket: &HashBucket| bucket.head.hash();
                self.table.insert_unique(head.hash(), bucket, rehash);
            }
        }
        self.rows.push(row);
        Ok(())
    }

    /// The first row with a key.
    pub(super) fn first(&self, key: &[u8]) -> Option<u32> {
        let head = KeyHead::of(key);
        let is_it = |bucket: &HashBucket| bucket.is_of(head, key, &self.rows, &self.keys);
        let found = self.table.find(head.hash(), is_it);
        found.map(|bucket| bucket.first)
    }

    /// Lets the register point to a row; the next with the same key.
    pub(super) fn point_to(&self, number: u32, registers: &mut RegisterSet) -> Option<u32> {
        let row = self.rows.get(number as usize)?;
        self.temporary.point_to(row.place, registers);
        (row.next != number).then_some(row.next)
    }

    /// Lets the register point to a row of NULLs.
    pub(super) fn point_to_nulls(&self, registers: &mut RegisterSet) {
        self.temporary.point_to(TuplePlace::NULLS, registers);
    }

    pub(super) fn note_match(&mut self, number: u32) {
        if let Some(row) = self.rows.get_mut(number as usize) {
            row.has_matched = true;
        }
    }

    /// The first row that has matched nothing, from one on.
    pub(super) fn unmatched(&self, from: usize) -> Option<u32> {
        let rows = self.rows.get(from..)?.iter();
        let found = rows.enumerate().find(|(_, row)| !row.has_matched);
        // Rows are counted in 32 bits.
        found.map(|(number, _)| (from + number) as u32)
    }

    /// Bytes of all that is kept.
    pub(super) fn len_bytes(&self, registers: &RegisterSet) -> usize {
        let rows_bytes = self.rows.len() * ROW_BYTES;
        rows_bytes + self.keys.len() + self.temporary.len_bytes(registers)
    }

    /// Counts what is kept.
    pub(super) fn note_in(&self, counts: &SpillCounts, registers: &RegisterSet) {
        counts.note_kept(self.rows.len(), self.temporary.len_bytes(registers));
    }

    /// The row that the registers have as a tuple; no other row is kept.
    pub(super) fn encoded<'r>(&self, registers: &'r mut RegisterSet) -> Result<&'r [u8], Trap> {
        self.temporary.encoded(registers)
    }

    /// Shows keys and tuples of all rows, and forgets them.
    pub(super) fn drain(
        &mut self,
        registers: &mut RegisterSet,
        mut visit: impl FnMut(Option<&[u8]>, &[u8]) -> Result<(), Trap>,
    ) -> Result<(), Trap> {
        for row in &self.rows {
            let (_, tuple) = registers.tuple_bytes(row.place);
            visit(row.key.map(|key| key.of(&self.keys)), tuple)?;
        }
        self.forget(registers);
        Ok(())
    }

    /// Forgets all rows; what they took is free.
    pub(super) fn forget(&mut self, registers: &mut RegisterSet) {
        self.table = HashTable::new();
        self.rows = Vec::new();
        self.keys = Vec::new();
        self.temporary.replace(Vec::new(), registers);
    }
}

impl HashBucket {
    #[inline]
    fn is_of(&self, head: KeyHead, key: &[u8], rows: &[KeptRow], keys: &[u8]) -> bool {
        let is_rest_alike = || {
            let first = rows.get(self.first as usize);
            first
                .and_then(|row| row.key)
                .is_some_and(|place| place.of(keys) == key)
        };
        self.head == head && (head.is_whole() || is_rest_alike())
    }
}

impl KeyPlace {
    fn of(self, keys: &[u8]) -> &[u8] {
        let start = self.start as usize;
        keys.get(start..start + self.bytes as usize)
            .unwrap_or_default()
    }
}

/// The bytes of the keys that the registers have; false when one is NULL.
pub(super) fn set_key(
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
