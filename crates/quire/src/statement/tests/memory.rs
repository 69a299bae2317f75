//! Rows in a vector, and nothing clever about finding them.

use std::cmp::Ordering;
use std::ops::{Bound, RangeBounds};

use quire_error::Error;
use quire_tables::row_table::{TupleValue, Value};

use crate::statement::access::KeyBounds;
use crate::statement::compiled::ConflictAction;
use crate::statement::execute::{
    Decide, Inserted, NewRow, NewRows, RowRange, TableRows, Test, Visit,
};
use crate::statement::lock_mode::LockMode;
use crate::statement::table::{KeyKind, TableKey};

/// All rows of a table, and its keys.
pub(super) struct MemoryRows {
    pub(super) rows: Vec<Vec<Value>>,
    pub(super) keys: Vec<TableKey>,
}

impl MemoryRows {
    /// Indexes of the rows within bounds, in the order of the key.
    fn found(&self, key: &TableKey, bounds: &KeyBounds, is_reversed: bool) -> Vec<usize> {
        let matches = |row: &Vec<Value>| {
            let mut parts = key.columns.iter();
            let equal = bounds
                .equal
                .iter()
                .all(|value| row[parts.next().unwrap().column] == *value);
            let next = bounds.next.as_ref().is_none_or(|(low, high)| {
                let value = &row[parts.next().unwrap().column];
                !value.is_null() && (borrowed(low), borrowed(high)).contains(value)
            });
            equal && next
        };
        let mut found: Vec<usize> = (0..self.rows.len())
            .filter(|i| matches(&self.rows[*i]))
            .collect();
        found.sort_by(|left, right| compare(key, &self.rows[*left], &self.rows[*right]));
        if is_reversed {
            found.reverse();
        }
        found
    }

    /// Index of a row with the same key.
    fn conflict(&self, row: &[Value], kind: Option<KeyKind>) -> Option<usize> {
        let unique = self.keys.iter().filter(|key| key.is_unique);
        let mut meant = unique.filter(|key| kind.is_none_or(|kind| key.kind == kind));
        meant.find_map(|key| {
            let same = |known: &Vec<Value>| {
                let mut parts = key.columns.iter();
                parts.all(|part| {
                    !row[part.column].is_null() && known[part.column] == row[part.column]
                })
            };
            self.rows.iter().position(same)
        })
    }
}

fn borrowed(bound: &Bound<Value>) -> Bound<&Value> {
    bound.as_ref()
}

fn compare(key: &TableKey, left: &[Value], right: &[Value]) -> Ordering {
    for part in &key.columns {
        let (left, right) = (&left[part.column], &right[part.column]);
        let order = match (left.is_null(), right.is_null()) {
            (false, false) if part.is_descending => right.cmp(left),
            (false, false) => left.cmp(right),
            (left, right) if part.nulls_first => right.cmp(&left),
            (left, right) => left.cmp(&right),
        };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

fn view<'a>(row: &'a [Value], wanted: &[usize]) -> Vec<TupleValue<'a>> {
    wanted
        .iter()
        .map(|column| row[*column].as_tuple_value())
        .collect()
}

impl TableRows for MemoryRows {
    fn scan(&mut self, range: RowRange<'_>, visit: Visit<'_>) -> Result<(), Error> {
        for index in self.found(range.key, range.bounds, range.is_reversed) {
            if !visit(&view(&self.rows[index], range.wanted))? {
                break;
            }
        }
        Ok(())
    }

    fn scan_locked(
        &mut self,
        range: RowRange<'_>,
        _: LockMode,
        test: Test<'_>,
        visit: Visit<'_>,
    ) -> Result<(), Error> {
        self.scan(range, &mut |row| Ok(!test(row)? || visit(row)?))
    }

    fn change(
        &mut self,
        key: &TableKey,
        bounds: &KeyBounds,
        test: Test<'_>,
        decide: Decide<'_>,
    ) -> Result<u64, Error> {
        let all: Vec<usize> = (0..self.rows[0].len()).collect();
        let (mut count, mut deleted) = (0, Vec::new());
        for index in self.found(key, bounds, false) {
            let row = self.rows[index].clone();
            let row = view(&row, &all);
            if !test(&row)? {
                continue;
            }
            let there = &mut self.rows[index];
            let is_changed = decide(&row, &mut |new_row| {
                match new_row {
                    NewRow::Deleted => deleted.push(index),
                    NewRow::Changed(values) => set(there, values),
                }
                Ok(())
            })?;
            count += u64::from(is_changed);
        }
        deleted.sort_unstable();
        for index in deleted.into_iter().rev() {
            self.rows.remove(index);
        }
        Ok(count)
    }
}

/// Gives some columns of a row their new values.
fn set(row: &mut [Value], values: &[(usize, TupleValue<'_>)]) {
    for (column, value) in values {
        row[*column] = owned(value);
    }
}

/// A value as a row has it.
fn owned(value: &TupleValue<'_>) -> Value {
    match *value {
        TupleValue::Null => Value::Null,
        TupleValue::Bool(value) => Value::Boolean(value),
        TupleValue::Integer(value) => Value::Integer(value),
        TupleValue::Wide(value) => Value::Decimal(value.into()),
        TupleValue::Float32(value) => Value::Real(value),
        TupleValue::Float64(value) => Value::Double(value),
        TupleValue::Bytes(text) => Value::Text(std::str::from_utf8(text).unwrap().into()),
        TupleValue::Coded(text) => {
            Value::Text(String::from_utf8(text.to_vec().unwrap()).unwrap().into())
        }
    }
}

impl NewRows for MemoryRows {
    fn next_value(&mut self, _: u64) -> Result<i64, Error> {
        Ok(self.rows.len() as i64 + 1)
    }

    fn insert(
        &mut self,
        row: &[TupleValue<'_>],
        conflict: &ConflictAction,
        decide: Decide<'_>,
    ) -> Result<Inserted, Error> {
        let row = &row.iter().map(owned).collect::<Vec<_>>();
        match conflict {
            ConflictAction::DoNothing(kind) if self.conflict(row, *kind).is_some() => {
                return Ok(Inserted::LeftOut);
            }
            ConflictAction::Update(kind, _) => {
                if let Some(index) = self.conflict(row, Some(*kind)) {
                    let all: Vec<usize> = (0..row.len()).collect();
                    let there = self.rows[index].clone();
                    let is_changed = decide(&view(&there, &all), &mut |new_row| {
                        match new_row {
                            NewRow::Changed(values) => set(&mut self.rows[index], values),
                            NewRow::Deleted => panic!("a row is not deleted by an insertion"),
                        }
                        Ok(())
                    })?;
                    return Ok(if is_changed {
                        Inserted::Updated
                    } else {
                        Inserted::LeftOut
                    });
                }
            }
            _ => {}
        }
        if self.conflict(row, None).is_some() {
            return Err(Error::new("23505", "duplicate key"));
        }
        self.rows.push(row.to_vec());
        Ok(Inserted::New)
    }
}
