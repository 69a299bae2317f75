//! Rows from evenly spread places of a table of SQLite.

use std::sync::Arc;

use rusqlite::Connection;

use quire_files::CopyControl;

use super::connection::{SqliteFile, SqliteStop};
use super::described_table::DescribedTable;
use super::row_key::RowKey;
use super::rows::SqliteRows;
use crate::definition::SourceRowCount;
use crate::error::SourceError;
use crate::sample::SourceSample;

/// Each piece is a query of its own, so that other readers have their turn.
pub(super) fn sample(
    file: &SqliteFile,
    table: &Arc<DescribedTable>,
    piece_count: usize,
    rows_per_piece: usize,
    control: &CopyControl,
) -> Result<SourceSample, SourceError> {
    let mut rows = SqliteRows::new(Arc::clone(table), None)?;
    let mut pieces = Vec::new();
    let wanted = (piece_count as u64).saturating_mul(rows_per_piece as u64);
    // Of a table with no more rows than that, one piece after the other is all of it.
    let is_whole = table.row_count <= wanted;
    for piece in 0..piece_count as u64 {
        let batch = file.run(control, |connection| match &table.key {
            _ if is_whole => rows.next_batch(file, connection, rows_per_piece),
            RowKey::Rowid(rowid) => {
                let start = start_rowid(connection, table, rowid, piece, piece_count as u64)?;
                rows.next_from_rowid(file, connection, start, rows_per_piece)
            }
            RowKey::Columns(_) => {
                let position = table.row_count * piece / piece_count as u64;
                rows.next_from_position(file, connection, position, rows_per_piece)
            }
        })?;
        pieces.extend(batch);
    }
    Ok(SourceSample {
        schema: Arc::clone(&table.schema),
        pieces,
        row_count: SourceRowCount::Exact(table.row_count),
    })
}

/// Where the piece begins if rowids are evenly spread between the first and the last.
fn start_rowid(
    connection: &Connection,
    table: &DescribedTable,
    rowid: &str,
    piece: u64,
    piece_count: u64,
) -> Result<i64, SqliteStop> {
    let from = &table.from;
    let sql =
        format!("SELECT (SELECT min({rowid}) FROM {from}), (SELECT max({rowid}) FROM {from})");
    let (first, last) = connection.query_row(&sql, [], |row| {
        Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
    })?;
    let (first, last) = (first.unwrap_or(0), last.unwrap_or(0));
    let range = i128::from(last) - i128::from(first);
    let offset = range * i128::from(piece) / i128::from(piece_count.max(1));
    Ok(i64::try_from(i128::from(first) + offset).unwrap_or(last))
}
