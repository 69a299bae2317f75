//! Sets of values of the first columns of a key become ranges of its bytes.

use std::ops::Bound;

use quire_tables::RowTable;
use quire_tables::row_table::{ColumnRange, KeyRange, TupleValue, Value};

use super::value_set::{ValueInterval, ValueSet};

/// Ranges of one key, at most.
const MOST_RANGES: usize = 4096;

/// Ranges of a key, ascending and apart.
#[derive(Debug)]
pub(super) struct KeyRanges {
    pub(super) ranges: Vec<KeyRange>,
    /// How many of the first columns of the key decide.
    pub(super) column_count: usize,
    /// Whether each range has the rows of one value of each of these columns.
    pub(super) are_points: bool,
}

/// The ranges of a key (of an index, or of the rows) that has these columns, by what `values` says of each. `None` when nothing is said
/// of the first column.
pub(super) fn ranges_of(
    table: &RowTable,
    index: Option<usize>,
    values: impl Fn(usize) -> Option<ValueSet>,
) -> Option<KeyRanges> {
    let ordinals = match index {
        None => table.layout().key_ordinals(),
        Some(index) => table.indexes().get(index)?.layout.ordinals(),
    };
    let mut prefixes: Vec<Vec<Value>> = vec![Vec::new()];
    let mut last = None;
    let mut column_count = 0;
    for ordinal in ordinals {
        let Some(set) = values(*ordinal) else {
            break;
        };
        if let Some(points) = set.points() {
            if prefixes.len().saturating_mul(points.len()) > MOST_RANGES {
                break;
            }
            column_count += 1;
            prefixes = with_each(&prefixes, &points);
            continue;
        }
        if prefixes.len().saturating_mul(set.intervals.len() + 1) <= MOST_RANGES {
            column_count += 1;
            last = Some(set);
        }
        break;
    }
    if column_count == 0 {
        return None;
    }
    let mut ranges = Vec::with_capacity(prefixes.len());
    let range = |equal: &[Value], next: ColumnRange<'_>| {
        let equal: Vec<TupleValue<'_>> = equal.iter().map(Value::as_tuple_value).collect();
        match index {
            None => table.layout().key_range(&equal, next).ok(),
            Some(index) => {
                let index = table.indexes().get(index)?;
                index.layout.range(&equal, next).ok()
            }
        }
    };
    for prefix in &prefixes {
        let Some(set) = &last else {
            ranges.push(range(prefix, ColumnRange::All)?);
            continue;
        };
        for ValueInterval { low, high } in &set.intervals {
            let between = ColumnRange::Between(borrowed(low), borrowed(high));
            ranges.push(range(prefix, between)?);
        }
        if set.has_null {
            let with_null = with_each(std::slice::from_ref(prefix), &[Value::Null]);
            for prefix in &with_null {
                ranges.push(range(prefix, ColumnRange::All)?);
            }
        }
    }
    Some(KeyRanges {
        ranges: apart(ranges),
        column_count,
        are_points: last.is_none(),
    })
}

fn borrowed(bound: &Bound<Value>) -> Bound<TupleValue<'_>> {
    match bound {
        Bound::Included(value) => Bound::Included(value.as_tuple_value()),
        Bound::Excluded(value) => Bound::Excluded(value.as_tuple_value()),
        Bound::Unbounded => Bound::Unbounded,
    }
}

fn with_each(prefixes: &[Vec<Value>], values: &[Value]) -> Vec<Vec<Value>> {
    let longer = |prefix: &Vec<Value>| {
        let prefix = prefix.clone();
        values.iter().map(move |value| {
            let mut longer = prefix.clone();
            longer.push(value.clone());
            longer
        })
    };
    prefixes.iter().flat_map(longer).collect()
}

/// The same keys in ranges that ascend and do not touch.
fn apart(mut ranges: Vec<KeyRange>) -> Vec<KeyRange> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by(|left, right| left.low.cmp(&right.low));
    let mut merged: Vec<KeyRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if last.high.as_ref().is_none_or(|high| range.low <= *high) => {
                // Without a bound is above all bounds.
                let is_longer = match (&last.high, &range.high) {
                    (None, _) => false,
                    (Some(_), None) => true,
                    (Some(last), Some(high)) => last < high,
                };
                if is_longer {
                    last.high = range.high;
                }
            }
            _ => merged.push(range),
        }
    }
    merged
}
