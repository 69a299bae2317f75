//! Joins of more rows than memory holds.
//!
//! D. DeWitt et al., *Implementation Techniques for Main Memory Database Systems* (1984), the Grace join: both sides are divided by the hashes of their
//! keys, and each partition is joined by itself. A partition of the right side that is too long is divided again ([`super::join_partition`]), or kept part
//! by part, and the left one is read once for each (a block nested loop), which also does for many rows with one key, or without keys at all. Which
//! left rows have matched is remembered from part to part, a bit each.

use super::join_partition::{JoinPartition, KEY, NO_KEY, partitions_of, right_key};
use super::kept_rows::KeptRows;
use super::spill::{IteratorSpillFile, Partitions, SpillStream, StreamReader, Workspace};
use crate::avm::{RegisterSet, Trap};
use crate::key_hash::hash_of;

/// A left row that was spilled.
pub(super) struct LeftRow<'r> {
    /// Whether it has matched a part of the right side before.
    pub(super) has_matched: bool,
    pub(super) key: &'r [u8],
    pub(super) image: &'r [u8],
}

/// Both sides of a join in a file.
pub(super) struct SpilledJoin {
    file: IteratorSpillFile,
    right_side: Option<Partitions>,
    /// The key of a right row behind its mark.
    marked: Vec<u8>,
    left_side: Option<Partitions>,
    /// The right side, divided once.
    right: Vec<SpillStream>,
    /// Partitions that are to come.
    waiting: Vec<JoinPartition>,
    has_all_left: bool,
    /// How many partitions were divided again.
    division_count: usize,
    /// The present ones.
    right_reader: StreamReader,
    left_stream: SpillStream,
    left_reader: StreamReader,
    /// The number of the left row, and which of them have matched.
    left_row: usize,
    matched: Vec<u64>,
}

impl SpilledJoin {
    pub(super) fn new(workspace: &Workspace) -> Result<Self, Trap> {
        Ok(Self {
            file: workspace.file()?,
            right_side: Some(Partitions::new(0)),
            marked: Vec::new(),
            left_side: Some(Partitions::new(0)),
            right: Vec::new(),
            waiting: Vec::new(),
            has_all_left: false,
            division_count: 0,
            right_reader: StreamReader::default(),
            left_stream: SpillStream::default(),
            left_reader: StreamReader::default(),
            left_row: 0,
            matched: Vec::new(),
        })
    }

    /// Takes over a right row; one whose key equals nothing has none.
    pub(super) fn take_right(&mut self, key: Option<&[u8]>, tuple: &[u8]) -> Result<(), Trap> {
        self.marked.clear();
        self.marked.push(if key.is_some() { KEY } else { NO_KEY });
        self.marked.extend_from_slice(key.unwrap_or_default());
        let hash = hash_of(key.unwrap_or_default());
        match &mut self.right_side {
            Some(right) => right.push(&mut self.file, hash, &self.marked, tuple),
            None => Ok(()),
        }
    }

    pub(super) fn end_right(&mut self) -> Result<(), Trap> {
        if let Some(right) = self.right_side.take() {
            (_, self.right) = right.finish(&mut self.file)?;
        }
        Ok(())
    }

    pub(super) fn take_left(&mut self, key: &[u8], row: &[u8]) -> Result<(), Trap> {
        match &mut self.left_side {
            Some(left) => left.push(&mut self.file, hash_of(key), key, row),
            None => Ok(()),
        }
    }

    pub(super) fn end_left(&mut self) -> Result<(), Trap> {
        self.has_all_left = true;
        if let Some(left) = self.left_side.take() {
            let (level, left) = left.finish(&mut self.file)?;
            self.waiting = partitions_of(level, std::mem::take(&mut self.right), left);
        }
        Ok(())
    }

    /// How many partitions were divided again.
    pub(super) fn division_count(&self) -> usize {
        self.division_count
    }

    /// Whether all left rows have been read.
    pub(super) fn has_all_left(&self) -> bool {
        self.has_all_left
    }

    /// Keeps right rows of the present partition, or of the next one, as many as memory holds; false behind the last.
    pub(super) fn next_part(
        &mut self,
        kept: &mut KeptRows,
        workspace: &Workspace,
        registers: &mut RegisterSet,
    ) -> Result<bool, Trap> {
        kept.forget(registers);
        if !self.right_reader.has_more() {
            let Some(partition) = self.next_partition(workspace)? else {
                return Ok(false);
            };
            self.right_reader = partition.right.reader();
            self.left_stream = partition.left;
            self.matched = Vec::new();
        }
        let matched_bytes = workspace.bits_bytes(&self.matched);
        while !workspace.is_full(matched_bytes + kept.len_bytes(registers))
            && self.right_reader.advance(&self.file)?
        {
            let (key, tuple) = (self.right_reader.key(), self.right_reader.row());
            kept.push_tuple(right_key(key), tuple, registers)?;
        }
        if !self.is_last_part() {
            let words = self.left_stream.record_count().div_ceil(64);
            self.matched.resize(words, 0);
        }
        self.left_reader = self.left_stream.reader();
        self.left_row = 0;
        Ok(true)
    }

    /// The next partition that is not to be divided.
    fn next_partition(&mut self, workspace: &Workspace) -> Result<Option<JoinPartition>, Trap> {
        while let Some(partition) = self.waiting.pop() {
            if !partition.is_to_be_divided(workspace) {
                return Ok(Some(partition));
            }
            let divided = partition.divided(&mut self.file, &workspace.cancellation)?;
            self.waiting.extend(divided);
            self.division_count += 1;
        }
        Ok(None)
    }

    /// Whether nothing is left of the right partition but what is kept.
    pub(super) fn is_last_part(&self) -> bool {
        !self.right_reader.has_more()
    }

    /// The next left row of the partition.
    pub(super) fn next_left(&mut self) -> Result<Option<LeftRow<'_>>, Trap> {
        if !self.left_reader.advance(&self.file)? {
            return Ok(None);
        }
        let word = self.matched.get(self.left_row / 64).copied();
        let has_matched = word.is_some_and(|word| word >> (self.left_row % 64) & 1 == 1);
        self.left_row += 1;
        let reader = &self.left_reader;
        Ok(Some(LeftRow {
            has_matched,
            key: reader.key(),
            image: reader.row(),
        }))
    }

    /// Remembers that the left row has matched.
    pub(super) fn note_match(&mut self, has_matched: bool) {
        let row = self.left_row.wrapping_sub(1);
        if let Some(word) = self.matched.get_mut(row / 64) {
            *word |= u64::from(has_matched) << (row % 64);
        }
    }
}
