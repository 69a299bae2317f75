//! Which columns of a row group to encode as differences from another of its columns.
//!
//! A sample of rows tells how many bits a value needs alone and beside each other column. Only pairs that save much
//! are proposed; whether it pays is settled when the column is encoded ([`super::encode`]).

use arrow_array::RecordBatch;
use quire_codec::{PhysicalType, correlated};

use super::column_values::ColumnValues;
use super::cutter::RowGroupRows;
use crate::definition::TableDefinition;

/// Places of a row group that are looked at, and rows of each: values are packed by the vector, so a vector's
/// neighbours tell what it will take.
const SAMPLED_PLACES: usize = 4;
const SAMPLED_ROWS: usize = 1024;

/// A reference costs the decoder a second column: it has to save a fifth of the bits.
const SAVED_PERCENT_MIN: u32 = 20;

/// A pair of columns that lie close together.
struct Pair {
    column: usize,
    reference: usize,
    /// Of one value of each sampled place.
    saved_bits: u32,
}

/// For each column, the one it may follow. A column that is followed follows none.
pub(super) fn references(definition: &TableDefinition, rows: &RowGroupRows) -> Vec<Option<usize>> {
    let mut pairs = pairs(definition, rows);
    // Of equal pairs the one whose reference comes first in the table: it is more likely to be read alone.
    pairs.sort_by_key(|pair| {
        (
            std::cmp::Reverse(pair.saved_bits),
            pair.reference,
            pair.column,
        )
    });
    let mut references = vec![None; definition.columns.len()];
    let mut is_followed = vec![false; definition.columns.len()];
    for pair in pairs {
        let is_free = references[pair.column].is_none() && !is_followed[pair.column];
        if is_free && references[pair.reference].is_none() {
            references[pair.column] = Some(pair.reference);
            is_followed[pair.reference] = true;
        }
    }
    references
}

fn pairs(definition: &TableDefinition, rows: &RowGroupRows) -> Vec<Pair> {
    let columns: Vec<(usize, PhysicalType)> = definition
        .columns
        .iter()
        .map(|column| column.sql_type.physical_type())
        .enumerate()
        .filter(|(_, physical_type)| correlated::is_supported(*physical_type))
        .collect();
    if columns.len() < 2 {
        return Vec::new();
    }
    let sample = sample(rows);
    let sampled = |column: usize| {
        let sql_type = definition.columns[column].sql_type;
        let place = |place| ColumnValues::collect(sql_type, std::slice::from_ref(place), column);
        sample.iter().filter_map(place).collect::<Vec<_>>()
    };
    let values: Vec<Vec<ColumnValues>> =
        columns.iter().map(|(column, _)| sampled(*column)).collect();
    let mut pairs = Vec::new();
    for (at, (column, physical_type)) in columns.iter().enumerate() {
        // What the user asked for is done.
        if definition.columns[*column].compression.is_some() {
            continue;
        }
        for (other_at, (other, other_type)) in columns.iter().enumerate() {
            if other == column || other_type != physical_type || has_nulls(rows, *other) {
                continue;
            }
            let saved_bits = saved_bits(&values[at], &values[other_at]);
            pairs.extend(saved_bits.map(|saved_bits| Pair {
                column: *column,
                reference: *other,
                saved_bits,
            }));
        }
    }
    pairs
}

fn has_nulls(rows: &RowGroupRows, column: usize) -> bool {
    let mut batches = rows.batches.iter();
    batches.any(|batch| batch.column(column).null_count() > 0)
}

/// Bits saved by a value of each place, if they are many.
fn saved_bits(values: &[ColumnValues], reference: &[ColumnValues]) -> Option<u32> {
    let (mut alone, mut apart) = (0, 0);
    for (values, reference) in values.iter().zip(reference) {
        let is_valid = |row: usize| {
            let words = values.validity.as_deref();
            words.is_none_or(|words| words[row / 64] >> (row % 64) & 1 == 1)
        };
        let widths = correlated::widths(&values.values(), &reference.values(), is_valid);
        let (place_alone, place_apart) = widths.unwrap_or_default();
        alone += place_alone;
        apart += place_apart;
    }
    (apart * 100 <= alone * (100 - SAVED_PERCENT_MIN) && apart < alone).then(|| alone - apart)
}

/// Rows from places spread over the row group.
fn sample(rows: &RowGroupRows) -> Vec<RecordBatch> {
    let step = rows.row_count.div_ceil(SAMPLED_PLACES).max(1);
    let mut places = Vec::with_capacity(SAMPLED_PLACES);
    let mut first_row = 0;
    for batch in &rows.batches {
        let next_row = first_row + batch.num_rows();
        while places.len() * step < next_row && places.len() < SAMPLED_PLACES {
            let start = (places.len() * step).max(first_row) - first_row;
            places.push(batch.slice(start, SAMPLED_ROWS.min(batch.num_rows() - start)));
        }
        first_row = next_row;
    }
    places
}
