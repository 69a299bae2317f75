//! An index on rows that are there.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use quire_format::tuple::TupleValue;

use super::error::RowWriteError;
use super::parts::RowParts;
use super::scan::{RowScanOptions, RowSource};
use super::table::RowTable;
use crate::btree::Direction;
use crate::mvcc::Transaction;
use crate::row_table::{ColumnArray, KeyRange};

const BATCH_ROWS: usize = 8192;

/// Adds the entries of the index at `position` for all rows, as they are now; nobody else changes the table meanwhile.
///
/// # Errors
/// Two rows have a key that only one may have; or rows cannot be read, or entries not written.
pub(crate) fn build_index(
    parts: &Arc<RowParts>,
    position: usize,
    rows: &mut Transaction,
) -> Result<(), RowWriteError> {
    let Some(index) = parts.indexes.get(position) else {
        return Ok(());
    };
    let table = RowTable::new(Arc::clone(parts), rows.latest_view());
    let ordinals = index.layout.ordinals();
    let live = parts.layout.live_ordinals();
    let projection = ordinals
        .iter()
        .filter_map(|ordinal| live.binary_search(ordinal).ok());
    let mut scan = table.scan(&RowScanOptions {
        projection: projection.collect(),
        with_row_key: true,
        source: RowSource::Range(KeyRange::all()),
        direction: Direction::Forward,
        batch_rows: BATCH_ROWS,
    })?;
    let mut values = vec![TupleValue::Null; parts.definition.columns.len()];
    let (mut key, mut value) = (Vec::new(), Vec::new());
    while let Some(batch) = scan.next_batch()? {
        let Some((keys, arrays)) = batch.columns().split_last() else {
            return Ok(());
        };
        let keys = keys.as_binary_view();
        let columns: Vec<(usize, ColumnArray<'_>)> = ordinals
            .iter()
            .zip(arrays)
            .filter_map(|(ordinal, array)| {
                let sql_type = parts.definition.columns.get(*ordinal)?.sql_type;
                Some((*ordinal, ColumnArray::new(sql_type, array)?))
            })
            .collect();
        let mut row_values = values.clone();
        for row in 0..batch.num_rows() {
            for (ordinal, array) in &columns {
                row_values[*ordinal] = array.value(row);
            }
            let is_exclusive =
                index
                    .layout
                    .encode_entry(&row_values, keys.value(row), &mut key, &mut value)?;
            if is_exclusive && rows.get_latest(index.tree, &key, |_| ())?.is_some() {
                return Err(RowWriteError::Duplicate {
                    table: parts.definition.name.clone(),
                    constraint: index.definition.key.name.clone(),
                    detail: format!(
                        "Key {} is duplicated.",
                        parts.described(ordinals, &row_values)
                    ),
                });
            }
            rows.put(index.tree, &key, &value)?;
        }
        values.fill(TupleValue::Null);
    }
    Ok(())
}
