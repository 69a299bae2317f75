//! Some rows of a row group, and what their columns take alone.

use arrow_array::RecordBatch;
use quire_codec::correlated;

use super::super::column_values::ColumnValues;
use super::super::cutter::RowGroupRows;
use super::numbers::numbers;
use crate::definition::TableDefinition;

/// Places of a row group that are looked at, and most rows of each: neighbours, because values are packed by the vector.
const PLACES: usize = 8;
const PLACE_ROWS_MAX: usize = 512;
/// A place has at least so many rows, and at most one of so many of the row group.
const PLACE_ROWS_MIN: usize = 128;
const ROWS_PER_PLACE_ROW: usize = 64;

/// More columns are not looked at: the first so many.
const COLUMNS_MAX: usize = 128;

/// Bits of an exception or of a run beside its value.
const POSITION_BITS: u64 = 16;

/// The sampled rows of a row group.
pub(super) struct RowGroupSample {
    /// The first columns of the table.
    pub(super) columns: Vec<RelationSample>,
    pub(super) rows: usize,
    /// Rows of the row group.
    pub(super) row_count: usize,
}

/// The sampled rows of a column.
pub(super) struct RelationSample {
    /// The values as integers, 0 where NULL, if they are some.
    pub(super) integers: Option<Vec<i64>>,
    validity: Option<Vec<u64>>,
    /// The same number for the same value, and for NULLs.
    pub(super) numbers: Vec<u32>,
    /// How many numbers there are.
    pub(super) distinct: usize,
    /// Bits of one value in a list of different values, roughly.
    pub(super) value_bits: u64,
    /// What the rows take alone, roughly.
    pub(super) alone_bits: u64,
}

impl RowGroupSample {
    pub(super) fn take(definition: &TableDefinition, rows: &RowGroupRows) -> Self {
        let places = places(rows);
        let row_count = places.iter().map(RecordBatch::num_rows).sum();
        let columns = definition.columns.iter().take(COLUMNS_MAX).enumerate();
        let columns = columns.map(|(index, column)| {
            match ColumnValues::collect(column.sql_type, &places, index) {
                Some(values) => RelationSample::of(values, rows.row_count),
                // Text beyond 4 GiB, which encoding will refuse.
                None => RelationSample::empty(row_count),
            }
        });
        RowGroupSample {
            columns: columns.collect(),
            rows: row_count,
            row_count: rows.row_count,
        }
    }
}

impl RelationSample {
    fn empty(rows: usize) -> Self {
        RelationSample {
            integers: None,
            validity: None,
            numbers: vec![0; rows],
            distinct: 1,
            value_bits: 0,
            alone_bits: 0,
        }
    }

    fn of(column: ColumnValues, row_count: usize) -> Self {
        let values = column.values();
        let validity = column.validity.as_deref();
        let integers = correlated::wide(&values, validity);
        let (numbers, distinct) = numbers(&values, validity);
        let rows = numbers.len() as u64;
        let mut sample = RelationSample {
            integers,
            validity: None,
            distinct,
            value_bits: 8 * values.raw_bytes() as u64 / rows.max(1),
            alone_bits: 0,
            numbers,
        };
        let code_bits = bits_of(distinct);
        let runs = sample.numbers.windows(2).filter(|pair| pair[0] != pair[1]);
        let run_bits = (1 + runs.count() as u64) * (code_bits + POSITION_BITS);
        sample.alone_bits = run_bits;
        if let Some(valid) = sample.valid_integers(&[]) {
            let differences = valid.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
            let delta_bits = patched_bits(differences.collect());
            let packed_bits = patched_bits(valid);
            sample.value_bits = packed_bits / rows.max(1);
            sample.alone_bits = run_bits.min(packed_bits).min(delta_bits);
        }
        let entry_bits = entries_bits(distinct, sample.value_bits, rows as usize, row_count);
        sample.alone_bits = sample.alone_bits.min(rows * code_bits + entry_bits);
        sample.validity = column.validity;
        sample
    }

    /// The integers that are not NULL, less what is expected of them if there is something.
    pub(super) fn valid_integers(&self, expected: &[i64]) -> Option<Vec<i64>> {
        let integers = self.integers.as_ref()?;
        let valid = (0..integers.len()).filter(|&row| self.is_valid(row));
        let expected = |row: usize| expected.get(row).copied().unwrap_or_default();
        Some(
            valid
                .map(|row| integers[row].wrapping_sub(expected(row)))
                .collect(),
        )
    }

    pub(super) fn is_valid(&self, row: usize) -> bool {
        let words = self.validity.as_deref();
        words.is_none_or(|words| words[row / 64] >> (row % 64) & 1 == 1)
    }
}

/// Bits of numbers below `count`.
pub(super) fn bits_of(count: usize) -> u64 {
    u64::from(count.next_power_of_two().trailing_zeros())
}

/// What `distinct` values of so many sampled rows take, as the share of the sample in the row group: many different
/// values are taken to become more with more rows, few are not.
pub(super) fn entries_bits(distinct: usize, value_bits: u64, rows: usize, row_count: usize) -> u64 {
    let bits = distinct as u64 * value_bits;
    if 4 * distinct < rows {
        bits * rows as u64 / row_count.max(1) as u64
    } else {
        bits
    }
}

/// What integers take in a patched frame of reference, in the best of some.
pub(super) fn patched_bits(mut values: Vec<i64>) -> u64 {
    let count = values.len();
    sort_ends(&mut values, count / 16);
    let (Some(&least), Some(&most)) = (values.first(), values.last()) else {
        return 0;
    };
    let width =
        |low: i64, high: i64| u64::from(64 - (high.wrapping_sub(low) as u64).leading_zeros());
    let all_width = width(least, most);
    let mut bits = all_width * count as u64;
    for exceptions in [count / 64, count / 32, count / 16] {
        for below in [0, exceptions / 2, exceptions] {
            let high = values[count - 1 - (exceptions - below)];
            let patches = exceptions as u64 * (all_width + POSITION_BITS);
            bits = bits.min(width(values[below], high) * count as u64 + patches);
        }
    }
    bits
}

/// Puts the least values and the greatest in their places, `count` besides the first and the last.
fn sort_ends(values: &mut [i64], count: usize) {
    if values.len() < 4 * (count + 1) {
        values.sort_unstable();
        return;
    }
    values.select_nth_unstable(count);
    values[..count].sort_unstable();
    let greatest = values.len() - 1 - count;
    values[count + 1..].select_nth_unstable(greatest - count - 1);
    values[greatest + 1..].sort_unstable();
}

/// Rows from places spread over the row group.
fn places(rows: &RowGroupRows) -> Vec<RecordBatch> {
    let place_rows = (rows.row_count / ROWS_PER_PLACE_ROW).clamp(PLACE_ROWS_MIN, PLACE_ROWS_MAX);
    let step = rows.row_count.div_ceil(PLACES).max(1);
    let mut places = Vec::with_capacity(PLACES);
    let mut first_row = 0;
    for batch in &rows.batches {
        let next_row = first_row + batch.num_rows();
        while places.len() * step < next_row && places.len() < PLACES {
            let start = (places.len() * step).max(first_row) - first_row;
            places.push(batch.slice(start, place_rows.min(batch.num_rows() - start)));
        }
        first_row = next_row;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The twin sorts everything.
        #[test]
        fn the_ends_are_sorted(values in prop::collection::vec(-50_i64..50, 0..300)) {
            let count = values.len() / 16;
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let mut found = values;
            sort_ends(&mut found, count);
            let ends = |values: &[i64]| {
                let least = values.iter().take(count + 1).copied();
                least.chain(values.iter().rev().take(count + 1).copied()).collect::<Vec<_>>()
            };
            prop_assert_eq!(ends(&found), ends(&sorted));
            found.sort_unstable();
            prop_assert_eq!(found, sorted);
        }
    }
}
