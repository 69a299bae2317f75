//! How many different values does a column have, in the sample and in any part of the whole?
//!
//! Neighbours are often alike, so rows are no independent draws, but blocks of rows nearly are. What is counted of a value is in how many units
//! ([`SampledTable::units`]) it occurs: a sorted column has each value in one unit, and so new ones with every further unit; a column with few values has each
//! in many. The number in the whole follows by the estimator that `ANALYZE` uses (`quire_tables::distinct_in_all`), which is given occurrences in
//! units in place of rows.

use std::collections::HashMap;

use quire_format::distinct_sketch::{hash_bytes, hash_f64, hash_u64, hash_u128};
use quire_tables::row_table::TupleValue;
use quire_tables::{distinct_drawn, distinct_in_all};

use crate::sampled_table::SampledTable;

/// What a sample says of the different values of a column. NULL is none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DistinctValues {
    /// Different values that were met.
    pub(crate) met: u64,
    /// Values times the units in which each occurs, in the sample and in the whole.
    occurrences: u64,
    whole_occurrences: u64,
    whole_rows: u64,
    /// Different values of the whole, estimated.
    pub(crate) whole: u64,
}

impl DistinctValues {
    /// Of a column of the sample.
    pub(crate) fn of(sample: &SampledTable, column: usize) -> Self {
        let mut seen: HashMap<u64, (usize, u64)> = HashMap::new();
        let mut values = sample.values(column);
        let mut occurrences = 0;
        for (number, (_, rows)) in sample.units().into_iter().enumerate() {
            for hash in values.by_ref().take(rows.len()).filter_map(hash_of) {
                let (last, units) = seen.entry(hash).or_insert((usize::MAX, 0));
                if *last != number {
                    (*last, *units) = (number, *units + 1);
                    occurrences += 1;
                }
            }
        }
        let once = seen.values().filter(|(_, units)| *units == 1).count() as u64;
        let met = seen.len() as u64;
        let whole_rows = sample.whole_rows.rows();
        let share = sample.sampled_rows() as f64 / whole_rows.max(1) as f64;
        let whole_occurrences = (occurrences as f64 / share.clamp(f64::MIN_POSITIVE, 1.0)) as u64;
        Self {
            met,
            occurrences,
            whole_occurrences,
            whole_rows,
            whole: distinct_in_all(met, once, occurrences, whole_occurrences),
        }
    }

    /// Different values expected among so many consecutive rows of the whole.
    pub(crate) fn in_rows(&self, rows: u64) -> f64 {
        if rows >= self.whole_rows {
            return self.whole as f64;
        }
        let whole = self.whole_occurrences as f64;
        let drawn = whole * rows as f64 / self.whole_rows.max(1) as f64;
        distinct_drawn(self.whole as f64, whole, drawn).min(rows as f64)
    }
}

impl SampledTable {
    /// The column with the most different values in the sample, the first of several; its values are looked for where there is no key.
    pub(crate) fn most_distinct_column(&self) -> usize {
        let mut best = (0, 0);
        for column in 0..self.columns.len() {
            let met = DistinctValues::of(self, column).met;
            if met > best.1 {
                best = (column, met);
            }
        }
        best.0
    }
}

fn hash_of(value: TupleValue<'_>) -> Option<u64> {
    match value {
        TupleValue::Null | TupleValue::Coded(_) => None,
        TupleValue::Bool(value) => Some(hash_u64(u64::from(value))),
        TupleValue::Integer(value) => Some(hash_u64(value as u64)),
        TupleValue::Wide(value) => Some(hash_u128(value as u128)),
        TupleValue::Float32(value) => Some(hash_f64(value.into())),
        TupleValue::Float64(value) => Some(hash_f64(value)),
        TupleValue::Bytes(bytes) => Some(hash_bytes(bytes)),
    }
}
