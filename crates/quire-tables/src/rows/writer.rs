//! One row comes, changes or goes, and its entries in indexes and its long values with it.
//!
//! A key that no two rows may have is locked before it is looked up, in the table's tree or in that of the index. So of two
//! transactions that want it one waits for the other, and then sees what became of it.

use std::sync::Arc;

use quire_format::row_position::RowPosition;
use quire_format::tuple::TupleValue;
use quire_kv::btree::Direction;
use quire_kv::mvcc::{KvTransaction, LockWait, ReadView, RowLockMode, TreeId};

use super::parts::{RowParts, TableIndex};
use crate::error::{RowScanError, RowWriteError};
use crate::row_table::{EncodedRow, RowBuffer, Value};

/// Changes rows of one table as part of a transaction. If a call fails, what the statement has done must be rolled back.
pub struct TableRowWriter<'t> {
    parts: Arc<RowParts>,
    rows: &'t mut KvTransaction,
    made: &'t mut RowMemory,
}

/// Where a row is encoded. The next one can be encoded there, too.
#[derive(Default)]
pub(crate) struct RowMemory {
    row: EncodedRow,
    entry: IndexEntry,
    old_entry: IndexEntry,
}

/// An entry of an index, in the making.
#[derive(Default)]
struct IndexEntry {
    key: Vec<u8>,
    value: Vec<u8>,
    is_exclusive: bool,
}

/// What became of a row that was to be inserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Insertion {
    /// It is there, with this key.
    Inserted(Box<[u8]>),
    /// Nothing was done: another row has one of its keys.
    Conflict(KeyConflict),
}

/// Another row that has a key which two may not have. It is locked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyConflict {
    /// Position of the index among the table's; `None` for the primary key.
    pub index: Option<usize>,
    /// Key of the other row.
    pub row_key: Box<[u8]>,
}

impl<'t> TableRowWriter<'t> {
    pub(crate) fn new(
        parts: Arc<RowParts>,
        rows: &'t mut KvTransaction,
        made: &'t mut RowMemory,
    ) -> Self {
        Self { parts, rows, made }
    }

    /// The table.
    pub fn parts(&self) -> &Arc<RowParts> {
        &self.parts
    }

    /// Locks a row that a statement is to change: says whether the row is as the statement's snapshot has it; `None` when it was
    /// to be skipped and is not free.
    ///
    /// # Errors
    /// See [`quire_kv::mvcc::LockError`].
    pub fn lock(
        &mut self,
        row_key: &[u8],
        mode: RowLockMode,
        wait: LockWait,
    ) -> Result<Option<bool>, RowWriteError> {
        let tree = self.deletions_of(row_key).unwrap_or(self.parts.rows);
        let locked = self.rows.lock_row(tree, row_key, mode, wait)?;
        Ok(locked.map(|locked| !locked.is_changed_since_snapshot))
    }

    /// The newest values of a row by ordinal, which the caller has locked; `None` when it is gone.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn newest(&self, row_key: &[u8]) -> Result<Option<Vec<Value>>, RowWriteError> {
        let Some(tuple) = self.newest_tuple(row_key)? else {
            return Ok(None);
        };
        self.decode(row_key, &tuple).map(Some)
    }

    fn newest_tuple(&self, row_key: &[u8]) -> Result<Option<Vec<u8>>, RowWriteError> {
        let mut tuple = Vec::new();
        let is_there = self.newest_tuple_into(row_key, &mut tuple)?;
        Ok(is_there.then_some(tuple))
    }

    /// Puts the newest tuple of a row, which the caller has locked, into `tuple`; false when it is gone.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn newest_tuple_into(
        &self,
        row_key: &[u8],
        tuple: &mut Vec<u8>,
    ) -> Result<bool, RowWriteError> {
        tuple.clear();
        let found = self.rows.get_latest(self.parts.rows, row_key, |newest| {
            tuple.extend_from_slice(newest);
        })?;
        Ok(found.is_some())
    }

    /// Whether a row is there now, for this transaction or for all.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn is_there(&self, row_key: &[u8]) -> Result<bool, RowWriteError> {
        let found = self.rows.get_latest(self.parts.rows, row_key, |_| ())?;
        Ok(found.is_some())
    }

    /// Puts the values of a row that has been read, by ordinal, into `values`.
    ///
    /// # Errors
    /// Pages that cannot be read, or a row that is damaged.
    pub fn values<'a>(
        &self,
        parts: &'a RowParts,
        (row_key, tuple): (&'a [u8], &'a [u8]),
        buffer: &'a mut RowBuffer,
        values: &mut Vec<TupleValue<'a>>,
    ) -> Result<(), RowWriteError> {
        let fetch = |key: &[u8], target: &mut Vec<u8>| self.fetch(key, target);
        let layout = &parts.layout;
        Ok(layout.decode_row(row_key, tuple, buffer, fetch, values)?)
    }

    /// Inserts a row, given its values by ordinal.
    ///
    /// # Errors
    /// Values that do not fit, and what reading, locking and writing may fail with. A key that another row has is no error.
    pub fn insert(&mut self, values: &[TupleValue<'_>]) -> Result<Insertion, RowWriteError> {
        Ok(match self.insert_or_find(values)? {
            Some(conflict) => Insertion::Conflict(conflict),
            None => Insertion::Inserted(self.made.row.key.as_slice().into()),
        })
    }

    /// The same; gives the row that has one of its keys, if there is one, and otherwise does not say which key the row has got.
    ///
    /// # Errors
    /// As [`TableRowWriter::insert`].
    pub fn insert_or_find(
        &mut self,
        values: &[TupleValue<'_>],
    ) -> Result<Option<KeyConflict>, RowWriteError> {
        let parts = Arc::clone(&self.parts);
        let row_id = if parts.layout.is_numbered() {
            parts.take_row_id(|| self.greatest_row_id())?
        } else {
            0
        };
        parts
            .layout
            .encode_row(values, row_id, &mut self.made.row)?;
        if !parts.layout.is_numbered() {
            let key = std::mem::take(&mut self.made.row.key);
            let is_taken = self.is_taken(parts.rows, &key)?;
            self.made.row.key = key;
            if is_taken {
                let row_key = self.made.row.key.as_slice().into();
                let index = None;
                return Ok(Some(KeyConflict { index, row_key }));
            }
        }
        for (position, index) in parts.indexes.iter().enumerate() {
            if index.layout.is_unique() {
                let row_key = std::mem::take(&mut self.made.row.key);
                let conflict = self.conflict_in(index, values, &row_key);
                self.made.row.key = row_key;
                if let Some(row_key) = conflict? {
                    self.rows.lock_row(
                        parts.rows,
                        &row_key,
                        RowLockMode::Exclusive,
                        LockWait::Wait,
                    )?;
                    let index = Some(position);
                    return Ok(Some(KeyConflict { index, row_key }));
                }
            }
        }
        let (tree, key, tuple) = (parts.rows, &self.made.row.key, &self.made.row.tuple);
        if parts.layout.is_numbered() {
            self.rows.put(tree, key, tuple)?
        } else {
            // It was locked to be looked for.
            self.rows.put_locked(tree, key, tuple)?
        }
        self.put_chunks()?;
        for index in &parts.indexes {
            self.made.entry.fill(index, values, &self.made.row.key)?;
            self.rows
                .put(index.tree, &self.made.entry.key, &self.made.entry.value)?;
        }
        Ok(None)
    }

    /// Changes the row with the key `row_key`, which is locked, to `values`, given by ordinal. Returns its values before; none for
    /// a row of a row group, to which no foreign key refers.
    ///
    /// # Errors
    /// [`RowWriteError::Duplicate`], values that do not fit, and what reading, locking and writing may fail with.
    pub fn update(
        &mut self,
        row_key: &[u8],
        values: &[TupleValue<'_>],
    ) -> Result<Vec<Value>, RowWriteError> {
        if let Some(deletions) = self.deletions_of(row_key) {
            self.move_stored(deletions, row_key, values)?;
            return Ok(Vec::new());
        }
        let tuple = self.newest_tuple(row_key)?.ok_or_else(|| self.vanished())?;
        let before = self.decode(row_key, &tuple)?;
        let old_values: Vec<TupleValue<'_>> = before.iter().map(Value::as_tuple_value).collect();
        self.replace((row_key, &tuple), &old_values, values)?;
        Ok(before)
    }

    /// Changes a row of a tree, which is locked and has been read with its values `before`, to `values`, both given by ordinal.
    ///
    /// # Errors
    /// As [`TableRowWriter::update`].
    pub fn replace(
        &mut self,
        (row_key, tuple): (&[u8], &[u8]),
        before: &[TupleValue<'_>],
        values: &[TupleValue<'_>],
    ) -> Result<(), RowWriteError> {
        let parts = Arc::clone(&self.parts);
        let row_id = row_key.try_into().map_or(0, u64::from_be_bytes);
        parts
            .layout
            .encode_row(values, row_id, &mut self.made.row)?;
        let has_moved = self.made.row.key != row_key;
        if has_moved {
            let key = std::mem::take(&mut self.made.row.key);
            let is_taken = self.is_taken(parts.rows, &key)?;
            self.made.row.key = key;
            if is_taken {
                return Err(self.duplicate(None, values));
            }
        }
        self.remove_chunks(row_key, tuple)?;
        for (position, index) in parts.indexes.iter().enumerate() {
            self.made.entry.fill(index, values, &self.made.row.key)?;
            self.made.old_entry.fill(index, before, row_key)?;
            if self.made.entry.key != self.made.old_entry.key {
                let is_exclusive = self.made.entry.is_exclusive;
                let key = std::mem::take(&mut self.made.entry.key);
                let is_taken = is_exclusive && self.is_taken(index.tree, &key)?;
                self.made.entry.key = key;
                if is_taken {
                    return Err(self.duplicate(Some(position), values));
                }
                self.rows.remove(index.tree, &self.made.old_entry.key)?;
            } else if self.made.entry.value == self.made.old_entry.value {
                continue;
            }
            self.rows
                .put(index.tree, &self.made.entry.key, &self.made.entry.value)?;
        }
        if has_moved {
            self.rows.remove(parts.rows, row_key)?;
        }
        self.rows
            .put(parts.rows, &self.made.row.key, &self.made.row.tuple)?;
        self.put_chunks()
    }

    /// Deletes the row with that key, which is locked. Returns its values; none for a row of a row group.
    ///
    /// # Errors
    /// What reading, locking and writing may fail with.
    pub fn delete(&mut self, row_key: &[u8]) -> Result<Vec<Value>, RowWriteError> {
        if let Some(deletions) = self.deletions_of(row_key) {
            self.rows.put(deletions, row_key, &[])?;
            return Ok(Vec::new());
        }
        let tuple = self.newest_tuple(row_key)?.ok_or_else(|| self.vanished())?;
        let before = self.decode(row_key, &tuple)?;
        let values: Vec<TupleValue<'_>> = before.iter().map(Value::as_tuple_value).collect();
        self.remove((row_key, &tuple), &values)?;
        Ok(before)
    }

    /// Deletes a row of a tree, which is locked and has been read with these values, by ordinal.
    ///
    /// # Errors
    /// As [`TableRowWriter::delete`].
    pub fn remove(
        &mut self,
        (row_key, tuple): (&[u8], &[u8]),
        values: &[TupleValue<'_>],
    ) -> Result<(), RowWriteError> {
        let parts = Arc::clone(&self.parts);
        self.remove_chunks(row_key, tuple)?;
        for index in &parts.indexes {
            self.made.old_entry.fill(index, values, row_key)?;
            self.rows.remove(index.tree, &self.made.old_entry.key)?;
        }
        Ok(self.rows.remove(parts.rows, row_key)?)
    }

    /// The tree in which a row of a row group is deleted; nothing for rows of a tree.
    fn deletions_of(&self, row_key: &[u8]) -> Option<TreeId> {
        let deletions = self.parts.deletions?;
        RowPosition::of_key(row_key).map(|_| deletions)
    }

    /// A row of a row group becomes one of the delta; who has waited for it finds it there.
    fn move_stored(
        &mut self,
        deletions: TreeId,
        row_key: &[u8],
        values: &[TupleValue<'_>],
    ) -> Result<(), RowWriteError> {
        match self.insert(values)? {
            Insertion::Inserted(moved) => Ok(self.rows.put(deletions, row_key, &moved)?),
            Insertion::Conflict(_) => Err(self.duplicate(None, values)),
        }
    }

    /// The error that another row has the same key.
    pub fn duplicate(&self, index: Option<usize>, values: &[TupleValue<'_>]) -> RowWriteError {
        let definition = &self.parts.definition;
        let key = match index.and_then(|index| definition.indexes.get(index)) {
            Some(index) => Some(&index.key),
            None => definition.primary_key.as_ref(),
        };
        let columns: Vec<usize> = key
            .map(|key| key.columns.iter().map(|part| part.column).collect())
            .unwrap_or_default();
        RowWriteError::Duplicate {
            table: definition.name.clone(),
            constraint: key.map(|key| key.name.clone()).unwrap_or_default(),
            detail: format!(
                "Key {} already exists.",
                self.parts.described(&columns, values)
            ),
        }
    }

    /// Locks a key and tells whether there is an entry.
    fn is_taken(&mut self, tree: TreeId, key: &[u8]) -> Result<bool, RowWriteError> {
        self.rows
            .lock_row(tree, key, RowLockMode::Exclusive, LockWait::Wait)?;
        Ok(self.rows.get_latest(tree, key, |_| ())?.is_some())
    }

    /// The key of the row that has the same key in a unique index.
    fn conflict_in(
        &mut self,
        index: &TableIndex,
        values: &[TupleValue<'_>],
        row_key: &[u8],
    ) -> Result<Option<Box<[u8]>>, RowWriteError> {
        self.made.entry.fill(index, values, row_key)?;
        if !self.made.entry.is_exclusive {
            return Ok(None);
        }
        let (tree, key) = (index.tree, &self.made.entry.key);
        self.rows
            .lock_row(tree, key, RowLockMode::Exclusive, LockWait::Wait)?;
        Ok(self.rows.get_latest(tree, key, |value| value.into())?)
    }

    fn put_chunks(&mut self) -> Result<(), RowWriteError> {
        if let Some(tree) = self.parts.overflow {
            for chunk in &self.made.row.chunks {
                self.rows.put(tree, &chunk.key, &chunk.bytes)?;
            }
        }
        Ok(())
    }

    fn remove_chunks(&mut self, row_key: &[u8], tuple: &[u8]) -> Result<(), RowWriteError> {
        let Some(tree) = self.parts.overflow else {
            return Ok(());
        };
        let mut keys = Vec::new();
        let layout = &self.parts.layout;
        layout.visit_chunk_keys(row_key, tuple, |key| keys.push(key.to_vec()))?;
        for key in keys {
            self.rows.remove(tree, &key)?;
        }
        Ok(())
    }

    fn decode(&self, row_key: &[u8], tuple: &[u8]) -> Result<Vec<Value>, RowWriteError> {
        let mut buffer = RowBuffer::default();
        let mut values = Vec::new();
        self.values(&self.parts, (row_key, tuple), &mut buffer, &mut values)?;
        Ok(self.parts.owned(&values)?)
    }

    /// Appends what is stored aside under a key; false when nothing is.
    fn fetch(&self, key: &[u8], target: &mut Vec<u8>) -> Result<bool, RowScanError> {
        let Some(tree) = self.parts.overflow else {
            return Ok(false);
        };
        let found = self
            .rows
            .get_latest(tree, key, |bytes| target.extend_from_slice(bytes))?;
        Ok(found.is_some())
    }

    fn vanished(&self) -> RowWriteError {
        let table = &self.parts.definition.name;
        RowWriteError::Reference(format!(
            "a row of table {table:?} that is locked is not there"
        ))
    }

    /// The greatest number that a row has for anybody, 0 when there is none. Rows that this transaction has deleted count: it may be
    /// rolled back, and others see them.
    fn greatest_row_id(&mut self) -> Result<u64, RowWriteError> {
        let own = self.rows.latest_view();
        let mut committed = own.clone();
        committed.forget_changes();
        Ok(self.greatest_in(&own)?.max(self.greatest_in(&committed)?))
    }

    fn greatest_in(&self, view: &ReadView) -> Result<u64, RowWriteError> {
        let mut scan = view.scan(self.parts.rows, &[], &[], Direction::Backward)?;
        let last = scan.next_entry()?;
        let number = last
            .and_then(|(key, _)| key.try_into().ok())
            .map(u64::from_be_bytes);
        Ok(number.unwrap_or(0))
    }
}

impl IndexEntry {
    fn fill(
        &mut self,
        index: &TableIndex,
        values: &[TupleValue<'_>],
        row_key: &[u8],
    ) -> Result<(), RowWriteError> {
        let layout = &index.layout;
        self.is_exclusive = layout.encode_entry(values, row_key, &mut self.key, &mut self.value)?;
        Ok(())
    }
}
