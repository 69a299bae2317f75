//! Compiled statements over the rows of a row table.

use std::borrow::Cow;
use std::mem::take;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_exec::plan::Row;
use quire_functions::SequenceValues;
use quire_kv::{btree::Direction, mvcc::LockWait, mvcc::RowLockMode};
use quire_tables::row_table::{ColumnRange, KeyRange, TupleValue, Value, recycled};
use quire_tables::{RowChanges, RowParts, RowTable, Snapshot, TableRowWriter, Transaction};

use super::access::KeyBounds;
use super::compiled::ConflictAction;
use super::execute::{Decide, Inserted, NewRow, NewRows, RowRange, TableRows, Test, Visit};
use super::lock_mode::LockMode;
use super::memory::ChangedRow;
use super::table::{KeyKind, TableKey};
use crate::sql::stored_value;

/// Looks at the key of a row and at its values; says whether to go on.
type VisitKeyed<'v> = &'v mut dyn FnMut(&[u8], &[TupleValue<'_>]) -> Result<bool, Error>;

/// Rows that are looked at between two looks at the token.
const ROWS_BETWEEN_LOOKS: u32 = 1024;

/// A row table as one statement sees and changes it.
pub(super) struct StatementTable<'s> {
    pub(super) table: &'s RowTable,
    pub(super) token: &'s CancelToken,
    /// Nothing for a statement that only reads.
    pub(super) changes: Option<ChangeContext<'s>>,
}

/// What a statement needs to change rows.
pub(super) struct ChangeContext<'s> {
    pub(super) transaction: &'s mut Transaction,
    /// Values of sequences, as a snapshot has them; nothing where none is asked for.
    pub(super) sequences: Option<(&'s Snapshot, &'s SequenceValues)>,
    pub(super) changes: RowChanges,
    pub(super) memory: &'s mut ChangedRow,
}

impl StatementTable<'_> {
    /// Visits rows with their keys. `visit` is called under the latch of a page.
    fn visit(&self, range: RowRange<'_>, visit: VisitKeyed<'_>) -> Result<(), Error> {
        let mut result = Ok(());
        let mut looked = 0;
        let mut step = |row_key: &[u8], values: &[TupleValue<'_>]| {
            looked += 1;
            if looked % ROWS_BETWEEN_LOOKS == 0 && self.token.is_cancelled() {
                result = Err(Error::cancelled());
                return ControlFlow::Break(());
            }
            match visit(row_key, values) {
                Ok(true) => ControlFlow::Continue(()),
                Ok(false) => ControlFlow::Break(()),
                Err(error) => {
                    result = Err(error);
                    ControlFlow::Break(())
                }
            }
        };
        let RowRange {
            key,
            bounds,
            is_reversed,
            wanted,
        } = range;
        let equal: Vec<TupleValue<'_>> = bounds.equal.iter().map(Value::as_tuple_value).collect();
        let next = column_range(bounds);
        let direction = if is_reversed {
            Direction::Backward
        } else {
            Direction::Forward
        };
        match key.kind {
            KeyKind::Primary if !equal.is_empty() && equal.len() == key.columns.len() => {
                let mut row_key = Vec::with_capacity(16);
                self.table.layout().encode_key(&equal, &mut row_key)?;
                self.table.visit_key(&row_key, wanted, &mut step)?;
            }
            KeyKind::Primary => {
                let range = self.table.layout().key_range(&equal, next)?;
                self.table
                    .visit_range(&range, direction, wanted, &mut step)?;
            }
            KeyKind::Index(position) => {
                let index = self.table.indexes().get(position);
                let range = match index {
                    Some(index) => index.layout.range(&equal, next)?,
                    None => KeyRange::none(),
                };
                self.table
                    .visit_index(position, &range, direction, wanted, &mut step)?;
            }
        }
        result
    }

    /// The keys of the rows that pass `test`.
    fn found(&self, range: RowRange<'_>, test: Test<'_>) -> Result<Vec<Box<[u8]>>, Error> {
        let mut found = Vec::new();
        self.visit(range, &mut |row_key, values| {
            if test(values)? {
                found.push(row_key.into());
            }
            Ok(true)
        })?;
        Ok(found)
    }
}

impl ChangeContext<'_> {
    fn writer(&mut self, table: &RowTable) -> TableRowWriter<'_> {
        self.transaction.row_writer(table.parts())
    }

    /// Does with a row, which is locked, what `decide` says of it as it is now. False when it is kept, or has gone.
    pub(super) fn change(
        &mut self,
        parts: &Arc<RowParts>,
        row_key: &[u8],
        decide: Decide<'_>,
    ) -> Result<bool, Error> {
        let (changes, transaction) = (&mut self.changes, &mut *self.transaction);
        let writer = transaction.row_writer(parts);
        let ChangedRow {
            tuple,
            buffer,
            before,
            after: after_memory,
        } = &mut *self.memory;
        if !writer.newest_tuple_into(row_key, tuple)? {
            return Ok(false);
        }
        let entry = (row_key, tuple.as_slice());
        let mut all: Vec<TupleValue<'_>> = recycled(take(before));
        writer.values(parts, entry, buffer, &mut all)?;
        let live = parts.layout().live_ordinals();
        let value = |ordinal: &usize| all.get(*ordinal).copied().unwrap_or_default();
        let visible: Cow<'_, [TupleValue<'_>]> = if live.len() == all.len() {
            Cow::Borrowed(&all)
        } else {
            live.iter().map(value).collect()
        };
        let is_changed = decide(&visible, &mut |new_row| {
            match new_row {
                NewRow::Deleted => changes.remove(transaction, parts, entry, &all)?,
                NewRow::Changed(values) => {
                    let mut after: Vec<TupleValue<'_>> = recycled(take(after_memory));
                    after.extend_from_slice(&all);
                    for (column, value) in values {
                        let ordinal = live.get(*column).copied().unwrap_or_default();
                        if let Some(place) = after.get_mut(ordinal) {
                            *place = stored_value(parts.definition(), ordinal, *value)?;
                        }
                    }
                    changes.replace(transaction, parts, entry, (&all, &after))?;
                    *after_memory = recycled(after);
                }
            }
            Ok(())
        })?;
        *before = recycled(all);
        Ok(is_changed)
    }
}

impl TableRows for StatementTable<'_> {
    fn scan(&mut self, range: RowRange<'_>, visit: Visit<'_>) -> Result<(), Error> {
        self.visit(range, &mut |_, values| visit(values))
    }

    fn scan_locked(
        &mut self,
        range: RowRange<'_>,
        lock: LockMode,
        test: Test<'_>,
        visit: Visit<'_>,
    ) -> Result<(), Error> {
        let found = self.found(range, test)?;
        let changes = self.changes.as_mut().ok_or_else(read_only)?;
        let mut writer = changes.writer(self.table);
        for row_key in found {
            if writer.lock(&row_key, lock.rows, lock.wait)?.is_none() {
                continue;
            }
            // A row that has gone meanwhile is none any more.
            let Some(row) = writer.newest(&row_key)? else {
                continue;
            };
            let value = |ordinal: &usize| row.get(*ordinal).map(Value::as_tuple_value);
            let wanted = range.wanted.iter();
            let values: Vec<TupleValue<'_>> = wanted
                .map(|ordinal| value(ordinal).unwrap_or_default())
                .collect();
            if !visit(&values)? {
                break;
            }
        }
        Ok(())
    }

    fn change(
        &mut self,
        key: &TableKey,
        bounds: &KeyBounds,
        test: Test<'_>,
        decide: Decide<'_>,
    ) -> Result<u64, Error> {
        let live = self.table.layout().live_ordinals();
        let range = RowRange {
            key,
            bounds,
            is_reversed: false,
            wanted: live,
        };
        let found = self.found(range, test)?;
        let table = self.table;
        let changes = self.changes.as_mut().ok_or_else(read_only)?;
        let mut count = 0;
        for row_key in found {
            let mut writer = changes.writer(table);
            writer.lock(&row_key, RowLockMode::Exclusive, LockWait::Wait)?;
            count += u64::from(changes.change(table.parts(), &row_key, decide)?);
        }
        Ok(count)
    }
}

impl NewRows for StatementTable<'_> {
    fn next_value(&mut self, sequence: u64) -> Result<i64, Error> {
        let changes = self.changes.as_ref().ok_or_else(read_only)?;
        changes.next_value(sequence)
    }

    fn insert(
        &mut self,
        row: Row<'_>,
        conflict: &ConflictAction,
        decide: Decide<'_>,
    ) -> Result<Inserted, Error> {
        let changes = self.changes.as_mut().ok_or_else(read_only)?;
        changes.insert(self.table.parts(), row, conflict, decide)
    }
}

/// A row table as a statement sees it that only adds rows.
pub(super) struct AddedRows<'s> {
    pub(super) parts: &'s Arc<RowParts>,
    pub(super) changes: ChangeContext<'s>,
}

impl NewRows for AddedRows<'_> {
    fn next_value(&mut self, sequence: u64) -> Result<i64, Error> {
        self.changes.next_value(sequence)
    }

    fn insert(
        &mut self,
        row: Row<'_>,
        conflict: &ConflictAction,
        decide: Decide<'_>,
    ) -> Result<Inserted, Error> {
        self.changes.insert(self.parts, row, conflict, decide)
    }
}

impl ChangeContext<'_> {
    /// Does what foreign keys demand, at the end of the statement.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        Ok(self.changes.check_references(self.transaction)?)
    }

    fn next_value(&self, sequence: u64) -> Result<i64, Error> {
        let (snapshot, values) = self.sequences.ok_or_else(read_only)?;
        values.next_by_id(snapshot, sequence)
    }

    fn insert(
        &mut self,
        parts: &Arc<RowParts>,
        row: Row<'_>,
        conflict: &ConflictAction,
        decide: Decide<'_>,
    ) -> Result<Inserted, Error> {
        let definition = parts.definition();
        let mut values: Vec<TupleValue<'_>> = recycled(take(&mut self.memory.after));
        values.resize(definition.columns.len(), TupleValue::Null);
        for (ordinal, value) in parts.layout().live_ordinals().iter().zip(row) {
            if let Some(place) = values.get_mut(*ordinal) {
                *place = stored_value(definition, *ordinal, *value)?;
            }
        }
        let (changes, transaction) = (&mut self.changes, &mut *self.transaction);
        match changes.insert_or_find(transaction, parts, &values)? {
            None => {
                self.memory.after = recycled(values);
                Ok(Inserted::New)
            }
            Some(found) => {
                let kind = found.index.map_or(KeyKind::Primary, KeyKind::Index);
                match conflict {
                    ConflictAction::DoNothing(arbiter)
                        if arbiter.is_none_or(|arbiter| arbiter == kind) =>
                    {
                        Ok(Inserted::LeftOut)
                    }
                    ConflictAction::Update(arbiter, _) if *arbiter == kind => {
                        let is_changed = self.change(parts, &found.row_key, decide)?;
                        Ok(if is_changed {
                            Inserted::Updated
                        } else {
                            Inserted::LeftOut
                        })
                    }
                    _ => {
                        let writer = transaction.row_writer(parts);
                        Err(writer.duplicate(found.index, &values).into())
                    }
                }
            }
        }
    }
}

fn read_only() -> Error {
    Error::new(
        "XX000",
        "internal error: a statement that reads cannot change rows",
    )
}

/// The condition on the column behind those with one value.
fn column_range(bounds: &KeyBounds) -> ColumnRange<'_> {
    match &bounds.next {
        None => ColumnRange::All,
        Some((low, high)) => ColumnRange::Between(borrowed(low), borrowed(high)),
    }
}

fn borrowed(bound: &Bound<Value>) -> Bound<TupleValue<'_>> {
    bound.as_ref().map(Value::as_tuple_value)
}
