//! Which columns of integers hold no value twice.
//!
//! Column tables have no keys, and yet the columns that joins look dimensions up by are unique in almost every one of them. That is a fact which planning can
//! use, but only if it is proved: each stored value sets a bit of a bitmap, and one that finds its bit set refutes it. The proof takes about
//! a nanosecond for each row, and is made for columns whose statistics let one expect it to succeed. It holds for the row groups of one state of the
//! table, which never change. A row in the delta voids it; the values of a small table with changes are looked at each time.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::{Arc, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::DataType;

use crate::error::ScanError;
use crate::scan::ScanOptions;
use crate::table::ColumnTable;
use crate::types::SqlType;

/// More rows are not read for a proof: a statement's planning should not take longer than this many nanoseconds or so.
const ROWS_MAX: u64 = 1 << 24;
/// Bits of the bitmap for each value, at most: it never takes more than 16 MiB.
const BITS_PER_VALUE_MAX: u64 = 8;
/// Rows of a table with changes, which are read for each statement that asks.
const CHANGED_ROWS_MAX: u64 = 4096;
/// A sketch of distinct values is right within some percent.
const DISTINCT_SHARE_MIN: f64 = 0.9;

impl ColumnTable {
    /// Whether a column of 16, 32 or 64-bit integers is known to hold no value twice, NULL aside. The first call reads the column, as long as `goes_on`
    /// says so, which is asked for each batch.
    ///
    /// # Errors
    /// Pages cannot be read or are damaged.
    pub fn is_unique(
        self: &Arc<Self>,
        column: usize,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<bool, ScanError> {
        if !self.has_integers(column) {
            return Ok(false);
        }
        if self.is_changed()? {
            let row_count = self.stored_row_count().max(self.row_count_estimate()?);
            let proved = match row_count <= CHANGED_ROWS_MAX {
                true => {
                    let mut seen = HashSet::new();
                    self.each_value_is_new(column, goes_on, |value| seen.insert(value))?
                }
                false => None,
            };
            return Ok(proved.unwrap_or(false));
        }
        let known = &self.state().unique_columns;
        let known = || known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(is_unique) = known().get(&column) {
            return Ok(*is_unique);
        }
        // Two statements may prove the same at once: neither waits for the other to read the column.
        let proved = match self.dense_bounds(column) {
            Some(bounds) => {
                let mut seen = SeenValues::new(&bounds);
                self.each_value_is_new(column, goes_on, |value| seen.add(value))?
            }
            None => Some(false),
        };
        let Some(is_unique) = proved else {
            return Ok(false);
        };
        known().insert(column, is_unique);
        Ok(is_unique)
    }

    fn has_integers(&self, column: usize) -> bool {
        let column = self.definition().columns.get(column);
        column.is_some_and(|column| {
            matches!(
                column.sql_type,
                SqlType::SmallInt | SqlType::Integer | SqlType::BigInt
            )
        })
    }

    /// The bounds of a column that may be unique, if a bitmap of all values between them is small.
    fn dense_bounds(&self, column: usize) -> Option<RangeInclusive<i64>> {
        let bounds = self.integer_bounds(column)?;
        let known = self.statistics(column)?;
        let value_count = self.stored_row_count().checked_sub(known.null_count)?;
        let last_bit = bounds.end().abs_diff(*bounds.start());
        let is_likely = known.distinct_estimate as f64 >= value_count as f64 * DISTINCT_SHARE_MIN;
        let is_small = self.stored_row_count() <= ROWS_MAX
            && last_bit / BITS_PER_VALUE_MAX <= value_count
            && value_count <= last_bit.saturating_add(1);
        (is_likely && is_small).then_some(bounds)
    }

    /// Whether `add` takes each value of all rows as one that has not been there before; `None` if it was not to go on.
    fn each_value_is_new(
        self: &Arc<Self>,
        column: usize,
        goes_on: &dyn Fn() -> bool,
        mut add: impl FnMut(i64) -> bool,
    ) -> Result<Option<bool>, ScanError> {
        let scan = self.scan(ScanOptions {
            projection: vec![column],
            ..ScanOptions::default()
        })?;
        let mut reader = scan.reader();
        while let Some(batch) = reader.next()? {
            if !goes_on() {
                return Ok(None);
            }
            let values = batch.column(0).as_ref();
            let is_new = match values.data_type() {
                DataType::Int16 => are_all::<Int16Type>(values, &mut add),
                DataType::Int32 => are_all::<Int32Type>(values, &mut add),
                DataType::Int64 => are_all::<Int64Type>(values, &mut add),
                _ => false,
            };
            if !is_new {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }
}

fn are_all<T: ArrowPrimitiveType>(values: &dyn Array, is_so: &mut impl FnMut(i64) -> bool) -> bool
where
    T::Native: Into<i64>,
{
    let values = values.as_primitive::<T>();
    match values.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => values.values().iter().all(|value| is_so((*value).into())),
        Some(_) => values.iter().flatten().all(|value| is_so(value.into())),
    }
}

/// A bit for each value between two bounds.
struct SeenValues {
    first: i64,
    words: Vec<u64>,
}

impl SeenValues {
    fn new(bounds: &RangeInclusive<i64>) -> Self {
        let last_bit = bounds.end().abs_diff(*bounds.start());
        SeenValues {
            first: *bounds.start(),
            words: vec![0; (last_bit / u64::from(u64::BITS)) as usize + 1],
        }
    }

    /// Whether the value has not been there before. One outside of the bounds, which are read from disk, refutes as well.
    fn add(&mut self, value: i64) -> bool {
        let bit = value.wrapping_sub(self.first) as u64;
        let mask = 1 << (bit % u64::from(u64::BITS));
        match self.words.get_mut((bit / u64::from(u64::BITS)) as usize) {
            Some(word) if *word & mask == 0 => {
                *word |= mask;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_new_once() {
        let mut seen = SeenValues::new(&(-3..=130));
        for value in [-3, 130, 60, 61, 0, 64] {
            assert!(seen.add(value), "{value}");
        }
        for value in [-3, 130, 60, 61, 0, 64] {
            assert!(!seen.add(value), "{value}");
        }
    }

    #[test]
    fn a_value_outside_the_bounds_proves_nothing() {
        for outside in [i64::MIN, -1_000, 1_000, i64::MAX] {
            let mut seen = SeenValues::new(&(0..=63));
            assert!(!seen.add(outside), "{outside}");
        }
        let mut widest = SeenValues::new(&(i64::MAX - 1..=i64::MAX));
        assert!(widest.add(i64::MAX));
    }
}
