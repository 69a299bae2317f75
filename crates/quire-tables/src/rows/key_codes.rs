//! Order-preserving codes for the strings of keys (paper 1 §3.2.2), trained on some of the rows.
//!
//! A column has one code for all keys it is in, so that a code is chosen only while none of them has an entry: when a table is
//! filled, and when the first index of the column is created. It is taken if it makes the keys a fifth shorter.

use arrow_array::RecordBatch;
use quire_format::key::{KeyCode, KeyColumn, KeyLayout};
use quire_format::tuple::{TupleType, TupleValue};

use crate::definition::{ColumnDefinition, KeyDefinition, TableDefinition, TableStorage};
use crate::row_table::{ColumnArray, fit};

/// Bytes of strings that a code is trained on.
pub(crate) const SAMPLE_BYTES_MAX: usize = 1 << 20;

/// Strings without which nothing is chosen.
const SAMPLE_STRINGS_MIN: usize = 256;

/// Of the bytes of keys, how much must be saved, as hundredths.
const SAVED_HUNDREDTHS_MIN: usize = 20;

/// Strings whose keys are compared.
const COMPARED_STRINGS_MAX: usize = 4096;

/// Chooses the codes of the columns of all keys of a row table that is to be filled, from some of its rows: batches of the table's visible
/// columns. Those it had are forgotten.
pub(crate) fn choose_key_codes(definition: &mut TableDefinition, sample: &[RecordBatch]) {
    let is_wanted = definition.storage == TableStorage::Row && definition.options.compresses_keys;
    let in_keys: Vec<usize> = keys_of(definition).flat_map(columns_of).collect();
    let mut position = 0;
    for (ordinal, column) in definition.columns.iter_mut().enumerate() {
        column.key_code = None;
        if column.is_dropped {
            continue;
        }
        if is_wanted && in_keys.contains(&ordinal) {
            column.key_code = trained(column, sample, position);
        }
        position += 1;
    }
}

/// The columns that get a code when an index with this key is created: those that are in no other key.
pub(crate) fn columns_without_keys(
    definition: &TableDefinition,
    key: &KeyDefinition,
) -> Vec<usize> {
    if !definition.options.compresses_keys {
        return Vec::new();
    }
    let others: Vec<usize> = keys_of(definition).flat_map(columns_of).collect();
    let is_free = |ordinal: &usize| {
        let column = definition.columns.get(*ordinal);
        column.is_some_and(|column| column.sql_type.is_text()) && !others.contains(ordinal)
    };
    columns_of(key).filter(is_free).collect()
}

fn keys_of(definition: &TableDefinition) -> impl Iterator<Item = &KeyDefinition> {
    let indexes = definition.indexes.iter().map(|index| &index.key);
    definition.primary_key.iter().chain(indexes)
}

fn columns_of(key: &KeyDefinition) -> impl Iterator<Item = usize> {
    key.columns.iter().map(|part| part.column)
}

/// A code for a column, if it pays, from batches that have it at `position`.
pub(crate) fn trained(
    column: &ColumnDefinition,
    sample: &[RecordBatch],
    position: usize,
) -> Option<KeyCode> {
    if !column.sql_type.is_text() {
        return None;
    }
    let mut strings: Vec<&[u8]> = Vec::new();
    let mut bytes = 0;
    for batch in sample {
        let array = ColumnArray::new(column.sql_type, batch.columns().get(position)?.as_ref())?;
        for row in 0..batch.num_rows() {
            if let Ok(TupleValue::Bytes(string)) = fit(column.sql_type, array.value(row)) {
                bytes += string.len();
                strings.push(string);
            }
        }
    }
    if strings.len() < SAMPLE_STRINGS_MIN {
        return None;
    }
    let step = bytes.div_ceil(SAMPLE_BYTES_MAX).max(1);
    let code = KeyCode::train(strings.iter().step_by(step).copied());
    let key_column = KeyColumn {
        column_type: TupleType::Text,
        nullable: false,
        descending: false,
        nulls_first: false,
    };
    let plain = KeyLayout::new(&[key_column]);
    let coded = plain.clone().with_codes(vec![Some(code.clone())]);
    let step = strings.len().div_ceil(COMPARED_STRINGS_MAX).max(1);
    let key_bytes = |layout: &KeyLayout| {
        let mut keys = Vec::new();
        for string in strings.iter().step_by(step) {
            layout
                .encode(&[TupleValue::Bytes(string)], &mut keys)
                .ok()?;
        }
        Some(keys.len())
    };
    let (plain_bytes, coded_bytes) = (key_bytes(&plain)?, key_bytes(&coded)?);
    let saves = 100 * coded_bytes <= (100 - SAVED_HUNDREDTHS_MIN) * plain_bytes;
    saves.then_some(code)
}
