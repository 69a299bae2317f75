//! What a batch takes as plain arrays.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

/// Bytes of offset that each text or byte string costs.
const OFFSET_BYTES: usize = 4;

/// Raw bytes of all rows of a batch.
pub(super) fn batch_bytes(batch: &RecordBatch) -> usize {
    let column_bytes = |array: &dyn Array| match lengths(array) {
        Some(views) => {
            views.iter().map(|view| view_length(*view)).sum::<usize>() + OFFSET_BYTES * views.len()
        }
        None => array.len() * fixed_bytes(array.data_type()),
    };
    batch
        .columns()
        .iter()
        .map(|array| column_bytes(array.as_ref()))
        .sum()
}

/// How many of the first rows of a batch have at most `budget` raw bytes together.
pub(super) fn rows_within(batch: &RecordBatch, budget: usize) -> usize {
    let columns = batch.columns();
    let fixed: usize = columns
        .iter()
        .map(|array| fixed_bytes(array.data_type()))
        .sum();
    let variable: Vec<&[u128]> = columns
        .iter()
        .filter_map(|array| lengths(array.as_ref()))
        .collect();
    let mut bytes = 0;
    for row in 0..batch.num_rows() {
        let text = variable
            .iter()
            .map(|views| view_length(views[row]) + OFFSET_BYTES);
        bytes += fixed + text.sum::<usize>();
        if bytes > budget {
            return row;
        }
    }
    batch.num_rows()
}

/// The views of a text or byte string array.
fn lengths(array: &dyn Array) -> Option<&[u128]> {
    match array.data_type() {
        DataType::Utf8View => Some(array.as_string_view().views()),
        DataType::BinaryView => Some(array.as_binary_view().views()),
        _ => None,
    }
}

/// The low 32 bits of a view are the length of the value.
pub(super) fn view_length(view: u128) -> usize {
    view as u32 as usize
}

fn fixed_bytes(data_type: &DataType) -> usize {
    match data_type {
        DataType::Boolean => 1,
        other => other.primitive_width().unwrap_or(0),
    }
}
