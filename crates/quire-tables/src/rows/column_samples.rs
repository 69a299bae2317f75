//! Where the samples that `ANALYZE` has taken are kept, and how they are read.

use quire_format::column_sample::ColumnSample;
use quire_kv::btree::Direction;
use quire_kv::mvcc::{ReadView, TreeId};

use crate::error::RowScanError;

/// Where the sample of a column is kept.
pub(crate) fn key(table: u64, ordinal: usize) -> [u8; 12] {
    let mut key = [0; 12];
    key[..8].copy_from_slice(&table.to_be_bytes());
    // A table has at most 1,600 columns.
    key[8..].copy_from_slice(&(ordinal as u32).to_be_bytes());
    key
}

/// The samples of a table: ordinals of columns, and what is known of them.
pub(crate) fn of_table(
    view: &ReadView,
    tree: TreeId,
    table: u64,
) -> Result<Vec<(usize, ColumnSample)>, RowScanError> {
    let (low, high) = (key(table, 0), key(table.saturating_add(1), 0));
    let mut scan = view.scan(tree, &low, &high, Direction::Forward)?;
    let mut samples = Vec::new();
    while let Some((key, value)) = scan.next_entry()? {
        let ordinal = key.get(8..).and_then(|bytes| bytes.try_into().ok());
        let ordinal = ordinal.map_or(u32::MAX, u32::from_be_bytes);
        samples.push((ordinal as usize, ColumnSample::decode(value)?));
    }
    Ok(samples)
}

/// How many rows a table had when its samples were taken.
pub(crate) fn row_count(
    view: &ReadView,
    tree: TreeId,
    table: u64,
) -> Result<Option<u64>, RowScanError> {
    let (low, high) = (key(table, 0), key(table.saturating_add(1), 0));
    let mut scan = view.scan(tree, &low, &high, Direction::Forward)?;
    let first = scan.next_entry()?;
    let row_count = first.map(|(_, value)| ColumnSample::decode(value).map(|it| it.row_count));
    Ok(row_count.transpose()?)
}
