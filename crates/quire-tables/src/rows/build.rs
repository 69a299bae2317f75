//! An index on rows that are there.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use quire_format::tuple::TupleValue;
use quire_kv::btree::Direction;
use quire_kv::mvcc::{KvTransaction, TreeSpec};
use quire_kv::progress::Phase;

use super::fill::{FillContext, IndexFill};
use super::parts::RowParts;
use super::scan::{RowScanOptions, ScanRowSource};
use super::table::RowTable;
use crate::definition::TreeRecord;
use crate::error::{RowScanError, RowWriteError};
use crate::row_table::ColumnArray;

const BATCH_ROWS: usize = 8192;

/// Builds the tree of the index at `position` of all rows, as they are now; nobody else changes the table meanwhile. False when
/// there are no rows, and no pages.
///
/// # Errors
/// Two rows have a key that only one may have; or rows cannot be read, or entries not written.
pub(crate) fn build_index(
    parts: &Arc<RowParts>,
    position: usize,
    rows: &mut KvTransaction,
    context: &FillContext<'_>,
    (tree, spec): (&TreeRecord, &TreeSpec),
) -> Result<bool, RowWriteError> {
    let Some(index) = parts.indexes.get(position) else {
        return Ok(false);
    };
    let mut fill = IndexFill::new(parts, position, context, spec);
    let table = RowTable::new(Arc::clone(parts), rows.latest_view());
    let ordinals = index.layout.ordinals();
    let live = parts.layout.live_ordinals();
    let projection = ordinals
        .iter()
        .filter_map(|ordinal| live.binary_search(ordinal).ok());
    let mut scan = table.scan(&RowScanOptions {
        projection: projection.collect(),
        with_row_key: true,
        source: ScanRowSource::all(),
        direction: Direction::Forward,
        batch_rows: BATCH_ROWS,
    })?;
    let mut values = vec![TupleValue::Null; parts.definition.columns.len()];
    let (mut key, mut value) = (Vec::new(), Vec::new());
    if let Some(work) = &context.work {
        work.begin(Phase::Indexing, Some(&index.definition.key.name));
        work.foresee(Some(table.row_count_estimate()?), 0);
    }
    while let Some(batch) = scan.next_batch()? {
        if let Some(work) = &context.work {
            work.check().map_err(RowScanError::from)?;
            work.note_read(batch.num_rows() as u64, 0);
        }
        let Some((keys, arrays)) = batch.columns().split_last() else {
            break;
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
            let layout = &index.layout;
            layout.encode_entry(&row_values, keys.value(row), &mut key, &mut value)?;
            fill.push(&key, &value)?;
        }
        values.fill(TupleValue::Null);
    }
    fill.finish(tree)
}
